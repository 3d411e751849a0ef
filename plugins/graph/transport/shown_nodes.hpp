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

/// Nodes of a rank, and the cells (edges, triangles) assigned to it, for outputs: in the order of the file or of the
/// generator. A cell is assigned to the rank that owns the first of its nodes in the order of the run.
struct ShownNodes {
  int corners = 2;                         ///< of a cell: 2 for edges, 3 for triangles
  std::vector<Place> place;                ///< of each own node
  std::vector<std::int32_t> number;        ///< of each own node, among all
  std::vector<std::int32_t> connectivity;  ///< [cell][corner], node indices
  std::vector<std::int32_t> cell;          ///< index of each cell among all
  std::vector<double> weight;              ///< of each edge, or empty
  Numbering names;                         ///< IDs of all nodes in the file; without nodes: from 0
  std::int64_t bytes() const;
};

/// Those of the nodes `own`, ascending.
ShownNodes shown_of(const Network& network, std::span<const std::int32_t> own);
ShownNodes shown_of(const Triangles& mesh, std::span<const std::int32_t> own);

/// Output data of all nodes.
struct AllShown {
  std::shared_ptr<const NodeCells> cells;
  std::vector<double> weight;  ///< of each edge, or empty
  Numbering names;             ///< IDs of the nodes in the file
};

/// Collective: gathers on rank 0; others get no cells.
AllShown on_root(const ShownNodes& own, const NodeRange& range);

/// Nodes and cells in the order of the file, as used to train a network of one step; `all` has all nodes.
Trajectory whole_of(const ShownNodes& all);

/// Collective: gathers one value per node on rank 0, in the order of the file; `values` are those of own nodes, with
/// stride `stride`. Empty on other ranks.
std::vector<double> on_root(const ShownNodes& own, const NodeRange& range, const double* values, std::int64_t stride);

}  // namespace cambium::graph
