#pragma once
#include "core/io/hdf5/h5.hpp"
#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/graph.hpp"

/// Arrays of a file of a graph (the format stands in plugins/graph/method.md). InputError naming file and array for
/// what is missing, does not fit or is out of range.
namespace cambium::graph {

std::int64_t nodes_of(const io::File& file);
bool directed_of(const io::File& file);
/// Edges that the file has.
std::int64_t edge_count(const io::File& file);
/// These of them, in the order of the file; their ends are not looked at.
std::vector<Edge> edges_of(const io::File& file, sparse::Range wanted);
/// Features of a range of the nodes, a row for each; no columns where the file has none.
sparse::Csr<float> features_of(const io::File& file, std::int64_t nodes, sparse::Range wanted);
/// Roles of a range of the nodes; empty where the file has none.
std::vector<Role> roles_of(const io::File& file, std::int64_t nodes, sparse::Range wanted);
/// Classes of all nodes; empty where the file has none.
std::vector<std::int32_t> labels_of(const io::File& file, std::int64_t nodes);

}  // namespace cambium::graph
