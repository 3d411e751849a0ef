#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/node_fields.hpp"
#include "plugins/graph/graphs/numbering.hpp"
#include "plugins/graph/meshes/network.hpp"
#include "plugins/graph/meshes/triangles.hpp"
#include "plugins/graph/trajectories/trajectory.hpp"
#include "plugins/graph/transport/node_range.hpp"

namespace cambium::graph {

/// Nodes of a rank, and the cells (edges, triangles) that are counted as its own, as outputs show them: in the order of
/// the file that they came from, or of the rule that made them. Each cell is that of the rank that has the first of its
/// nodes in the order of the run.
struct ShownNodes {
  int corners = 2;                         ///< of a cell: 2 for edges, 3 for triangles
  std::vector<Place> place;                ///< of each own node
  std::vector<std::int32_t> number;        ///< of each own node, among all
  std::vector<std::int32_t> connectivity;  ///< [cell][corner], numbers of nodes
  std::vector<std::int32_t> cell;          ///< number of each cell among all
  std::vector<double> weight;              ///< of each edge, or empty
  Numbering names;                         ///< what the file calls all nodes; without nodes: from 0
  std::int64_t bytes() const;
};

/// Those of some nodes, ascending.
ShownNodes shown_of(const Network& network, std::span<const std::int32_t> own);
ShownNodes shown_of(const Triangles& mesh, std::span<const std::int32_t> own);

/// Statistics shown for all nodes.
struct AllShown {
  std::shared_ptr<const NodeCells> cells;
  std::vector<double> weight;  ///< of each edge, or empty
  Numbering names;             ///< what the file calls them; without nodes: from 0
};

/// Collective: brought together on rank 0; others get no cells.
AllShown on_root(const ShownNodes& own, const NodeRange& range);

/// Nodes and cells in the order of the file, as a network of one step was trained on them; `all` shows all nodes.
Trajectory whole_of(const ShownNodes& all);

/// Collective: one value of each node, given those of own ones `stride` numbers apart, in the order of the file on rank
/// 0; nothing on others.
std::vector<double> on_root(const ShownNodes& own, const NodeRange& range, const double* values, std::int64_t stride);

}  // namespace cambium::graph
