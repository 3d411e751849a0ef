#include "plugins/graph/graphs/graph_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/base/error.hpp"

namespace cambium::graph {

std::int64_t nodes_of(const io::File& file) {
  if (!file.has_attribute("nodes"))
    throw InputError(
        fmt::format("'{}' has no attribute 'nodes' (how many there are); is it a file of a graph?", file.file()));
  const auto nodes = file.attribute<std::int64_t>("nodes");
  if (nodes < 1 || nodes > most_nodes)
    throw InputError(
        fmt::format("'{}' says that it has {} nodes; from 1 to {} can be", file.file(), nodes, most_nodes));
  return nodes;
}

bool directed_of(const io::File& file) {
  return file.has_attribute("directed") && file.attribute<std::int64_t>("directed") != 0;
}

std::int64_t edge_count(const io::File& file) {
  const auto shape = file.dataset("edges").shape();
  if (shape.size() != 2 || shape[1] != 2)
    throw InputError(fmt::format("'{}': /edges must have two columns, the nodes of each edge", file.file()));
  if (!file.exists("weights")) return shape[0];
  if (const auto weights = file.dataset("weights").elements(); weights != shape[0])
    throw InputError(fmt::format("'{}': /weights holds {} numbers for {} edges; the file is cut short or damaged",
                                 file.file(), weights, shape[0]));
  return shape[0];
}

/// Part [begin, end) of the first dimension of an array whose rows have `width` numbers; 0: of one dimension.
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

/// The same for arrays that another program may have written with 64 bits, as NumPy does by itself: block by block, so
/// that the wide numbers never lie in memory all at once.
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
          throw InputError(fmt::format("'{}': {} holds {}, but numbers there go up to {}", array.file(), array.path(),
                                       x, std::numeric_limits<T>::max()));
      out.push_back(static_cast<T>(x));
    }
  return out;
}

std::vector<Edge> edges_of(const io::File& file, sparse::Range wanted) {
  std::vector<Edge> out(wanted.size());
  if (out.empty()) return out;
  const auto ends = part_of<std::int32_t>(file.dataset("edges"), wanted, 2);
  std::vector<double> weights(out.size(), 1.0);
  if (file.exists("weights")) weights = part_of<double>(file.dataset("weights"), wanted, 0);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = {ends[2 * k], ends[2 * k + 1], weights[k]};
  return out;
}

static sparse::Csr<float> dense_features(const io::File& file, std::int64_t nodes, sparse::Range wanted) {
  const auto array = file.dataset("features");
  const auto shape = array.shape();
  if (shape.size() != 2 || shape[0] != nodes || shape[1] < 1)
    throw InputError(fmt::format("'{}': /features must have a row for each of the {} nodes", file.file(), nodes));
  const auto values = wanted.size() > 0 ? part_of<float>(array, wanted, shape[1]) : std::vector<float>{};
  sparse::Csr<float> out;
  out.rows = wanted.size();
  out.columns = shape[1];
  for (std::int64_t i = 0; i < wanted.size(); ++i) {
    for (std::int64_t k = 0; k < shape[1]; ++k)
      if (const float x = values[i * shape[1] + k]; x != 0.0f) {
        out.column.push_back(static_cast<std::int32_t>(k));
        out.value.push_back(x);
      }
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

/// Places of the rows of a range, and of the end. InputError for places that are not as a sparse matrix has them.
static std::vector<std::int64_t> places_of(const io::Group& group, std::int64_t nodes, std::int64_t entries,
                                           sparse::Range wanted) {
  const auto array = group.dataset("indptr");
  const auto values = group.exists("values") ? group.dataset("values").elements() : entries;
  const auto part = [&](sparse::Range rows) { return part_of<std::int64_t>(array, rows, 0); };
  if (array.elements() != nodes + 1 || part({0, 1}).front() != 0 || part({nodes, nodes + 1}).front() != entries ||
      values != entries)
    throw InputError(
        fmt::format("'{}': /features/indptr must hold {} numbers from 0 to {}, the count of /features/indices, and "
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

sparse::Csr<float> features_of(const io::File& file, std::int64_t nodes, sparse::Range wanted) {
  if (!file.exists("features")) return {};
  auto out = file.is_group("features") ? sparse_features(file.group("features"), nodes, wanted)
                                       : dense_features(file, nodes, wanted);
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (const float x : out.values_of(i))
      if (!std::isfinite(x))
        throw InputError(fmt::format("'{}': a feature of node {} is no finite number", file.file(), wanted.begin + i));
  return out;
}

std::vector<Role> roles_of(const io::File& file, std::int64_t nodes, sparse::Range wanted) {
  std::vector<Role> out;
  if (!file.exists("split")) return out;
  const auto array = file.dataset("split");
  require_size(file.file(), nodes, "roles", array.elements());
  if (array.elements() == 0) return out;
  for (const auto role : part_of<std::int32_t>(array, wanted, 0)) {
    if (role < -1 || role > 2)
      throw InputError(
          fmt::format("'{}': /split holds {} for node {}; 0 is training, 1 validation, 2 test, -1 none of them",
                      file.file(), role, wanted.begin + std::ssize(out)));
    out.push_back(static_cast<Role>(role));
  }
  return out;
}

std::vector<std::int32_t> labels_of(const io::File& file, std::int64_t nodes) {
  if (!file.exists("labels")) return {};
  require_size(file.file(), nodes, "classes", file.dataset("labels").elements());
  auto out = file.read<std::vector<std::int32_t>>("labels");
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] < -1)
      throw InputError(
          fmt::format("'{}': /labels holds {} for node {}; classes count from 0, and -1 says that it is not known",
                      file.file(), out[i], i));
    else if (out[i] >= most_classes)
      throw InputError(fmt::format("'{}': /labels holds {} for node {}; classes are numbered from 0 to {}", file.file(),
                                   out[i], i, most_classes - 1));
  return out;
}

}  // namespace cambium::graph
