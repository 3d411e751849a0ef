#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/deck/node.hpp"

namespace cambium::deepmd {

/// A file that a potential is read from, and a checksum of its current content.
struct Source {
  std::string path;
  std::uint64_t sum = 0;
};

/// Files named in the keys of a potential (models, a committee, tables), in their order, and DeePMD-kit folders (with
/// type.raw), with one checksum over all their files.
std::vector<Source> sources_of(const deck::Node& keys);

/// First line of a journal: ", read from 'a.dp' 0123456789abcdef, ...".
std::string text_of(const std::vector<Source>& sources);

/// InputError naming the first source that has changed since the journal at this path was started, and how to continue.
/// No effect if there is no journal, or if it does not name them.
void require_unchanged(const std::vector<Source>& sources, const std::string& journal);

}  // namespace cambium::deepmd
