#pragma once
#include "core/io/hdf5/h5.hpp"
#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/graph.hpp"

/// Arrays of a graph file (format: plugins/graph/method.md). InputError naming file and array for what is missing, does
/// not match or is out of range.
namespace cambium::graph {

/// Names of an array: first the one of Cambium's format, then those of published archives.
inline constexpr const char* feature_names[] = {"features", "node_features", "x"};
inline constexpr const char* label_names[] = {"labels", "node_labels", "y"};
inline constexpr const char* edge_names[] = {"edges", "edge_index"};
inline constexpr const char* weight_names[] = {"weights", "edge_weight", "edge_weights"};

/// First of these names that the file has; the first of all if it has none. File: io::Group or io::Npz.
template <class File, std::size_t n>
std::string name_in(const File& file, const char* const (&names)[n]) {
  for (const auto* name : names)
    if (file.exists(name)) return name;
  return names[0];
}

std::int64_t nodes_of(const io::File& file);
bool directed_of(const io::File& file);
/// Number of edges of the file.
std::int64_t edge_count(const io::File& file);
/// A range of them, in the order of the file; their end nodes are not checked.
std::vector<Edge> edges_of(const io::File& file, sparse::Range wanted);
/// Features of a range of nodes, one row per node; no columns if the file has none.
sparse::Csr<float> features_of(const io::File& file, std::int64_t nodes, sparse::Range wanted);
/// Number of splits of the file; one if it has none.
std::int64_t splits_of(const io::File& file, std::int64_t nodes);
/// Roles of a range of nodes in a split; empty if the file has none.
std::vector<Role> roles_of(const io::File& file, std::int64_t nodes, sparse::Range wanted, std::int64_t split);
/// Classes of all nodes; empty if the file has none.
std::vector<std::int32_t> labels_of(const io::File& file, std::int64_t nodes);

/// Values of `rows` nodes, row-major, without zeros.
sparse::Csr<float> sparse_rows(std::span<const float> values, std::int64_t rows, std::int64_t columns);
/// True if an array of this shape has the ends of edges in columns (edges x 2), false if in rows (2 x edges).
/// InputError for any other shape.
bool ends_in_columns(const std::string& source, const std::string& name, std::span<const std::int64_t> shape);
/// InputError for a feature that is not finite; the first row is that of node `first`.
void require_finite(const sparse::Csr<float>& features, const std::string& source, std::int64_t first);
/// InputError for classes that are not one value per node, for example one-hot vectors.
void require_label_shape(const std::string& source, const std::string& name, std::span<const std::int64_t> shape);
/// Adds a note that lists arrays of a graph file that are not read.
void say_unread_arrays(const std::string& source, const std::vector<std::string>& arrays,
                       std::vector<std::string>& notes);
/// InputError for invalid classes.
void require_labels(std::span<const std::int32_t> labels, const std::string& source, const std::string& name);
/// The role of a value of `split`. InputError for values other than -1 to 2.
Role role_of(std::int32_t value, const std::string& source, std::int64_t node);

}  // namespace cambium::graph
