// Rows that are not a right-hand side: multiplication by functions of x as a matrix, moments.
#include "kernels.hpp"
#include "legendre.hpp"

namespace kinetic_generate {

int Writer::matrix_size() const {
  const int n = static_cast<int>(basis_.conf.size());
  return n * (n + 1) / 2;
}

int Writer::matrix_entry(int a, int b) const {
  if (a > b) std::swap(a, b);
  const int n = static_cast<int>(basis_.conf.size());
  return a * n - a * (a - 1) / 2 + b - a;
}

/// Entry (i, j) of the symmetric matrix is sum_c a_c integral(chi_i chi_j chi_c).
Kernel Writer::matrix() const {
  Kernel k{"matrix", {}};
  k.code.open("KINETIC_SMALL static void matrix(const T* a, T* A)");
  const auto& conf = basis_.conf;
  for (std::size_t i = 0; i < conf.size(); ++i)
    for (std::size_t j = i; j < conf.size(); ++j) {
      std::vector<Term> terms;
      for (std::size_t c = 0; c < conf.size(); ++c) {
        Surd s(1);
        for (int d = 0; d < basis_.cdim; ++d) s = s * triple_product(conf[i][d], conf[j][d], conf[c][d]);
        if (!s.zero()) terms.push_back({s.value(), {at("a", static_cast<int>(c))}});
      }
      k.code.assign(at("A", matrix_entry(static_cast<int>(i), static_cast<int>(j))), "=", terms);
    }
  k.code.close();
  return k;
}

/// m += (M0, M1 of each velocity dimension, M2) of a cell per conf mode, in units of sqrt(2)^vdim prod(dv/2); here W
/// and H are centre and half width of the cell, unscaled, and square = sum of W^2 + H^2/3.
Kernel Writer::moments() const {
  Kernel k{"moments", {}};
  const auto& b = basis_;
  k.code.open("KINETIC_SMALL static void moments(const T* f, const S* W, const S* H, S square, T* m)");
  const int conf = static_cast<int>(b.conf.size());
  const double first = xi_moment(1, 1).value() / xi_moment(0, 0).value();
  const double second = xi_moment(2, 2).value() / xi_moment(0, 0).value();
  k.code.line("const T zero = T(square);");
  for (int d = 0; d < b.vdim; ++d) {
    const std::string n = std::to_string(d), w = at("W", d), h = at("H", d);
    k.code.line("const T w" + n + " = T(" + w + "), h" + n + " = T(" + scalar(first) + " * " + h + ");");
    k.code.line("const T one" + n + " = T(" + scalar(2.0 * first) + " * " + w + " * " + h + "), two" + n + " = T(" +
                scalar(second) + " * " + h + " * " + h + ");");
  }
  for (int a = 0; a < conf; ++a) {
    const std::string f0 = at("f", a);
    std::vector<Term> energy{{1.0, {"zero", f0}}};
    for (int d = 0; d < b.vdim; ++d) {
      const std::string n = std::to_string(d);
      std::vector<Term> momentum{{1.0, {"w" + n, f0}}};
      Exponents e(b.vdim, 0);
      e[d] = 1;
      if (const int g = b.find_group(e); a < b.count[g]) {
        momentum.push_back({1.0, {"h" + n, at("f", b.first[g] + a)}});
        energy.push_back({1.0, {"one" + n, at("f", b.first[g] + a)}});
      }
      e[d] = 2;
      if (const int g = b.find_group(e); g >= 0 && a < b.count[g])
        energy.push_back({1.0, {"two" + n, at("f", b.first[g] + a)}});
      k.code.assign(at("m", (1 + d) * conf + a), "+=", momentum);
    }
    k.code.assign(at("m", a), "+=", {{1.0, {f0}}});
    k.code.assign(at("m", (1 + b.vdim) * conf + a), "+=", energy);
  }
  k.code.close();
  return k;
}

}  // namespace kinetic_generate
