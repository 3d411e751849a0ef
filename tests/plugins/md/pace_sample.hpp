#pragma once
// Files of the pair style `pace` with invented numbers, whose energies are invariant under rotations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace cambium::test {

inline double factorial(int n) { return std::tgamma(n + 1.0); }

/// <a i b j | c k>, by Racah's sum.
inline double clebsch_gordan(int a, int i, int b, int j, int c, int k) {
  if (i + j != k || c < std::abs(a - b) || c > a + b || std::abs(k) > c) return 0.0;
  double sum = 0.0;
  for (int s = 0; s <= a + b - c; ++s) {
    const int terms[5] = {a + b - c - s, a - i - s, b + j - s, c - b + i + s, c - a - j + s};
    bool known = true;
    for (const int t : terms) known = known && t >= 0;
    if (!known) continue;
    double term = (s % 2 ? -1.0 : 1.0) / factorial(s);
    for (const int t : terms) term /= factorial(t);
    sum += term;
  }
  return sum * std::sqrt((2 * c + 1) * factorial(a + b - c) * factorial(a - b + c) * factorial(b - a + c) /
                         factorial(a + b + c + 1) * factorial(a + i) * factorial(a - i) * factorial(b + j) *
                         factorial(b - j) * factorial(c + k) * factorial(c - k));
}

/// Products of an invariant and their coefficients: degrees l are coupled one after the other to `inner`, degrees of
/// the first two, three, ...; the last of them is that of the last factor.
struct PaceInvariant {
  std::vector<int> types, n, l, inner;

  void couple(std::size_t k, int degree, int order, double c, std::vector<int>& m, std::vector<int>& all,
              std::vector<double>& out) const {
    if (k + 1 == l.size()) {
      m.push_back(-order);
      if (degree == l[k] && c != 0.0) {
        all.insert(all.end(), m.begin(), m.end());
        out.push_back(order % 2 ? -c : c);
      }
      m.pop_back();
      return;
    }
    for (int j = -l[k]; j <= l[k]; ++j) {
      const int next = k == 0 ? l[0] : inner[k - 1];
      if (std::abs(order + j) > next) continue;
      m.push_back(j);
      couple(k + 1, next, order + j, k == 0 ? c : c * clebsch_gordan(degree, order, l[k], j, next, order + j), m, all,
             out);
      m.pop_back();
    }
  }
};

struct PaceSample {
  std::vector<std::string> symbols;
  std::vector<std::string> embeddings, bonds;  ///< flow maps
  std::vector<std::vector<PaceInvariant>> functions;
  std::vector<int> densities;

  void write(const std::string& path) const {
    std::ofstream file(path);
    file << fmt::format("elements: [{}]\nE0: [", fmt::join(symbols, ", "));
    for (std::size_t t = 0; t < symbols.size(); ++t) file << (t ? ", " : "") << -1.5 - 0.25 * t;
    file << "]\ndeltaSplineBins: 0.001\nembeddings:\n";
    for (std::size_t t = 0; t < symbols.size(); ++t) file << fmt::format("  {}: {{{}}}\n", t, embeddings[t]);
    file << "bonds:\n";
    for (std::size_t b = 0; b < bonds.size(); ++b)
      file << fmt::format("  [{}, {}]: {{{}}}\n", b / symbols.size(), b % symbols.size(), bonds[b]);
    file << "functions:\n";
    for (std::size_t t = 0; t < symbols.size(); ++t) {
      file << fmt::format("  {}:\n", t);
      for (std::size_t f = 0; f < functions[t].size(); ++f) write_function(file, static_cast<int>(t), f);
    }
  }

 private:
  void write_function(std::ofstream& file, int type, std::size_t number) const {
    const auto& one = functions[type][number];
    std::vector<int> m, all, n = one.n;
    std::vector<double> c, by_density;
    one.couple(0, 0, 0, 1.0, m, all, c);
    for (int& k : n) ++k;
    for (const double x : c)
      for (int p = 0; p < densities[type]; ++p) by_density.push_back(x * scale(number, p));
    file << fmt::format(
        "    - {{mu0: {}, rank: {}, ndensity: {}, num_ms_combs: {}, mus: [{}], ns: [{}], ls: [{}], ms_combs: [{}], "
        "ctildes: [{:.17g}]}}\n",
        type, one.l.size(), densities[type], c.size(), fmt::join(one.types, ", "), fmt::join(n, ", "),
        fmt::join(one.l, ", "), fmt::join(all, ", "), fmt::join(by_density, ", "));
  }

  static double scale(std::size_t number, int p) { return 0.2 * std::sin(1.7 * (number + 1.0) + 2.3 * p) + 0.05; }
};

/// Coefficients of radial functions (n, l, k) as text.
inline std::string pace_coefficients(int n_max, int l_max, int basis, double phase) {
  std::string out = "[";
  for (int n = 0; n < n_max; ++n) {
    out += n ? ", [" : "[";
    for (int l = 0; l <= l_max; ++l) {
      out += l ? ", [" : "[";
      for (int k = 0; k < basis; ++k)
        out += fmt::format("{}{:.12f}", k ? ", " : "", 0.6 * std::sin(phase + 2.1 * n + 1.3 * l + 0.7 * k * k));
      out += "]";
    }
    out += "]";
  }
  return out + "]";
}

}  // namespace cambium::test
