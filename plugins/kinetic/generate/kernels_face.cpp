// Terms on the faces of a cell: traces, upwind streaming, penalty flux of the acceleration.
#include <algorithm>

#include "kernels.hpp"
#include "legendre.hpp"

namespace kinetic_generate {

/// t = f on the face at the end `s` (+1 or -1) of a dimension.
Kernel Writer::trace(int dimension) const {
  Kernel k{"trace" + std::to_string(dimension), {}};
  const auto& b = basis_;
  k.code.open("KINETIC_SMALL static void " + k.name + "(const T* __restrict f, T s, T* __restrict t)");
  k.code.assign("const T s1", "=", {{edge_value(1).value(), {"s"}}});
  const auto face = b.face(dimension);
  for (std::size_t j = 0; j < face.size(); ++j) {
    std::vector<Term> terms;
    for (int n = 0; n <= b.highest(dimension); ++n) {
      Exponents e = b.exponents(face[j]);
      e[dimension] = n;
      const int mode = b.find(e);
      if (mode < 0) continue;
      if (n == 1) terms.push_back({1.0, {"s1", at("f", mode)}});
      else if (n % 2) terms.push_back({edge_value(n).value(), {"s", at("f", mode)}});
      else terms.push_back({edge_value(n).value(), {at("f", mode)}});
    }
    k.code.assign(at("t", static_cast<int>(j)), "=", terms);
  }
  k.code.close();
  return k;
}

/// Writes out += lift of the fluxes: `even` names psi_n even in that dimension's factor, `odd` the other.
static void write_lift(Code& code, const Basis& b, int dimension, const std::string& even, const std::string& odd) {
  const auto face = b.face(dimension);
  for (std::size_t j = 0; j < face.size(); ++j)
    for (int n = 0; n <= b.highest(dimension); ++n) {
      Exponents e = b.exponents(face[j]);
      e[dimension] = n;
      const int mode = b.find(e);
      if (mode < 0) continue;
      const std::string flux = (n % 2 ? odd : even) + std::to_string(j);
      code.assign(at("out", mode), "+=", {{(n % 2 ? -1.0 : 1.0) * edge_value(n).value(), {flux}}});
    }
}

/// Both faces across configuration dimension d: what flows out through the face at s, and in through the other, where the
/// upwind cell's trace is t. With G = v t: out -= s psi(s) G_own, out += s psi(-s) G_in.
Kernel Writer::stream(int d) const {
  Kernel k{"stream" + std::to_string(d), {}};
  auto& code = k.code;
  const auto face = basis_.face(d);
  code.open("KINETIC_LARGE static void " + k.name +
            "(const T* __restrict f, const T* __restrict t, const T* W, const T* H, T s, T* __restrict out)");
  code.line("T own[" + std::to_string(face.size()) + "];");
  code.line("trace" + std::to_string(d) + "(f, s, own);");
  const Kernel own = trace(d);
  code.multiplications += own.code.multiplications, code.additions += own.code.additions;
  code.nonzeros += own.code.nonzeros;
  std::vector<std::string> minus(basis_.modes()), plus(basis_.modes());
  for (std::size_t j = 0; j < face.size(); ++j) {
    const std::string n = std::to_string(j);
    minus[face[j]] = "m" + n, plus[face[j]] = "p" + n;
    code.assign("const T m" + n, "=", {{1.0, {at("t", static_cast<int>(j))}}, {-1.0, {at("own", static_cast<int>(j))}}});
    code.assign("const T p" + n, "=", {{1.0, {at("t", static_cast<int>(j))}}, {1.0, {at("own", static_cast<int>(j))}}});
  }
  for (std::size_t j = 0; j < face.size(); ++j) {
    const int g = basis_.group_of(face[j]), a = face[j] - basis_.first[g];
    code.assign("const T x" + std::to_string(j), "=", times_velocity(d, g, a, minus));
    code.assign("const T even" + std::to_string(j), "=", {{1.0, {"s", "x" + std::to_string(j)}}});
    code.assign("const T odd" + std::to_string(j), "=", times_velocity(d, g, a, plus));
  }
  write_lift(code, basis_, d, "even", "odd");
  code.close();
  return k;
}

/// The part of stream that comes from outside alone.
Kernel Writer::inflow(int d) const {
  Kernel k{"inflow" + std::to_string(d), {}};
  auto& code = k.code;
  const auto face = basis_.face(d);
  code.open("KINETIC_LARGE static void " + k.name +
            "(const T* __restrict t, const T* W, const T* H, T s, T* __restrict out)");
  const auto values = names("t", face);
  for (std::size_t j = 0; j < face.size(); ++j) {
    const int g = basis_.group_of(face[j]), a = face[j] - basis_.first[g];
    code.assign("const T odd" + std::to_string(j), "=", times_velocity(d, g, a, values));
    code.assign("const T even" + std::to_string(j), "=", {{1.0, {"s", "odd" + std::to_string(j)}}});
  }
  write_lift(code, basis_, d, "even", "odd");
  code.close();
  return k;
}

/// G = E (tl + tu)/2 - lambda (tu - tl), lambda being half the largest speed; mean receives (tl + tu)/2.
Kernel Writer::flux(int d) const {
  Kernel k{"flux" + std::to_string(d), {}};
  auto& code = k.code;
  const auto& b = basis_;
  const auto face = b.face(b.cdim + d);
  code.open("KINETIC_LARGE static void " + k.name +
            "(const T* __restrict tl, const T* __restrict tu, const T* __restrict E, T lambda, T* __restrict mean, T* __restrict G)");
  std::vector<int> place(b.modes(), -1);
  for (std::size_t j = 0; j < face.size(); ++j) place[face[j]] = static_cast<int>(j);
  for (int j = 0; j < static_cast<int>(face.size()); ++j)
    code.assign(at("mean", j), "=", {{0.5, {at("tl", j)}}, {0.5, {at("tu", j)}}});
  for (int j = 0; j < static_cast<int>(face.size()); ++j) {
    const int g = b.group_of(face[j]), a = face[j] - b.first[g];
    const std::string jump = "j" + std::to_string(j);
    code.assign("const T " + jump, "=", {{1.0, {at("tl", j)}}, {-1.0, {at("tu", j)}}});
    std::vector<Term> terms{{1.0, {"lambda", jump}}};
    for (int m = 0; m < b.count[g]; ++m)
      terms.push_back({1.0, {at("E", d * matrix_size() + matrix_entry(a, m)), at("mean", place[b.first[g] + m])}});
    code.assign(at("G", j), "=", terms);
  }
  code.close();
  return k;
}

/// G += (v_e B) mean, for every e.
Kernel Writer::flux_magnetic(int d) const {
  Kernel k{"flux_magnetic" + std::to_string(d), {}};
  auto& code = k.code;
  const auto& b = basis_;
  code.open("KINETIC_LARGE static void " + k.name +
            "(const T* __restrict mean, const T* W, const T* H, const T* __restrict B, T* __restrict G)");
  code.line("(void)mean, (void)W, (void)H, (void)B, (void)G;");
  const auto face = b.face(b.cdim + d);
  const auto values = names("mean", face);
  const int conf = static_cast<int>(b.conf.size());
  for (int g = 0; g < static_cast<int>(b.group.size()); ++g) {
    if (b.group[g][d]) continue;
    std::vector<std::vector<Term>> sums(b.count[g]);
    for (std::size_t p = 0; p < pairs().size(); ++p) {
      if (pairs()[p].first != d) continue;
      const int e = pairs()[p].second;
      for (int m = 0; m < conf; ++m) {
        const auto product = times_velocity(e, g, m, values);
        if (product.empty()) continue;
        const std::string u = "u" + std::to_string(e) + "_" + std::to_string(g) + "_" + std::to_string(m);
        code.assign("const T " + u, "=", product);
        for (int a = 0; a < b.count[g]; ++a)
          sums[a].push_back({1.0, {at("B", static_cast<int>(p) * matrix_size() + matrix_entry(a, m)), u}});
      }
    }
    for (int a = 0; a < b.count[g]; ++a) {
      const auto place = std::find(face.begin(), face.end(), b.first[g] + a) - face.begin();
      code.assign(at("G", static_cast<int>(place)), "+=", sums[a]);
    }
  }
  code.close();
  return k;
}

/// out += psi(-1) Gl - psi(+1) Gu.
Kernel Writer::lift(int d) const {
  Kernel k{"lift" + std::to_string(d), {}};
  auto& code = k.code;
  const auto face = basis_.face(basis_.cdim + d);
  code.open("KINETIC_LARGE static void " + k.name + "(const T* __restrict Gl, const T* __restrict Gu, T* __restrict out)");
  for (int j = 0; j < static_cast<int>(face.size()); ++j) {
    code.assign("const T even" + std::to_string(j), "=", {{1.0, {at("Gl", j)}}, {-1.0, {at("Gu", j)}}});
    code.assign("const T odd" + std::to_string(j), "=", {{1.0, {at("Gl", j)}}, {1.0, {at("Gu", j)}}});
  }
  write_lift(code, basis_, basis_.cdim + d, "even", "odd");
  code.close();
  return k;
}

}  // namespace kinetic_generate
