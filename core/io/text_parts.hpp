#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/parallel/comm.hpp"

namespace cambium::io {

/// Collective: writes a text file of which every rank has a part, completely or not at all. After `head`, the same on
/// every rank, the parts follow in ascending order of `place`. Rank 0 writes them and never holds more than its own and
/// a piece of another one. InputError names the file, the reason and the fix, on every rank.
void write_text_parts(const std::string& path, std::string_view head, std::string_view own, std::int64_t place,
                      const Comm& comm);

}  // namespace cambium::io
