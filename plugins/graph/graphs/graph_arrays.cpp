#include "plugins/graph/graphs/graph_arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/base/error.hpp"
#include "plugins/graph/graphs/split_masks.hpp"

namespace cambium::graph {

std::int64_t nodes_of(const io::File& file) {
  const auto labels = name_in(file, label_names);
  if (!file.has_attribute("nodes") && labels != label_names[0] && !file.is_group(labels))
    return require_label_shape(file.file(), labels, file.dataset(labels).shape()), file.dataset(labels).elements();
  if (!file.has_attribute("nodes"))
    throw InputError(
        fmt::format("'{}' has no attribute 'nodes' (how many there are); is it a file of a graph?", file.file()));
  const auto nodes = file.attribute<std::int64_t>("nodes");
  if (nodes < 1 || nodes > most_nodes)
    throw InputError(fmt::format("'{}' states {} nodes, expected 1 to {}", file.file(), nodes, most_nodes));
  return nodes;
}

bool directed_of(const io::File& file) {
  return file.has_attribute("directed") && file.attribute<std::int64_t>("directed") != 0;
}

bool ends_in_columns(const std::string& source, const std::string& name, std::span<const std::int64_t> shape) {
  const bool columns = shape.size() == 2 && shape[1] == 2, rows = shape.size() == 2 && shape[0] == 2;
  if (name == edge_names[0] ? columns : columns && !rows) return true;
  if (name != edge_names[0] && rows) return false;
  throw InputError(fmt::format("'{}': /{} must have two {}, the nodes of each edge", source, name,
                               name == edge_names[0] ? "columns" : "rows"));
}

std::int64_t edge_count(const io::File& file) {
  const auto name = name_in(file, edge_names);
  const auto shape = file.dataset(name).shape();
  const auto edges = ends_in_columns(file.file(), name, shape) ? shape[0] : shape[1];
  const auto weight_name = name_in(file, weight_names);
  if (!file.exists(weight_name)) return edges;
  if (const auto weights = file.dataset(weight_name).elements(); weights != edges)
    throw InputError(fmt::format("'{}': /{} holds {} values for {} edges; the file is cut short or damaged",
                                 file.file(), weight_name, weights, edges));
  return edges;
}

/// Part [begin, end) of the first dimension of an array with `width` values per row; 0: one-dimensional.
template <class T>
static std::vector<T> block_of(const io::Dataset& array, sparse::Range rows, std::int64_t width) {
  std::vector<T> out(rows.size() * std::max<std::int64_t>(width, 1));
  const std::int64_t start[] = {rows.begin, 0};
  if (width == 0)
    array.read_block({start, 1}, io::tensor_of(out));
  else
    array.read_block(start, io::tensor_of(out.data(), {rows.size(), width}));
  return out;
}

/// The same for arrays that other programs may have written with 64 bits, NumPy's default: block by block, so that the
/// 64-bit values are never all in memory.
template <class T>
static std::vector<T> part_of(const io::Dataset& array, sparse::Range rows, std::int64_t width) {
  using Wide = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  const std::int64_t block = std::max<std::int64_t>(1, (1 << 20) / std::max<std::int64_t>(width, 1));
  std::vector<T> out;
  out.reserve(rows.size() * std::max<std::int64_t>(width, 1));
  for (auto begin = rows.begin; begin < rows.end; begin += block)
    for (const Wide x : block_of<Wide>(array, {begin, std::min(rows.end, begin + block)}, width)) {
      if constexpr (std::is_integral_v<T>)
        if (!std::in_range<T>(x))
          throw InputError(fmt::format("'{}': {} holds {}, but values there are at most {}", array.file(), array.path(),
                                       x, std::numeric_limits<T>::max()));
      out.push_back(static_cast<T>(x));
    }
  return out;
}

static std::int32_t narrow(std::int64_t x, const io::Dataset& array) {
  if (!std::in_range<std::int32_t>(x))
    throw InputError(fmt::format("'{}': {} holds {}, but values there are at most {}", array.file(), array.path(), x,
                                 std::numeric_limits<std::int32_t>::max()));
  return static_cast<std::int32_t>(x);
}

/// Nodes of edges, u and v of each; 2 x edges are read as two rows.
static std::vector<std::int32_t> ends_of(const io::File& file, sparse::Range wanted) {
  const auto name = name_in(file, edge_names);
  const auto array = file.dataset(name);
  if (ends_in_columns(file.file(), name, array.shape())) return part_of<std::int32_t>(array, wanted, 2);
  std::vector<std::int64_t> rows(2 * wanted.size());
  const std::int64_t start[] = {0, wanted.begin};
  array.read_block(start, io::tensor_of(rows.data(), {2, wanted.size()}));
  std::vector<std::int32_t> out;
  for (std::int64_t k = 0; k < wanted.size(); ++k)
    for (const auto node : {rows[k], rows[wanted.size() + k]}) out.push_back(narrow(node, array));
  return out;
}

std::vector<Edge> edges_of(const io::File& file, sparse::Range wanted) {
  std::vector<Edge> out(wanted.size());
  if (out.empty()) return out;
  const auto ends = ends_of(file, wanted);
  std::vector<double> weights(out.size(), 1.0);
  if (const auto name = name_in(file, weight_names); file.exists(name))
    weights = part_of<double>(file.dataset(name), wanted, 0);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = {ends[2 * k], ends[2 * k + 1], weights[k]};
  return out;
}

sparse::Csr<float> sparse_rows(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  sparse::Csr<float> out;
  out.rows = rows;
  out.columns = columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < columns; ++k)
      if (const float x = values[i * columns + k]; x != 0.0f) {
        out.column.push_back(static_cast<std::int32_t>(k));
        out.value.push_back(x);
      }
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

static sparse::Csr<float> dense_features(const io::Dataset& array, std::int64_t nodes, sparse::Range wanted) {
  const auto shape = array.shape();
  if (shape.size() != 2 || shape[0] != nodes || shape[1] < 1)
    throw InputError(
        fmt::format("'{}': {} must have a row for each of the {} nodes", array.file(), array.path(), nodes));
  const auto values = wanted.size() > 0 ? part_of<float>(array, wanted, shape[1]) : std::vector<float>{};
  return sparse_rows(values, wanted.size(), shape[1]);
}

/// Row offsets of a range, including its end. InputError for offsets that are invalid in a sparse matrix.
static std::vector<std::int64_t> places_of(const io::Group& group, std::int64_t nodes, std::int64_t entries,
                                           sparse::Range wanted) {
  const auto array = group.dataset("indptr");
  const auto values = group.exists("values") ? group.dataset("values").elements() : entries;
  const auto part = [&](sparse::Range rows) { return part_of<std::int64_t>(array, rows, 0); };
  if (array.elements() != nodes + 1 || part({0, 1}).front() != 0 || part({nodes, nodes + 1}).front() != entries ||
      values != entries)
    throw InputError(
        fmt::format("'{}': /features/indptr must hold {} values from 0 to {}, the count of /features/indices, and "
                    "/features/values as many as these; the file is cut short or damaged",
                    group.file(), nodes + 1, entries));
  auto out = part({wanted.begin, wanted.end + 1});
  for (std::size_t i = 0; i + 1 < out.size(); ++i)
    if (out[i] > out[i + 1] || out[i] < 0 || out[i + 1] > entries)
      throw InputError(fmt::format("'{}': /features/indptr falls at node {}; it must rise", group.file(),
                                   wanted.begin + static_cast<std::int64_t>(i)));
  return out;
}

/// `first`: the node of the first row.
static void check_columns(const sparse::Csr<float>& rows, std::int64_t first, const std::string& file) {
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const auto columns = rows.columns_of(i);
    for (std::size_t e = 0; e < columns.size(); ++e)
      if (columns[e] < 0 || columns[e] >= rows.columns || (e > 0 && columns[e] <= columns[e - 1]))
        throw InputError(fmt::format("'{}': /features/indices of node {} must rise within 0 to {}", file, first + i,
                                     rows.columns - 1));
  }
}

static sparse::Csr<float> sparse_features(const io::Group& group, std::int64_t nodes, sparse::Range wanted) {
  const auto indices = group.dataset("indices");
  const std::int64_t entries = indices.elements();
  sparse::Csr<float> out;
  out.rows = wanted.size();
  out.columns = group.attribute<std::int64_t>("columns");
  out.start = places_of(group, nodes, entries, wanted);
  const sparse::Range own{out.start.front(), out.start.back()};
  if (own.size() > 0) out.column = part_of<std::int32_t>(indices, own, 0);
  if (own.size() > 0 && group.exists("values"))
    out.value = part_of<float>(group.dataset("values"), own, 0);
  else
    out.value.assign(out.column.size(), 1.0f);
  for (auto& place : out.start) place -= own.begin;
  check_columns(out, wanted.begin, group.file());
  return out;
}

void require_finite(const sparse::Csr<float>& features, const std::string& source, std::int64_t first) {
  for (std::int64_t i = 0; i < features.rows; ++i)
    for (const float x : features.values_of(i))
      if (!std::isfinite(x))
        throw InputError(fmt::format("'{}': a feature of node {} is not finite", source, first + i));
}

sparse::Csr<float> features_of(const io::File& file, std::int64_t nodes, sparse::Range wanted) {
  const auto name = name_in(file, feature_names);
  if (!file.exists(name)) return {};
  auto out = file.is_group(name) ? sparse_features(file.group(name), nodes, wanted)
                                 : dense_features(file.dataset(name), nodes, wanted);
  require_finite(out, file.file(), wanted.begin);
  return out;
}

/// Values of a range of the nodes in one split.
static std::vector<std::int32_t> values_in_split(const io::Dataset& array, const SplitShape& shape, std::int64_t split,
                                                 sparse::Range wanted) {
  if (wanted.size() == 0) return {};
  const auto begin = wanted.begin, rows = wanted.size();
  if (array.shape().size() == 1) return part_of<std::int32_t>(array, wanted, 0);
  const std::int64_t by_node[] = {begin, split}, by_split[] = {split, begin};
  std::vector<std::int64_t> wide(rows);
  if (shape.nodes_first)
    array.read_block(by_node, io::tensor_of(wide.data(), {rows, 1}));
  else
    array.read_block(by_split, io::tensor_of(wide.data(), {1, rows}));
  std::vector<std::int32_t> out;
  for (const auto x : wide) out.push_back(narrow(x, array));
  return out;
}

/// The array of a role's masks, if the file has one.
static std::optional<io::Dataset> mask_in(const io::File& file, const MaskNames& names) {
  for (const auto* name : {names.one, names.several})
    if (file.exists(name)) return file.dataset(name);
  return {};
}

std::int64_t splits_of(const io::File& file, std::int64_t nodes) {
  if (file.exists("split")) {
    const auto shape = file.dataset("split").shape();
    return shape.size() == 2 ? split_shape_of(file.file(), "/split", shape, nodes).splits : 1;
  }
  for (const auto& names : mask_names)
    if (const auto array = mask_in(file, names))
      return split_shape_of(file.file(), array->path(), array->shape(), nodes).splits;
  return 1;
}

Role role_of(std::int32_t value, const std::string& source, std::int64_t node) {
  if (value < -1 || value > 2)
    throw InputError(
        fmt::format("'{}': /split holds {} for node {}; 0 is training, 1 validation, 2 test, -1 none of "
                    "them",
                    source, value, node));
  return static_cast<Role>(value);
}

static std::vector<Role> roles_by_masks(const io::File& file, std::int64_t nodes, sparse::Range wanted,
                                        std::int64_t split) {
  std::vector<Role> out;
  for (const auto& names : mask_names)
    if (const auto array = mask_in(file, names)) {
      const auto shape = split_shape_of(file.file(), array->path(), array->shape(), nodes);
      require_split(file.file(), split, shape.splits);
      add_role(file.file(), values_in_split(*array, shape, split, wanted), wanted.begin, names.role, out);
    }
  if (!out.empty()) return out;
  for (const auto& names : mask_names)
    if (const auto name = name_in(file, names.places); file.exists(name) && !file.is_group(name))
      add_role_of_listed(file.file(), name, file.read<std::vector<std::int64_t>>(name), nodes, wanted, names.role, out);
  return out;
}

std::vector<Role> roles_of(const io::File& file, std::int64_t nodes, sparse::Range wanted, std::int64_t split) {
  std::vector<Role> out;
  require_split(file.file(), split, splits_of(file, nodes));
  if (!file.exists("split")) return roles_by_masks(file, nodes, wanted, split);
  const auto array = file.dataset("split");
  SplitShape shape;
  if (array.shape().size() == 2)
    shape = split_shape_of(file.file(), "/split", array.shape(), nodes);
  else
    require_size(file.file(), nodes, "roles", array.elements());
  if (array.elements() == 0) return out;
  for (const auto role : values_in_split(array, shape, split, wanted))
    out.push_back(role_of(role, file.file(), wanted.begin + std::ssize(out)));
  return out;
}

void require_label_shape(const std::string& source, const std::string& name, std::span<const std::int64_t> shape) {
  if (shape.size() < 2 || (shape.size() == 2 && shape[1] == 1)) return;
  throw InputError(
      fmt::format("'{}': /{} has the shape {}, expected one class for each node; of one-hot vectors "
                  "these are numpy.argmax({}, axis=1)",
                  source, name, fmt::join(shape, " x "), name));
}

void say_unread_arrays(const std::string& source, const std::vector<std::string>& arrays,
                       std::vector<std::string>& notes) {
  std::vector<std::string> unread;
  const auto known = [](const std::string& name) {
    const auto in = [&](const auto& names) {
      return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    for (const auto& names : mask_names)
      if (name == names.one || name == names.several || in(names.places)) return true;
    return in(feature_names) || in(label_names) || in(edge_names) || in(weight_names) || name == "split" ||
           name == "num_nodes" || name == "positions";
  };
  for (const auto& name : arrays)
    if (!known(name)) unread.push_back(fmt::format("'{}'", name));
  if (!unread.empty()) notes.push_back(fmt::format("{}: not used of its arrays: {}", source, fmt::join(unread, ", ")));
}

void require_labels(std::span<const std::int32_t> labels, const std::string& source, const std::string& name) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] < -1)
      throw InputError(fmt::format("'{}': /{} holds {} for node {}; classes count from 0, and -1 means unknown", source,
                                   name, labels[i], i));
    else if (labels[i] >= most_classes)
      throw InputError(fmt::format("'{}': /{} holds {} for node {}; classes are numbered from 0 to {}", source, name,
                                   labels[i], i, most_classes - 1));
}

std::vector<std::int32_t> labels_of(const io::File& file, std::int64_t nodes) {
  const auto name = name_in(file, label_names);
  if (!file.exists(name)) return {};
  require_size(file.file(), nodes, "classes", file.dataset(name).elements());
  auto out = file.read<std::vector<std::int32_t>>(name);
  require_labels(out, file.file(), name);
  return out;
}

}  // namespace cambium::graph
