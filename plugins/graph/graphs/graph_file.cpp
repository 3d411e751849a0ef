#include "plugins/graph/graphs/graph_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/reading.hpp"

namespace cambium::graph {

namespace {

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

std::vector<Edge> edges_of(const io::File& file) {
  const auto pairs = file.dataset("edges");
  const auto shape = pairs.shape();
  if (shape.size() != 2 || shape[1] != 2)
    throw InputError(fmt::format("'{}': /edges must have two columns, the nodes of each edge", file.file()));
  const auto ends = pairs.read<std::vector<std::int32_t>>();
  std::vector<Edge> out(ends.size() / 2);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = {ends[2 * k], ends[2 * k + 1], 1.0};
  if (!file.exists("weights")) return out;
  const auto weights = file.read<std::vector<double>>("weights");
  if (weights.size() != out.size())
    throw InputError(fmt::format("'{}': /weights holds {} numbers for {} edges; the file is cut short or damaged",
                                 file.file(), weights.size(), out.size()));
  for (std::size_t k = 0; k < out.size(); ++k) out[k].weight = weights[k];
  return out;
}

sparse::Csr<float> dense_features(const io::File& file, std::int64_t nodes) {
  const auto array = file.dataset("features");
  const auto shape = array.shape();
  if (shape.size() != 2 || shape[0] != nodes || shape[1] < 1)
    throw InputError(fmt::format("'{}': /features must have a row for each of the {} nodes", file.file(), nodes));
  const auto values = array.read<std::vector<float>>();
  sparse::Csr<float> out;
  out.rows = nodes, out.columns = shape[1];
  for (std::int64_t i = 0; i < nodes; ++i) {
    for (std::int64_t k = 0; k < shape[1]; ++k)
      if (const float x = values[static_cast<std::size_t>(i * shape[1] + k)]; x != 0.0f)
        out.column.push_back(static_cast<std::int32_t>(k)), out.value.push_back(x);
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

/// InputError for rows that are not as a sparse matrix has them.
void check_rows(const sparse::Csr<float>& rows, const std::string& file) {
  const auto entries = std::ssize(rows.column);
  if (std::ssize(rows.start) != rows.rows + 1 || rows.start.front() != 0 || rows.start.back() != entries ||
      std::ssize(rows.value) != entries)
    throw InputError(
        fmt::format("'{}': /features/indptr must hold {} numbers from 0 to {}, the count of /features/indices, and "
                    "/features/values as many as these; the file is cut short or damaged",
                    file, rows.rows + 1, entries));
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const auto first = rows.start[static_cast<std::size_t>(i)], last = rows.start[static_cast<std::size_t>(i) + 1];
    if (first > last || last > entries)
      throw InputError(fmt::format("'{}': /features/indptr falls at node {}; it must rise", file, i));
    for (auto e = first; e < last; ++e) {
      const auto k = rows.column[static_cast<std::size_t>(e)];
      if (k < 0 || k >= rows.columns || (e > first && k <= rows.column[static_cast<std::size_t>(e) - 1]))
        throw InputError(
            fmt::format("'{}': /features/indices of node {} must rise within 0 to {}", file, i, rows.columns - 1));
    }
  }
}

sparse::Csr<float> features_of(const io::File& file, std::int64_t nodes) {
  if (!file.exists("features")) return {};
  if (!file.is_group("features")) return dense_features(file, nodes);
  const auto group = file.group("features");
  sparse::Csr<float> out;
  out.rows = nodes, out.columns = group.attribute<std::int64_t>("columns");
  out.start = group.read<std::vector<std::int64_t>>("indptr");
  out.column = group.read<std::vector<std::int32_t>>("indices");
  if (group.exists("values"))
    out.value = group.read<std::vector<float>>("values");
  else
    out.value.assign(out.column.size(), 1.0f);
  if (out.start.empty()) out.start.push_back(0);
  check_rows(out, file.file());
  return out;
}

void check_features(const sparse::Csr<float>& rows, const std::string& file) {
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (const float x : rows.values_of(i))
      if (!std::isfinite(x)) throw InputError(fmt::format("'{}': a feature of node {} is no finite number", file, i));
}

std::vector<Role> roles_of(const io::File& file) {
  std::vector<Role> out;
  if (!file.exists("split")) return out;
  for (const auto role : file.read<std::vector<std::int32_t>>("split")) {
    if (role < -1 || role > 2)
      throw InputError(
          fmt::format("'{}': /split holds {} for node {}; 0 is training, 1 validation, 2 test, -1 none of them",
                      file.file(), role, out.size()));
    out.push_back(static_cast<Role>(role));
  }
  return out;
}

std::vector<std::int32_t> labels_of(const io::File& file) {
  if (!file.exists("labels")) return {};
  auto out = file.read<std::vector<std::int32_t>>("labels");
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] < -1)
      throw InputError(
          fmt::format("'{}': /labels holds {} for node {}; classes count from 0, and -1 says that it is not known",
                      file.file(), out[i], i));
  return out;
}

}  // namespace

GraphPtr read_graph(const std::string& path) {
  GraphPtr out;
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    GraphParts parts;
    parts.source = path, parts.nodes = nodes_of(file);
    parts.directed = file.has_attribute("directed") && file.attribute<std::int64_t>("directed") != 0;
    parts.edges = edges_of(file);
    parts.features = features_of(file, parts.nodes);
    check_features(parts.features, path);
    parts.labels = labels_of(file), parts.roles = roles_of(file);
    out = make_graph(std::move(parts));
  });
  return out;
}

}  // namespace cambium::graph
