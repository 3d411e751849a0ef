#pragma once
#include <string>

#include "plugins/graph/graphs/edge_text.hpp"
#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Reads links from HDF5 (formats: plugins/graph/method.md): of users and items, or the edges of a plain graph, with an
/// empty held_out. With `tuning` there must be validation links. InputError naming file and array for what is missing,
/// does not match or is out of range.
LinkParts read_links(const std::string& path, bool tuning);

/// Links in text files.
struct LinkText {
  std::string training, held_out;     ///< texts of edges (read_edge_text()); held_out may be ""
  bool bipartite = true;              ///< the first column is users and the second items; else both are nodes
  std::int64_t users = 0, items = 0;  ///< numbered from 0; 0: those that occur in a line; `users` for a plain graph
  EdgeTextKeys keys;
  std::string validation = {};  ///< like held_out
};

/// Reads them: users and items are those in a line, ordered by their IDs, separately for each side. InputError
/// "file:line: ..." for an invalid number and for a truncated line.
LinkParts read_link_lines(const LinkText& from);

}  // namespace cambium::graph
