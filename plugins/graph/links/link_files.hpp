#pragma once
#include <string>

#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Reads links from HDF5 (the formats stand in plugins/graph/README.md): of users and items, or the edges of a plain
/// graph, whose held_out is empty. With `tuning` the links to validate by are held out, not those of the test.
/// InputError naming file and array for what is missing, does not fit or is out of range.
LinkParts read_links(const std::string& path, bool tuning);

/// Reads lines "u v" of numbers from 0, '#' before a remark; held_out may be "". InputError "file:line: ..." for a
/// number that cannot be and for a line that is cut short.
LinkParts read_link_lines(const std::string& training, const std::string& held_out);

}  // namespace cambium::graph
