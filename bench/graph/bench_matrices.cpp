#include "bench/graph/bench_matrices.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "plugins/graph/tiles/orders.hpp"

namespace cambium::graph {

using sparse::Csr;
using sparse::Entry;

namespace {

using Edges = std::vector<std::int32_t>;  ///< pairs

double drawn(std::uint64_t i, std::uint64_t k) { return Random4(1, Stream::example_field, i, k).uniform(0); }

/// D^-1/2 A D^-1/2, A with both directions of every edge and, where `loops`, the identity added.
Csr<double> normalised(std::int64_t nodes, const Edges& edges, bool loops) {
  std::vector<Entry> entries;
  for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
    entries.push_back({edges[e], edges[e + 1], 1.0});
    entries.push_back({edges[e + 1], edges[e], 1.0});
  }
  for (std::int32_t i = 0; loops && i < nodes; ++i) entries.push_back({i, i, 1.0});
  auto a = sparse::csr_from_entries(nodes, nodes, entries).matrix;
  for (double& x : a.value) x = 1.0;
  const auto degree = [&](std::int64_t i) { return static_cast<double>(a.length(i)); };
  for (std::int64_t i = 0; i < nodes; ++i)
    for (auto e = a.start[at(i)]; e < a.start[at(i) + 1]; ++e)
      a.value[at(e)] = 1.0 / std::sqrt(degree(i) * degree(a.column[at(e)]));
  return a;
}

/// Edges between nodes with a skewed degree distribution: rank r is drawn as nodes * u^power.
Edges random_edges(std::int64_t left, std::int64_t right, std::int64_t shift, std::int64_t count, double power) {
  Edges out;
  for (std::int64_t e = 0; e < count; ++e) {
    const auto pick = [&](std::int64_t n, std::uint64_t k) {
      const auto rank = static_cast<std::int64_t>(static_cast<double>(n) * std::pow(drawn(at(e), k), power));
      return static_cast<std::int32_t>(rank * 7919 % n);  // so that neighbours in rank have distant indices
    };
    const std::int32_t u = pick(left, 0), v = static_cast<std::int32_t>(shift + pick(right, 1));
    if (u != v) {
      out.push_back(u);
      out.push_back(v);
    }
  }
  return out;
}

struct Shape {
  std::int64_t nodes, edges;
};

BenchMatrix node_graph(const std::string& name, const std::string& file, Shape shape) {
  if (!std::filesystem::exists(file))
    return {
        name,
        fmt::format("random, {} nodes and {} edges (CAMBIUM_DATA has no graphs/{}.h5)", shape.nodes, shape.edges, name),
        normalised(shape.nodes, random_edges(shape.nodes, shape.nodes, 0, shape.edges, 2.0), true)};
  const auto h5 = io::File::open(file);
  const auto edges = h5.read<Edges>("edges");
  return {name, "graphs/" + name + ".h5", normalised(h5.dataset("labels").elements(), edges, true)};
}

BenchMatrix gowalla(const std::string& file) {
  constexpr std::int64_t users = 29858, items = 40981, visits = 810128;
  Edges edges;
  const bool there = std::filesystem::exists(file);
  if (there) {
    const auto h5 = io::File::open(file);
    const auto start = h5.read<std::vector<std::int32_t>>("train/indptr");
    const auto item = h5.read<std::vector<std::int32_t>>("train/items");
    for (std::int32_t u = 0; u < users; ++u)
      for (auto k = start[at(u)]; k < start[at(u) + 1]; ++k) {
        edges.push_back(u);
        edges.push_back(static_cast<std::int32_t>(users) + item[at(k)]);
      }
  } else {
    edges = random_edges(users, items, users, visits, 2.0);
  }
  return {"gowalla",
          there ? "relate/gowalla.h5"
                : fmt::format("random, {} users, {} items, {} visits (CAMBIUM_DATA has no relate/gowalla.h5)", users,
                              items, visits),
          normalised(users + items, edges, false)};
}

BenchMatrix molecules(const std::string& file) {
  std::vector<std::int32_t> offset;
  std::vector<double> position;
  const bool there = std::filesystem::exists(file);
  if (there) {
    const auto h5 = io::File::open(file);
    offset = h5.read<std::vector<std::int32_t>>("gdb1k/offset");
    position = h5.read<std::vector<double>>("gdb1k/position");
  } else {
    offset.push_back(0);
    for (std::uint64_t m = 0; m < 960; ++m)
      offset.push_back(offset.back() + 11 + static_cast<std::int32_t>(7.0 * drawn(m, 2)));
    for (std::int32_t k = 0; k < 3 * offset.back(); ++k) position.push_back(6.0 * drawn(at(k), 3));
  }
  std::vector<Entry> entries;
  for (std::size_t m = 0; m + 1 < offset.size(); ++m)
    for (auto i = offset[m]; i < offset[m + 1]; ++i)
      for (auto j = offset[m]; j < offset[m + 1]; ++j) {
        double square = 0.0;
        for (int k = 0; k < 3; ++k) square += std::pow(position[at(3 * i + k)] - position[at(3 * j + k)], 2);
        entries.push_back({i, j, 1.0 / (1.0 + square)});
      }
  return {"molecules", there ? "graphs/molecules.h5" : "960 made molecules (CAMBIUM_DATA has no graphs/molecules.h5)",
          sparse::csr_from_entries(offset.back(), offset.back(), entries).matrix};
}

BenchMatrix mesh(std::int64_t wanted) {
  const auto side = static_cast<std::int32_t>(std::llround(std::sqrt(static_cast<double>(wanted))));
  const std::int32_t steps[7][2] = {{-1, -1}, {0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}, {1, 1}};
  Csr<double> a;
  a.rows = a.columns = std::int64_t{side} * side;
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < side; ++x) {
      const auto first = a.column.size();
      for (const auto& s : steps)
        if (x + s[0] >= 0 && x + s[0] < side && y + s[1] >= 0 && y + s[1] < side)
          a.column.push_back(x + s[0] + side * (y + s[1]));
      a.value.resize(a.column.size(), 1.0 / static_cast<double>(a.column.size() - first));
      a.start.push_back(std::ssize(a.column));
    }
  return {"mesh", fmt::format("a square of {0} x {0} points in triangles, row by row", side), std::move(a)};
}

}  // namespace

std::vector<std::string> bench_matrix_names() {
  return {"cora", "chameleon", "chameleon_ordered", "facebook", "gowalla", "molecules", "mesh"};
}

BenchMatrix bench_matrix(const std::string& name, const std::string& data, std::int64_t mesh_nodes) {
  const std::string graphs = data + "/graphs/";
  if (name == "cora") return node_graph(name, graphs + "cora.h5", {2708, 5278});
  if (name == "facebook") return node_graph(name, graphs + "facebook.h5", {22470, 170823});
  if (name == "gowalla") return gowalla(data + "/relate/gowalla.h5");
  if (name == "molecules") return molecules(graphs + "molecules.h5");
  if (name == "mesh") return mesh(mesh_nodes);
  if (!name.starts_with("chameleon")) throw InternalError("bench_matrix: " + name);
  auto out = node_graph("chameleon", graphs + "chameleon.h5", {2277, 31371});
  if (name == "chameleon") return out;
  out.matrix = sparse::permuted(out.matrix, sparse::community_order(sparse::neighbours_of(out.matrix)));
  return {name, out.source + ", nodes in the order of communities", std::move(out.matrix)};
}

}  // namespace cambium::graph
