#include "plugins/graph/graphs/graph_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/io/npz.hpp"
#include "core/io/reading.hpp"
#include "plugins/graph/graphs/graph_arrays.hpp"
#include "plugins/graph/graphs/split_masks.hpp"

namespace cambium::graph {

/// Values of an archive as integers. InputError for other types.
static std::vector<std::int32_t> integers_of(const io::Npz& file, const std::string& name, const io::NpyArray& array) {
  std::vector<std::int32_t> out;
  for (const double x : array.values) {
    if (!(std::abs(x) <= std::numeric_limits<std::int32_t>::max()) || x != std::floor(x))
      throw InputError(fmt::format("{}: {} holds {:g}, and integers of 32 bits were expected", file.file(), name, x));
    out.push_back(static_cast<std::int32_t>(x));
  }
  return out;
}

static std::vector<Edge> edges_of(const io::Npz& file) {
  const auto name = name_in(file, edge_names);
  const auto array = file.read(name);
  const auto ends = integers_of(file, name, array);
  const bool columns = ends_in_columns(file.file(), name, array.shape);
  const auto edges = std::ssize(ends) / 2;
  std::vector<Edge> out;
  for (std::int64_t k = 0; k < edges; ++k)
    out.push_back({ends[columns ? 2 * k : k], ends[columns ? 2 * k + 1 : edges + k], 1.0});
  const auto weight_name = name_in(file, weight_names);
  if (!file.exists(weight_name)) return out;
  const auto weights = file.read(weight_name).values;
  require_size(file.file(), edges, "weights", std::ssize(weights));
  for (std::size_t k = 0; k < out.size(); ++k) out[k].weight = weights.at(k);
  return out;
}

static sparse::Csr<float> features_of(const io::Npz& file, std::int64_t nodes) {
  const auto name = name_in(file, feature_names);
  if (!file.exists(name)) return {};
  const auto array = file.read(name);
  if (array.shape.size() != 2 || array.shape[0] != nodes || array.shape[1] < 1)
    throw InputError(fmt::format("'{}': /{} must have a row for each of the {} nodes", file.file(), name, nodes));
  const std::vector<float> values(array.values.begin(), array.values.end());
  auto out = sparse_rows(values, nodes, array.shape[1]);
  require_finite(out, file.file(), 0);
  return out;
}

/// Roles of the array `split` in one of its splits; sets `splits` to their number.
static std::vector<Role> roles_of_split(const io::Npz& file, std::int64_t nodes, std::int64_t split,
                                        std::int64_t& splits) {
  const auto array = file.read("split");
  const auto shape = split_shape_of(file.file(), "split", array.shape, nodes);
  splits = shape.splits;
  require_split(file.file(), split, splits);
  const auto values = integers_of(file, "split", array);
  std::vector<Role> out;
  for (std::int64_t i = 0; i < nodes; ++i)
    out.push_back(role_of(values[shape.nodes_first ? i * splits + split : split * nodes + i], file.file(), i));
  return out;
}

/// Roles in the split; sets `splits` to the number of splits.
static std::vector<Role> roles_of(const io::Npz& file, std::int64_t nodes, std::int64_t split, std::int64_t& splits) {
  if (file.exists("split")) return roles_of_split(file, nodes, split, splits);
  std::vector<Role> out;
  for (const auto& names : mask_names)
    for (const std::string name : {names.one, names.several}) {
      if (!file.exists(name)) continue;
      const auto array = file.read(name);
      const auto shape = split_shape_of(file.file(), name, array.shape, nodes);
      splits = shape.splits;
      require_split(file.file(), split, splits);
      std::vector<std::int32_t> mask;
      for (std::int64_t i = 0; i < nodes; ++i)
        mask.push_back(array.values[shape.nodes_first ? i * splits + split : split * nodes + i] != 0.0 ? 1 : 0);
      add_role(file.file(), mask, 0, names.role, out);
    }
  if (out.empty()) require_split(file.file(), split, 1);
  if (!out.empty()) return out;
  for (const auto& names : mask_names) {
    const auto name = name_in(file, names.places);
    if (!file.exists(name)) continue;
    const auto listed = integers_of(file, name, file.read(name));
    add_role_of_listed(file.file(), name, std::vector<std::int64_t>(listed.begin(), listed.end()), nodes, {0, nodes},
                       names.role, out);
  }
  return out;
}

static GraphParts parts_of_npz(const std::string& path, std::int64_t split) {
  const io::Npz file(path, "graph");
  GraphParts parts;
  parts.source = path;
  const auto name = name_in(file, label_names);
  const auto labels = file.read(name);
  require_label_shape(path, name, labels.shape);
  parts.labels = integers_of(file, name, labels);
  require_labels(parts.labels, path, name);
  parts.nodes = std::ssize(parts.labels);
  if (file.exists("directed")) {
    const auto given = file.read("directed").values;
    if (given.size() != 1) throw InputError(fmt::format("{}: directed must hold one value, 0 or 1", path));
    parts.directed = given.front() != 0.0;
  }
  parts.weighted = file.exists(name_in(file, weight_names));
  parts.edges = edges_of(file);
  parts.features = features_of(file, parts.nodes);
  parts.split = split;
  parts.roles = roles_of(file, parts.nodes, split, parts.splits);
  auto names = file.names();
  std::erase(names, "directed");
  say_unread_arrays(path, names, parts.notes);
  return parts;
}

static GraphParts parts_of_hdf5(const std::string& path, std::int64_t split) {
  const auto file = io::File::open(path);
  GraphParts parts;
  parts.source = path;
  parts.nodes = nodes_of(file);
  parts.directed = directed_of(file);
  parts.weighted = file.exists(name_in(file, weight_names));
  parts.edges = edges_of(file, {0, edge_count(file)});
  parts.features = features_of(file, parts.nodes, {0, parts.nodes});
  parts.labels = labels_of(file, parts.nodes);
  parts.split = split;
  parts.splits = splits_of(file, parts.nodes);
  parts.roles = roles_of(file, parts.nodes, {0, parts.nodes}, split);
  say_unread_arrays(path, file.list(), parts.notes);
  return parts;
}

GraphPtr read_graph(const std::string& path, std::int64_t split) {
  GraphPtr out;
  io::reading(path,
              [&] { out = make_graph(io::is_npz(path) ? parts_of_npz(path, split) : parts_of_hdf5(path, split)); });
  return out;
}

}  // namespace cambium::graph
