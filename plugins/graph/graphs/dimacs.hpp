#pragma once
#include <optional>
#include <string>

#include "plugins/graph/graphs/edge_text.hpp"

namespace cambium::graph {

/// A graph in a format of the DIMACS challenges; none for a file whose first line that is no remark is no problem line.
///   c REMARK
///   p edge NODES EDGES   (or col): lines `e U V`, undirected (colouring, cliques)
///   p sp NODES ARCS: lines `a U V LENGTH`, directed, lengths read as weights (shortest paths)
/// Nodes are numbered from 1; lines `n` of the colouring format, with values of nodes, are not used. InputError
/// "file:line: ..." for other problems, other lines, a node out of range, and if the number of lines is not the stated
/// one (an undirected edge may be listed in both directions, and counted once or twice).
std::optional<EdgeText> read_dimacs(const std::string& path);

}  // namespace cambium::graph
