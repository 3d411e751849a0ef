#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::graph {

/// Values on the nodes of a graph or a triangle mesh, at equally spaced times.
struct Trajectory {
  std::vector<double> place;               ///< (nodes, 3)
  std::vector<std::int32_t> edge;          ///< (edges, 2): each once, the smaller node first
  std::vector<double> weight;              ///< (edges): of a graph; 1 for a mesh
  std::vector<std::int32_t> corner;        ///< (triangles, 3); empty for a graph
  std::vector<std::int32_t> boundary;      ///< (nodes): 1 if the node belongs to an edge with only one triangle
  std::vector<double> share;               ///< (nodes): fraction of the mesh's area, or of the nodes; sums to 1
  double interval = 0.0;                   ///< time between two snapshots
  std::vector<double> seconds;             ///< computing time of the run at each snapshot of the file, if known
  std::vector<std::vector<double>> value;  ///< of each snapshot (nodes, fields)
  std::int64_t nodes() const { return std::ssize(boundary); }
  std::int64_t moments() const { return std::ssize(value); }
};

/// Derives edges, boundary and `share` from triangles (triangles, 3), or from edges (edges, 2) with weights, between
/// nodes of known positions.
void join_triangles(std::vector<std::int32_t> corner, Trajectory& out);
void join_edges(std::vector<std::int32_t> edge, std::vector<double> weight, Trajectory& out);

/// Reads a file of the output `node_fields`: arrays x, y, z, time, each field as (time, node), and edge with weight or
/// triangle; every `stride`-th snapshot. InputError, naming the problem, for missing arrays, snapshots that are not
/// equally spaced, fewer than two of them, values that are not finite.
Trajectory read_trajectory(const std::string& path, const std::vector<std::string>& fields, std::int64_t stride);

}  // namespace cambium::graph
