// Acceleration along a dimension of velocity space: mean flux with a penalty through the upper face, volume term, and
// both faces' contributions to the cell, in one kernel.
//
// Along d the acceleration is A(x) + sum_e xi_e X_e(x), with A = E + sum_e W_e B_e taken at the cell's centre: the
// velocity enters the matrix, not each product with f. X_e is B_e times the half width and the coupling of degrees 0
// and 1.
//
// For large matrices, loads cost as much as arithmetic: products are written group by group, and each entry of a
// symmetric matrix is loaded once for both of its positions.
#include <cmath>

#include "kernels.hpp"
#include "legendre.hpp"

namespace kinetic_generate {

std::vector<std::pair<int, int>> Writer::pairs() const {
  std::vector<std::pair<int, int>> out;
  for (int d = 0; d < basis_.vdim; ++d)
    for (int e = 0; e < basis_.vdim; ++e)
      if (d != e) out.push_back({d, e});
  return out;
}

/// A0, A1, ... = E + sum_e W_e B_e: the matrix of the acceleration along d at the centre of the cell.
void Writer::write_matrix(Code& code, int d) const {
  const auto all = pairs();
  for (const auto& [along, e] : all)
    if (along == d) code.line("[[maybe_unused]] const T w" + std::to_string(e) + " = T(W[" + std::to_string(e) + "]);");
  for (int i = 0; i < matrix_size(); ++i) {
    const std::string name = "A" + std::to_string(i);
    code.line("T " + name + " = " + at("E", i) + ";");
    std::vector<Term> terms;
    for (std::size_t p = 0; p < all.size(); ++p)
      if (all[p].first == d)
        terms.push_back({1.0, {"w" + std::to_string(all[p].second), at("B", static_cast<int>(p) * matrix_size() + i)}});
    if (terms.empty()) continue;
    code.line("if constexpr (M)");
    code.assign(name, "+=", terms);
  }
}

/// Index of the name of a value at (group, conf mode): a product with xi may have conf modes that its group lacks.
int Writer::slot(int group, int a) const { return group * static_cast<int>(basis_.conf.size()) + a; }

std::vector<Writer::Names> Writer::couplings(Code& code, int d, const std::string& prefix, const Names& y,
                                             const std::vector<bool>& wanted) const {
  const auto all = pairs();
  const auto& b = basis_;
  const int conf = static_cast<int>(b.conf.size());
  const double ratio = times_xi(1, 2).value() / times_xi(0, 1).value();
  std::vector<Names> out(all.size(), Names(b.group.size() * conf));
  for (std::size_t p = 0; p < all.size(); ++p)
    for (std::size_t g = 0; g < b.group.size(); ++g) {
      if (all[p].first != d || !wanted[g]) continue;
      const int degree = b.group[g][all[p].second];
      for (int a = 0; a < conf; ++a) {
        std::vector<Term> terms;
        for (int n : {degree - 1, degree + 1}) {
          Exponents e = b.group[g];
          e[all[p].second] = n;
          const int from = n < 0 ? -1 : b.find_group(e);
          if (from >= 0 && a < b.count[from])
            terms.push_back({std::min(n, degree) ? ratio : 1.0, {y[b.first[from] + a]}});
        }
        std::string name = prefix + std::to_string(p) + "_" + std::to_string(g) + "_" + std::to_string(a);
        if (terms.size() == 1 && terms[0].constant == 1.0)
          name = terms[0].factors[0];
        else if (!terms.empty())
          code.assign("[[maybe_unused]] const T " + name, "=", terms);
        if (!terms.empty()) out[p][slot(static_cast<int>(g), a)] = name;
      }
    }
  return out;
}

/// targets[i] += sum_j of the symmetric matrix's entries (i, j) times columns[j], "" where absent.
void Writer::multiply(Code& code, const std::string& matrix, int offset, const std::vector<std::string>& targets,
                      const std::vector<std::string>& columns) const {
  const int rows = static_cast<int>(targets.size()), conf = static_cast<int>(basis_.conf.size());
  for (int i = 0; i < conf; ++i)
    for (int j = i; j < conf; ++j) {
      const bool upper = i < rows && !columns[j].empty(), lower = i != j && j < rows && !columns[i].empty();
      if (!upper && !lower) continue;
      const std::string h =
          matrix == "A" ? "A" + std::to_string(matrix_entry(i, j)) : at(matrix, offset + matrix_entry(i, j));
      code.line("{ const T h = " + h + ";");
      if (upper) code.assign(targets[i], "+=", {{1.0, {"h", columns[j]}}});
      if (lower) code.assign(targets[j], "+=", {{1.0, {"h", columns[i]}}});
      code.line("}");
    }
}

void Writer::accelerate(Code& code, int d, const std::vector<std::string>& targets, int g, const Names& y,
                        const std::vector<Names>& xi) const {
  const int conf = static_cast<int>(basis_.conf.size());
  std::vector<std::string> columns(conf);
  for (int m = 0; m < basis_.count[g]; ++m) columns[m] = y[basis_.first[g] + m];
  multiply(code, "A", 0, targets, columns);
  code.line("if constexpr (M) {");
  const auto all = pairs();
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].first != d) continue;
    for (int m = 0; m < conf; ++m) columns[m] = xi[p][slot(g, m)];
    multiply(code, "X", static_cast<int>(p) * matrix_size(), targets, columns);
  }
  code.line("}");
}

/// `target`j = A (tl + tu) + lambda (tl - tu) on the face across d, from traces called tl j and tu j.
void Writer::write_flux(Code& code, int d, const std::vector<std::string>& tl,
                        const std::vector<std::string>& tu) const {
  const auto& b = basis_;
  const auto face = b.face(b.cdim + d);
  Names sum(b.modes());
  for (std::size_t j = 0; j < face.size(); ++j) {
    const std::string n = std::to_string(j);
    code.assign("const T p" + n, "=", {{1.0, {tl[j]}}, {1.0, {tu[j]}}});
    code.assign("const T m" + n, "=", {{1.0, {tl[j]}}, {-1.0, {tu[j]}}});
    sum[face[j]] = "p" + n;
  }
  std::vector<bool> wanted;
  for (const auto& g : b.group) wanted.push_back(g[d] == 0);
  const auto xi = couplings(code, d, "c", sum, wanted);
  for (std::size_t j = 0; j < face.size();) {  // the modes of a group follow each other
    const int g = b.group_of(face[j]);
    std::vector<std::string> targets;
    for (int a = 0; a < b.count[g]; ++a) {
      const std::string n = std::to_string(j + a);
      targets.push_back("F" + n);
      code.assign("T F" + n, "=", {{1.0, {"lambda", "m" + n}}});
    }
    accelerate(code, d, targets, g, sum, xi);
    for (const auto& t : targets) code.line(at("G", static_cast<int>(j++)) + " = " + t + ";");
  }
}

/// G through a face from the traces on both of its sides.
Kernel Writer::flux(int d) const {
  Kernel k{"flux" + std::to_string(d), {}};
  k.code.open("template <bool M> KINETIC_SMALL static void " + k.name +
              "(const T* tl, const T* tu, const T* E, [[maybe_unused]] const T* B, [[maybe_unused]] const T* X, "
              "[[maybe_unused]] const S* W, T lambda, T* G)");
  write_matrix(k.code, d);
  std::vector<std::string> below, above;
  for (std::size_t j = 0; j < basis_.face(basis_.cdim + d).size(); ++j)
    below.push_back(at("tl", static_cast<int>(j))), above.push_back(at("tu", static_cast<int>(j)));
  write_flux(k.code, d, below, above);
  k.code.close();
  return k;
}

/// out += volume term and both faces, where `below` holds the flux through the lower one. It is replaced by that
/// through the upper one, computed from the cell g above it (zero where g is null).
Kernel Writer::push(int d) const {
  Kernel k{"push" + std::to_string(d), {}};
  auto& code = k.code;
  const auto& b = basis_;
  const int dimension = b.cdim + d;
  const auto face = b.face(dimension);
  code.open("template <bool M> KINETIC_LARGE static void " + k.name +
            "(const T* __restrict f, const T* __restrict g, const T* __restrict E, [[maybe_unused]] const T* "
            "__restrict B, [[maybe_unused]] const T* __restrict X, [[maybe_unused]] const S* W, T lambda, T* "
            "__restrict below, T* __restrict out)");
  write_matrix(code, d);
  code.line("T G[" + std::to_string(face.size()) + "];");
  code.line("if (g) {");
  std::vector<std::string> tl, tu;
  for (std::size_t j = 0; j < face.size(); ++j) {
    tl.push_back("l" + std::to_string(j)), tu.push_back("u" + std::to_string(j));
    code.assign("const T " + tl.back(), "=", trace_terms(dimension, face[j], 1, "f"));
    code.assign("const T " + tu.back(), "=", trace_terms(dimension, face[j], -1, "g"));
  }
  write_flux(code, d, tl, tu);
  code.line("} else {");
  code.line("  for (auto& x : G) x = T(S(0));\n  }");
  std::vector<bool> wanted;
  Names y;
  for (const auto& e : b.group) {
    Exponents next = e;
    ++next[d];
    wanted.push_back(b.find_group(next) >= 0);
  }
  for (int m = 0; m < b.modes(); ++m) y.push_back(at("f", m));
  const auto xi = couplings(code, d, "v", y, wanted);
  for (std::size_t j = 0; j < face.size(); ++j) {
    const std::string n = std::to_string(j);
    code.line("const T L" + n + " = below[" + n + "];");
    code.assign("const T e" + n, "=", {{1.0, {"L" + n}}, {-1.0, {at("G", static_cast<int>(j))}}});
    code.assign("const T o" + n, "=", {{1.0, {"L" + n}}, {1.0, {at("G", static_cast<int>(j))}}});
    code.line("below[" + n + "] = G[" + n + "];");
    for (int degree = 0; degree <= b.highest(dimension); ++degree)
      if (const int mode = with(face[j], dimension, degree); mode >= 0)
        code.assign(at("out", mode), "+=",
                    {{(degree % 2 ? -1.0 : 1.0) * std::sqrt(2.0 * degree + 1.0), {(degree % 2 ? "o" : "e") + n}}});
  }
  for (int g = 0; g < std::ssize(b.group); ++g) {
    if (!wanted[g]) continue;
    Exponents next = b.group[g];
    ++next[d];
    // Among lower degrees, only the one just below has an integral with the derivative.
    const int to = b.find_group(next);
    std::vector<std::string> targets;
    for (int a = 0; a < b.count[to]; ++a) {
      targets.push_back("V" + std::to_string(b.first[to] + a));
      code.line("T " + targets.back() + " = T(S(0));");
    }
    accelerate(code, d, targets, g, y, xi);
    for (int a = 0; a < b.count[to]; ++a)
      code.assign(at("out", b.first[to] + a), "+=", {{4.0 * derivative(next[d], next[d] - 1).value(), {targets[a]}}});
  }
  code.close();
  return k;
}

/// out += the contributions of both faces.
Kernel Writer::lift(int d) const {
  Kernel k{"lift" + std::to_string(d), {}};
  const int dimension = basis_.cdim + d;
  const auto face = basis_.face(dimension);
  k.code.open("KINETIC_SMALL static void " + k.name +
              "(const T* __restrict Gl, const T* __restrict Gu, T* __restrict out)");
  for (std::size_t j = 0; j < face.size(); ++j) {
    const std::string n = std::to_string(j);
    k.code.assign("const T even" + n, "=",
                  {{1.0, {at("Gl", static_cast<int>(j))}}, {-1.0, {at("Gu", static_cast<int>(j))}}});
    k.code.assign("const T odd" + n, "=",
                  {{1.0, {at("Gl", static_cast<int>(j))}}, {1.0, {at("Gu", static_cast<int>(j))}}});
    for (int degree = 0; degree <= basis_.highest(dimension); ++degree)
      if (const int mode = with(face[j], dimension, degree); mode >= 0)
        k.code.assign(
            at("out", mode),
            "+=", {{(degree % 2 ? -1.0 : 1.0) * std::sqrt(2.0 * degree + 1.0), {(degree % 2 ? "odd" : "even") + n}}});
  }
  k.code.close();
  return k;
}

}  // namespace kinetic_generate
