// Streaming along a dimension of configuration space: what flows in through the upwind face, out through the other, and
// the volume term. The velocity acts on velocity factors only, so the derivative comes first and v multiplies its
// result.
#include <cmath>

#include "kernels.hpp"
#include "legendre.hpp"

namespace kinetic_generate {

int Writer::with(int mode, int dimension, int n) const {
  Exponents e = basis_.exponents(mode);
  e[dimension] = n;
  return basis_.find(e);
}

std::vector<Term> Writer::trace_terms(int dimension, int face_mode, int s, const std::string& array) const {
  std::vector<Term> terms;
  for (int n = 0; n <= basis_.highest(dimension); ++n)
    if (const int mode = with(face_mode, dimension, n); mode >= 0)
      terms.push_back({(n % 2 ? s : 1) * std::sqrt(2.0 * n + 1.0), {at(array, mode)}});
  return terms;
}

std::vector<Term> Writer::times_velocity(int e, int mode, const std::string& centre, const Names& half,
                                         const Names& y) const {
  std::vector<Term> terms;
  const int degree = basis_.exponents(mode)[basis_.cdim + e];
  for (int n = degree - 1; n <= degree + 1; ++n) {
    const int from = n < 0 ? -1 : with(mode, basis_.cdim + e, n);
    if (from < 0 || y[from].empty()) continue;
    terms.push_back({1.0, {n == degree ? centre : half[std::min(n, degree)], y[from]}});
  }
  return terms;
}

/// t = sqrt(2) f on the face at the end `s` (+1 or -1) of a dimension.
Kernel Writer::trace(int dimension) const {
  Kernel k{"trace" + std::to_string(dimension), {}};
  k.code.open("KINETIC_SMALL static void " + k.name + "(const T* __restrict f, S s, T* __restrict t)");
  k.code.line("const T s1 = T(" + scalar(std::sqrt(3.0)) + " * s);");
  const auto face = basis_.face(dimension);
  for (std::size_t j = 0; j < face.size(); ++j) {
    std::vector<Term> terms;
    for (int n = 0; n <= basis_.highest(dimension); ++n)
      if (const int mode = with(face[j], dimension, n); mode >= 0) {
        if (n == 1)
          terms.push_back({1.0, {"s1", at("f", mode)}});
        else
          terms.push_back({std::sqrt(2.0 * n + 1.0), {at("f", mode)}});
      }
    k.code.assign(at("t", static_cast<int>(j)), "=", terms);
  }
  k.code.close();
  return k;
}

static void declare_velocity(Code& code, const std::string& name, const std::string& factor, int degrees) {
  code.line("const T " + name + " = T(" + factor + " * w);");
  for (int n = 0; n < degrees; ++n)
    code.line("[[maybe_unused]] const T " + name + std::to_string(n) + " = T(" + scalar(times_xi(n, n + 1).value()) +
              " * " + factor + " * h);");
}

/// For the stage's two distribution functions, as base + b (f - base), with one rounding of a small term: rounded 1/3
/// and 2/3 add up to more than 1 in float32, and rounded products with them have one sign, so that particles would be
/// gained or lost step by step.
static void declare_combination(Code& code, const std::string& name, const std::string& f, const std::string& base) {
  code.line("T " + name + ";");
  code.line("if constexpr (Based) " + name + " = " + base + " + T(b) * (" + f + " - " + base + ");");
  code.line("else " + name + " = T(b) * " + f + ";");
}

/// out = b f + (1 - b) base (for d = 0; without a base b f alone) or out += ..., plus streaming along d with the
/// velocity w + h xi; s is its sign and t the trace of the upwind cell. With q = s sqrt(3) f_1 + sqrt(5) f_2, the own
/// trace is f_0 + q:
///   n = 0: s v (t - f_0 - q),  n = 1: sqrt(3) v (f_0 - q - t),  n = 2: s v (sqrt(5) (t - f_0 - q) + 2 sqrt(15) s f_1).
Kernel Writer::stream(int d) const {
  Kernel k{"stream" + std::to_string(d), {}};
  auto& code = k.code;
  const auto& b = basis_;
  const std::string tail = "const T* __restrict t, S w, S h, S s, T* out)";
  const std::string based = "template <bool Based> ", combined = "const T* base, S b, ";
  code.open((d ? "" : based) + "KINETIC_LARGE static void " + k.name + "(const T* __restrict f, " +
            (d ? "" : combined) + tail);
  const int high = b.highest(d), degrees = b.highest(b.cdim + d);
  declare_velocity(code, "even", "s", degrees);
  declare_velocity(code, "odd", scalar(std::sqrt(3.0)), degrees);
  code.line("const T s1 = T(" + scalar(std::sqrt(3.0)) + " * s);");
  if (high > 1) code.line("const T s2 = T(" + scalar(2.0 * std::sqrt(15.0)) + " * s);");
  const auto face = b.face(d);
  Names y[3];
  for (auto& names : y) names.resize(b.modes());
  auto derivative_of = [&](int j) {
    const int f0 = face[j], f1 = with(f0, d, 1), f2 = with(f0, d, 2);
    const std::string n = std::to_string(j), from = at("f", f0), t = at("t", j);
    std::vector<Term> q;
    if (f1 >= 0) q.push_back({1.0, {"s1", at("f", f1)}});
    if (f2 >= 0) q.push_back({std::sqrt(5.0), {at("f", f2)}});
    code.assign("const T q" + n, "=", q);
    code.assign("const T z" + n, "=", {{1.0, {t}}, {-1.0, {from}}, {-1.0, {"q" + n}}});
    code.assign("[[maybe_unused]] const T y" + n, "=", {{1.0, {from}}, {-1.0, {"q" + n}}, {-1.0, {t}}});
    y[0][f0] = "z" + n, y[1][f0] = "y" + n;
    if (high < 2) return;
    std::vector<Term> second{{std::sqrt(5.0), {"z" + n}}};
    if (f1 >= 0) second.push_back({1.0, {"s2", at("f", f1)}});
    code.assign("[[maybe_unused]] const T x" + n, "=", second);
    y[2][f0] = "x" + n;
  };
  auto result_of = [&](int j) {
    for (int n = 0; n <= high; ++n) {
      const int mode = with(face[j], d, n);
      if (mode < 0) continue;
      const std::string v = n % 2 ? "odd" : "even";
      const auto terms = times_velocity(d, face[j], v, {v + "0", v + "1"}, y[n]);
      if (d == 0) {
        const std::string o = "o" + std::to_string(mode);
        declare_combination(code, o, at("f", mode), at("base", mode));
        code.assign(o, "+=", terms);
        code.line(at("out", mode) + " = " + o + ";");
      } else {
        code.assign(at("out", mode), "+=", terms);
      }
    }
  };
  for (std::size_t j = 0; j < face.size(); ++j) {  // line by line along the velocity, so that few values are alive
    if (b.exponents(face[j])[b.cdim + d] != 0) continue;
    std::vector<int> line;
    for (int n = 0; n <= degrees; ++n)
      for (std::size_t i = 0; i < face.size(); ++i)
        if (face[i] == with(face[j], b.cdim + d, n)) line.push_back(static_cast<int>(i));
    for (int i : line) derivative_of(i);
    for (int i : line) result_of(i);
  }
  code.close();
  return k;
}

/// The inflow part of stream only.
Kernel Writer::inflow(int d) const {
  Kernel k{"inflow" + std::to_string(d), {}};
  auto& code = k.code;
  const auto& b = basis_;
  code.open("KINETIC_LARGE static void " + k.name + "(const T* __restrict t, S w, S h, S s, T* __restrict out)");
  const auto face = b.face(d);
  const int degrees = b.highest(b.cdim + d);
  declare_velocity(code, "v", "S(1.0)", degrees);
  Names values(b.modes());
  for (std::size_t j = 0; j < face.size(); ++j) values[face[j]] = at("t", static_cast<int>(j));
  for (std::size_t j = 0; j < face.size(); ++j) {
    const std::string n = std::to_string(j);
    code.assign("const T odd" + n, "=", times_velocity(d, face[j], "v", {"v0", "v1"}, values));
    code.line("const T even" + n + " = T(s) * odd" + n + ";");
    for (int m = 0; m <= b.highest(d); ++m)
      if (const int mode = with(face[j], d, m); mode >= 0)
        code.assign(at("out", mode),
                    "+=", {{(m % 2 ? -1.0 : 1.0) * std::sqrt(2.0 * m + 1.0), {(m % 2 ? "odd" : "even") + n}}});
  }
  code.close();
  return k;
}

}  // namespace kinetic_generate
