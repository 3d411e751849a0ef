#pragma once
// The symmetric contraction of the random model, by its tensors U as they stand in the archive.
#include "tests/plugins/mace/random_model.hpp"

namespace cambium::test {

/// Tensors U of one degree of the result: each power's paths are couplings of degrees one after the other.
struct PlainContraction {
  int l = 0, lmax = 0, correlation = 0, channels = 0, species = 0;
  std::vector<Values> u;  ///< of each power from 1: [component][i1]..[path]
  std::vector<int> paths;
  std::vector<Values> weight;  ///< [species][path][channel]
  PlainContraction(int degree, int most, int powers, int width, int kinds, RandomNumbers& random)
      : l(degree), lmax(most), correlation(powers), channels(width), species(kinds) {
    for (int power = 1; power <= correlation; ++power) {
      const std::vector<Values> found = couplings(power, l);
      paths.push_back(static_cast<int>(found.size()));
      Values all;
      for (std::size_t k = 0; !found.empty() && k < found[0].size(); ++k)
        for (const Values& one : found) all.push_back(one[k]);
      u.push_back(all);
      weight.push_back(random(static_cast<std::size_t>(species * paths.back() * channels), 0.3));
    }
  }
  int components() const { return (lmax + 1) * (lmax + 1); }
  /// Tensors [component of the result][i1]..[i_power] that turn with their indices, of even parity.
  std::vector<Values> couplings(int power, int degree) const {
    const int n = components(), wide = 2 * degree + 1;
    std::vector<Values> out;
    if (power == 1) {
      if (degree > lmax) return out;
      Values one(static_cast<std::size_t>(wide * n), 0.0);
      for (int m = 0; m < wide; ++m) one[static_cast<std::size_t>(m * n + degree * degree + m)] = 1.0;
      return {one};
    }
    int inner_size = 1;
    for (int k = 1; k < power; ++k) inner_size *= n;
    for (int a = 0; a <= (power - 1) * lmax; ++a)
      for (int b = 0; b <= lmax; ++b) {
        if (degree < std::abs(a - b) || degree > a + b || (power == 2 && (a + b + degree) % 2)) continue;
        const auto symbols = mace::wigner_3j(a, b, degree);
        for (const Values& inner : couplings(power - 1, a)) {
          Values one(static_cast<std::size_t>(wide * inner_size * n), 0.0);
          for (int i = 0; i <= 2 * a; ++i)
            for (int j = 0; j <= 2 * b; ++j)
              for (int m = 0; m < wide; ++m)
                for (int r = 0; r < inner_size; ++r)
                  one[static_cast<std::size_t>((m * inner_size + r) * n + b * b + j)] +=
                      symbols[static_cast<std::size_t>((i * (2 * b + 1) + j) * wide + m)] *
                      inner[static_cast<std::size_t>(i * inner_size + r)];
          out.push_back(one);
        }
      }
    return out;
  }
  /// x: [channel][component] with blocks of channels, as e3nn stores it; result [channel][component].
  Values operator()(const Values& x, int s) const {
    const int n = components(), wide = 2 * l + 1;
    Values y(static_cast<std::size_t>(channels * wide), 0.0);
    for (int power = 1; power <= correlation; ++power) {
      const std::size_t k = static_cast<std::size_t>(power - 1);
      for (std::size_t at = 0; at < u[k].size(); ++at) {
        if (u[k][at] == 0.0) continue;
        const int path = static_cast<int>(at) % paths[k];
        int rest = static_cast<int>(at) / paths[k];
        for (int c = 0; c < channels; ++c) {
          double product = u[k][at] * weight[k][static_cast<std::size_t>((s * paths[k] + path) * channels + c)];
          int index = rest;
          for (int d = 0; d < power; ++d, index /= n) {
            const int i = index % n, degree = static_cast<int>(std::sqrt(i)), size = 2 * degree + 1;
            product *= x[static_cast<std::size_t>(channels * degree * degree + c * size + i - degree * degree)];
          }
          y[static_cast<std::size_t>(c * wide + index)] += product;
        }
      }
    }
    return y;
  }
  std::string pickle(PickleWriter& p) const {
    PickleWriter::Members members, lower;
    for (int power = 1; power <= correlation; ++power) {
      const std::size_t k = static_cast<std::size_t>(power - 1);
      std::vector<std::int64_t> shape;
      if (l > 0) shape.push_back(2 * l + 1);
      for (int d = 0; d < power; ++d) shape.push_back(components());
      shape.push_back(paths[k]);
      members.emplace_back("U_matrix_" + std::to_string(power), p.tensor(shape, u[k]));
      const std::string w = p.tensor({species, paths[k], channels}, weight[k]);
      if (power == correlation)
        members.emplace_back("weights_max", w);
      else
        lower.emplace_back(std::to_string(correlation - power - 1), w);
    }
    members.emplace_back("weights", p.module("ParameterList", lower));
    return p.module("Contraction", members);
  }
};

}  // namespace cambium::test
