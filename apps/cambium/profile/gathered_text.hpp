#pragma once
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium {

/// Collective: the texts of all ranks in their order, on rank 0; nothing elsewhere. One rank after the other, so that
/// rank 0 holds them once.
std::vector<std::string> gathered_text(const Comm& comm, const std::string& text);

}  // namespace cambium
