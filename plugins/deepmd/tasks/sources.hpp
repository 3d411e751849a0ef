#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/deck/node.hpp"

namespace cambium::deepmd {

/// A file that a potential is read from, and a checksum of what it holds now.
struct Source {
  std::string path;
  std::uint64_t sum = 0;
};

/// Every text in the keys of a potential that names a file (models, a committee, tables), in their order, and every one
/// that names a folder of DeePMD-kit (type.raw in it), whose files are taken together.
std::vector<Source> sources_of(const deck::Node& keys);

/// First line of a journal: ", read from 'a.dp' 0123456789abcdef, ...".
std::string text_of(const std::vector<Source>& sources);

/// InputError naming the first of them that has changed since the journal at this path was begun, and how to go on.
/// Nothing where there is no journal, or where it does not name them.
void require_unchanged(const std::vector<Source>& sources, const std::string& journal);

}  // namespace cambium::deepmd
