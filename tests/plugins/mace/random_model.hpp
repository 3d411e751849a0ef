#pragma once
// A MACE model with random weights: written as PyTorch would, and evaluated a second time in e3nn's own order of
// values, [channel][component], as plainly as possible.
#include <algorithm>
#include <cmath>
#include <random>

#include "plugins/mace/model/coupling.hpp"
#include "tests/periodic.hpp"
#include "tests/plugins/mace/archive_writer.hpp"

namespace cambium::test {

using Blocks = std::vector<std::pair<int, int>>;  // channels, degree
using Values = std::vector<double>;

inline int start_of(const Blocks& blocks, std::size_t k) {
  int at = 0;
  for (std::size_t b = 0; b < k; ++b) at += blocks[b].first * (2 * blocks[b].second + 1);
  return at;
}
inline int size_of(const Blocks& blocks) { return start_of(blocks, blocks.size()); }

struct RandomNumbers {
  std::mt19937 engine;
  Values operator()(std::size_t count, double scale = 1.0) {
    Values out(count);
    for (double& v : out) v = scale * (2.0 * static_cast<double>(engine()) / 4294967296.0 - 1.0);
    return out;
  }
};

/// Every pair of blocks of one degree.
struct PlainLinear {
  Blocks in, out;
  double factor = 0.0;
  bool standard = false;  ///< the factors of e3nn instead
  Values weight;
  PlainLinear() = default;
  PlainLinear(Blocks from, Blocks to, RandomNumbers& random)
      : in(std::move(from)), out(std::move(to)), factor(0.9 * std::min(1.0, 2.0 / std::sqrt(in[0].first))) {
    std::size_t count = 0;
    for (const auto& [a, l] : in)
      for (const auto& [b, k] : out) count += l == k ? static_cast<std::size_t>(a * b) : 0;
    weight = random(count);
  }
  double factor_of(std::size_t a) const { return standard ? 1.0 / std::sqrt(in[a].first) : factor; }
  Values operator()(const Values& x) const {
    Values y(static_cast<std::size_t>(size_of(out)), 0.0);
    std::size_t used = 0;
    for (std::size_t a = 0; a < in.size(); ++a)
      for (std::size_t b = 0; b < out.size(); ++b) {
        if (in[a].second != out[b].second) continue;
        const int n = 2 * in[a].second + 1;
        for (int u = 0; u < in[a].first; ++u)
          for (int w = 0; w < out[b].first; ++w, ++used)
            for (int m = 0; m < n; ++m)
              y[static_cast<std::size_t>(start_of(out, b) + w * n + m)] +=
                  factor_of(a) * weight[used] * x[static_cast<std::size_t>(start_of(in, a) + u * n + m)];
      }
    return y;
  }
  std::string pickle(PickleWriter& p) const {
    std::vector<std::string> instructions;
    for (int a = 0; a < static_cast<int>(in.size()); ++a)
      for (int b = 0; b < static_cast<int>(out.size()); ++b)
        if (in[static_cast<std::size_t>(a)].second == out[static_cast<std::size_t>(b)].second)
          instructions.push_back(
              p.tuple({p.integer(a), p.integer(b), p.tuple({}), p.real(factor_of(static_cast<std::size_t>(a)))}));
    return p.module("Linear", {{"weight", p.tensor({static_cast<std::int64_t>(weight.size())}, weight)},
                               {"irreps_in", p.irreps(in)},
                               {"irreps_out", p.irreps(out)},
                               {"instructions", p.tuple(instructions)}});
  }
};

/// Blocks of one degree that follow each other, as one.
inline Blocks merged(const Blocks& blocks) {
  Blocks out;
  for (const auto& [mul, l] : blocks)
    if (!out.empty() && out.back().second == l)
      out.back().first += mul;
    else
      out.emplace_back(mul, l);
  return out;
}

struct PlainProduct {
  struct Path {
    std::size_t in, edge, out;
    double factor;
  };
  Blocks in, edge, out;
  std::vector<Path> paths;
  PlainProduct() = default;
  PlainProduct(Blocks from, int lmax) : in(std::move(from)) {
    for (int l = 0; l <= lmax; ++l) edge.emplace_back(1, l);
    for (int l3 = 0; l3 <= lmax; ++l3)
      for (std::size_t a = 0; a < in.size(); ++a)
        for (int l2 = 0; l2 <= lmax; ++l2) {
          const int l1 = in[a].second;
          if (l3 < std::abs(l1 - l2) || l3 > l1 + l2 || (l1 + l2 + l3) % 2) continue;
          paths.push_back({a, static_cast<std::size_t>(l2), out.size(), 0.5 + 0.1 * static_cast<double>(paths.size())});
          out.emplace_back(in[a].first, l3);
        }
  }
  std::size_t weights() const { return paths.size() * static_cast<std::size_t>(in[0].first); }
  void add(const Values& x, const Values& y, const Values& w, Values& to) const {
    std::size_t used = 0;
    for (const Path& path : paths) {
      const int l1 = in[path.in].second, l2 = edge[path.edge].second, l3 = out[path.out].second;
      const auto symbols = mace::wigner_3j(l1, l2, l3);
      for (int u = 0; u < in[path.in].first; ++u, ++used) {
        std::size_t at = 0;
        for (int i = 0; i <= 2 * l1; ++i)
          for (int j = 0; j <= 2 * l2; ++j)
            for (int k = 0; k <= 2 * l3; ++k, ++at)
              to[static_cast<std::size_t>(start_of(out, path.out) + u * (2 * l3 + 1) + k)] +=
                  path.factor * symbols[at] * w[used] *
                  x[static_cast<std::size_t>(start_of(in, path.in) + u * (2 * l1 + 1) + i)] *
                  y[static_cast<std::size_t>(l2 * l2 + j)];
      }
    }
  }
  std::string pickle(PickleWriter& p) const {
    std::vector<std::string> instructions;
    for (const Path& path : paths)
      instructions.push_back(p.tuple({p.integer(static_cast<int>(path.in)), p.integer(static_cast<int>(path.edge)),
                                      p.integer(static_cast<int>(path.out)), p.text("uvu"), p.boolean(true),
                                      p.real(path.factor), p.tuple({})}));
    return p.module("TensorProduct", {{"irreps_in1", p.irreps(in)},
                                      {"irreps_in2", p.irreps(edge)},
                                      {"irreps_out", p.irreps(out)},
                                      {"instructions", p.tuple(instructions)}});
  }
};

/// Fully connected product with the species: weights [u][species][w] of each pair of blocks of one degree.
struct PlainSkip {
  Blocks in, out;
  int species = 0;
  double factor = 0.0;
  bool standard = false;  ///< the factors of e3nn instead
  Values weight;
  PlainSkip() = default;
  PlainSkip(Blocks from, Blocks to, int n, RandomNumbers& random)
      : in(std::move(from)), out(std::move(to)), species(n), factor(1.1 * std::min(1.0, 2.0 / std::sqrt(in[0].first))) {
    std::size_t count = 0;
    for (const auto& [a, l] : in)
      for (const auto& [b, k] : out) count += l == k ? static_cast<std::size_t>(a * n * b) : 0;
    weight = random(count);
  }
  double factor_of(std::size_t a) const {
    return standard ? std::sqrt((2 * in[a].second + 1) / static_cast<double>(in[a].first * species)) : factor;
  }
  Values operator()(const Values& x, int s) const {
    Values y(static_cast<std::size_t>(size_of(out)), 0.0);
    std::size_t used = 0;
    for (std::size_t a = 0; a < in.size(); ++a)
      for (std::size_t b = 0; b < out.size(); ++b) {
        if (in[a].second != out[b].second) continue;
        const int n = 2 * in[a].second + 1;
        for (int u = 0; u < in[a].first; ++u)
          for (int v = 0; v < species; ++v)
            for (int w = 0; w < out[b].first; ++w, ++used)
              for (int m = 0; m < n && v == s; ++m)
                y[static_cast<std::size_t>(start_of(out, b) + w * n + m)] +=
                    factor_of(a) / std::sqrt(n) * weight[used] *
                    x[static_cast<std::size_t>(start_of(in, a) + u * n + m)];
      }
    return y;
  }
  std::string pickle(PickleWriter& p) const {
    std::vector<std::string> instructions;
    for (int a = 0; a < static_cast<int>(in.size()); ++a)
      for (int b = 0; b < static_cast<int>(out.size()); ++b)
        if (in[static_cast<std::size_t>(a)].second == out[static_cast<std::size_t>(b)].second)
          instructions.push_back(p.tuple({p.integer(a), p.integer(0), p.integer(b), p.text("uvw"), p.boolean(true),
                                          p.real(factor_of(static_cast<std::size_t>(a))), p.tuple({})}));
    return p.module("FullyConnectedTensorProduct",
                    {{"weight", p.tensor({static_cast<std::int64_t>(weight.size())}, weight)},
                     {"irreps_in1", p.irreps(in)},
                     {"irreps_in2", p.irreps({{species, 0}})},
                     {"irreps_out", p.irreps(out)},
                     {"instructions", p.tuple(instructions)}});
  }
};

}  // namespace cambium::test
