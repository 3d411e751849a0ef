#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::graph {

/// Values on the nodes of a graph, or of a mesh of triangles, at moments evenly apart.
struct Trajectory {
  std::vector<double> place;               ///< (nodes, 3)
  std::vector<std::int32_t> edge;          ///< (edges, 2): each once, the smaller node first
  std::vector<double> weight;              ///< (edges): of a graph; 1 on a mesh
  std::vector<std::int32_t> corner;        ///< (triangles, 3); empty of a graph
  std::vector<std::int32_t> boundary;      ///< (nodes): 1 where the node lies on an edge of one triangle only
  std::vector<double> share;               ///< (nodes): of the mesh's area, or of the nodes; adds up to 1
  double interval = 0.0;                   ///< time between two moments
  std::vector<double> seconds;             ///< what the run had computed for at each moment of the file, where known
  std::vector<std::vector<double>> value;  ///< of each moment (nodes, fields)
  std::int64_t nodes() const { return std::ssize(boundary); }
  std::int64_t moments() const { return std::ssize(value); }
};

/// Fills what follows from triangles (triangles, 3), or from edges (edges, 2) with weights, between nodes whose places
/// are known: edges, boundary, shares.
void join_triangles(std::vector<std::int32_t> corner, Trajectory& out);
void join_edges(std::vector<std::int32_t> edge, std::vector<double> weight, Trajectory& out);

/// For a file of the output `node_fields`: arrays x, y, z, time, each field as (time, node), and edge with weight or
/// triangle; every `stride`-th moment. InputError, naming what does not fit: arrays that are not there, moments that
/// are not evenly apart, fewer than two of them, numbers that are not finite.
Trajectory read_trajectory(const std::string& path, const std::vector<std::string>& fields, std::int64_t stride);

}  // namespace cambium::graph
