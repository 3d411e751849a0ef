#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/counts.hpp"
#include "core/sparse/csr.hpp"

namespace cambium::graph {

/// A matrix of the bench, and its source.
struct BenchMatrix {
  std::string name, source;
  sparse::Csr<double> matrix;
};

/// Matrices of bench_matrix(): cora, chameleon, chameleon_ordered, facebook, gowalla, molecules, mesh.
std::vector<std::string> bench_matrix_names();

/// Graphs: D^-1/2 (A + I) D^-1/2; gowalla without I, users before items; chameleon_ordered is chameleon by communities.
/// molecules: 1 / (1 + d^2) between all atoms of a molecule (d in Å). mesh: `mesh_nodes` points of a triangulated
/// square, rows divided by their length. If `data` (the folder of real data) lacks the file, a random matrix of similar
/// shape.
BenchMatrix bench_matrix(const std::string& name, const std::string& data, std::int64_t mesh_nodes);

}  // namespace cambium::graph
