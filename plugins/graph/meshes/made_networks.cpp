// Rings, grids and random geometric graphs.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/random.hpp"
#include "plugins/graph/meshes/formula.hpp"
#include "plugins/graph/meshes/network.hpp"

namespace cambium::graph {

EdgeList ring_of(const NetworkKeys::Ring& keys) {
  EdgeList out;
  out.nodes = keys.nodes;
  for (int i = 0; i < keys.nodes; ++i)
    for (int k = 1; k <= keys.neighbours; ++k) out.edges.push_back({i, (i + k) % keys.nodes, 1.0});
  return out;
}

EdgeList grid_of(const NetworkKeys::Grid& keys) {
  std::array<int, 3> n{1, 1, 1};
  for (std::size_t d = 0; d < keys.nodes.size(); ++d) n[d] = keys.nodes[d];
  EdgeList out;
  const auto at = [&](int i, int j, int k) { return (k * n[1] + j) * n[0] + i; };
  if (static_cast<double>(n[0]) * n[1] * n[2] > 2e9)
    throw KeyError("graph.nodes.range", "nodes", "a graph has at most 2147483647 nodes; give fewer 'nodes'");
  out.nodes = static_cast<std::int64_t>(n[0]) * n[1] * n[2];
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i) {
        out.place.push_back({static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)});
        const std::array<int, 3> here{i, j, k};
        for (int d = 0; d < 3; ++d) {
          auto next = here;
          ++next[d];
          if (next[d] == n[d] && keys.periodic && n[d] > 2) next[d] = 0;
          if (next[d] < n[d]) out.edges.push_back({at(i, j, k), at(next[0], next[1], next[2]), 1.0});
        }
      }
  return out;
}

EdgeList random_of(const NetworkKeys::Random& keys, std::uint64_t seed) {
  EdgeList out;
  out.nodes = keys.nodes;
  for (int i = 0; i < keys.nodes; ++i) {
    const Random4 r(seed, Stream::made_samples, static_cast<std::uint64_t>(i), 0);
    out.place.push_back({r.uniform(0), r.uniform(1), 0.0});
  }
  const double radius = std::sqrt(keys.degree / (constants::pi * keys.nodes));
  const auto weight = deck::about_key("graph.formula", "weight", [&] { return Formula(keys.weight, {"d"}); });
  const int boxes = std::clamp(static_cast<int>(1.0 / radius), 1, 4096);
  const auto box = [&](double x) { return std::min(static_cast<int>(x * boxes), boxes - 1); };
  std::vector<std::vector<std::int32_t>> in(static_cast<std::size_t>(boxes) * boxes);
  for (int i = 0; i < keys.nodes; ++i) {
    const auto& p = out.place[i];
    for (int by = std::max(box(p[1]) - 1, 0); by <= std::min(box(p[1]) + 1, boxes - 1); ++by)
      for (int bx = std::max(box(p[0]) - 1, 0); bx <= std::min(box(p[0]) + 1, boxes - 1); ++bx)
        for (const auto j : in[static_cast<std::size_t>(by) * boxes + bx]) {
          const double d = std::hypot(p[0] - out.place[j][0], p[1] - out.place[j][1]) / radius;
          if (d > 1.0) continue;
          const double value = weight({d});
          if (!(value > 0.0) || !std::isfinite(value))
            throw KeyError("graph.weight.positive", "weight",
                           "weight: '" + keys.weight + "' is not a positive number for every length d from 0 to 1");
          out.edges.push_back({j, i, value});
        }
    in[static_cast<std::size_t>(box(p[1])) * boxes + box(p[0])].push_back(i);
  }
  return out;
}

}  // namespace cambium::graph
