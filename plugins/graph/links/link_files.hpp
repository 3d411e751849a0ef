#pragma once
#include <string>

#include "plugins/graph/graphs/edge_text.hpp"
#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Reads links from HDF5 (the formats stand in plugins/graph/method.md): of users and items, or the edges of a plain
/// graph, whose held_out is empty. With `tuning` the links to validate by are held out, not those of the test.
/// InputError naming file and array for what is missing, does not fit or is out of range.
LinkParts read_links(const std::string& path, bool tuning);

/// Links in text.
struct LinkText {
  std::string training, held_out;     ///< texts of edges (read_edge_text()); held_out may be ""
  bool bipartite = true;              ///< the first column are users and the second items; else both are nodes
  std::int64_t users = 0, items = 0;  ///< numbered from 0; 0: those that a line names; of a plain graph `users` counts
  EdgeTextKeys keys;
};

/// Reads them: users and items are those that a line names, in the order of their numbers, each side by itself.
/// InputError "file:line: ..." for a number that cannot be and for a line that is cut short.
LinkParts read_link_lines(const LinkText& from);

}  // namespace cambium::graph
