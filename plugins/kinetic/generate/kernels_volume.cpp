// Terms inside a cell: volume integrals, multiplication by functions of x, moments.
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

std::vector<std::pair<int, int>> Writer::pairs() const {
  std::vector<std::pair<int, int>> out;
  for (int d = 0; d < basis_.vdim; ++d)
    for (int e = 0; e < basis_.vdim; ++e)
      if (d != e) out.push_back({d, e});
  return out;
}

std::vector<std::string> Writer::names(const std::string& array, const std::vector<int>& modes) const {
  std::vector<std::string> out(basis_.modes());
  for (std::size_t k = 0; k < modes.size(); ++k) out[modes[k]] = at(array, static_cast<int>(k));
  return out;
}

std::vector<Term> Writer::times_velocity(int e, int g, int a, const std::vector<std::string>& values) const {
  std::vector<Term> terms;
  const auto& velocity = basis_.group[g];
  for (int n = 0; n <= basis_.highest(basis_.cdim + e); ++n) {
    const Surd x = times_xi(velocity[e], n);
    Exponents other = velocity;
    other[e] = n;
    const int from = basis_.find_group(other);
    if (from < 0 || a >= basis_.count[from]) continue;
    const std::string& value = values[basis_.first[from] + a];
    if (value.empty()) continue;
    if (n == velocity[e]) terms.push_back({1.0, {at("W", e), value}});
    else if (!x.zero()) terms.push_back({x.value(), {at("H", e), value}});
  }
  return terms;
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

static std::vector<int> all_modes(const Basis& b) {
  std::vector<int> out(b.modes());
  for (int k = 0; k < b.modes(); ++k) out[k] = k;
  return out;
}

/// out = integral of (grad psi).(v, E) f.
Kernel Writer::volume() const {
  Kernel k{"volume", {}};
  auto& code = k.code;
  const auto& b = basis_;
  code.open("KINETIC_LARGE static void volume(const T* __restrict f, const T* W, const T* H, const T* __restrict E, T* __restrict out)");
  code.line("(void)E;");
  const auto f = names("f", all_modes(b));
  for (int mode = 0; mode < b.modes(); ++mode) {
    const int g = b.group_of(mode), a = mode - b.first[g];
    std::vector<Term> out;
    for (int d = 0; d < b.cdim; ++d)
      for (int n = 0; n < b.conf[a][d]; ++n) {
        const Surd s = derivative(b.conf[a][d], n);
        if (s.zero()) continue;
        Exponents e = b.exponents(mode);
        e[d] = n;
        const int from = b.find(e);
        const std::string u = "u" + std::to_string(d) + "_" + std::to_string(from) + "_" + std::to_string(mode);
        code.assign("const T " + u, "=", times_velocity(d, g, from - b.first[g], f));
        out.push_back({s.value(), {u}});
      }
    for (int d = 0; d < b.vdim; ++d)
      for (int n = 0; n < b.group[g][d]; ++n) {
        const Surd s = derivative(b.group[g][d], n);
        if (s.zero()) continue;
        Exponents e = b.group[g];
        e[d] = n;
        const int from = b.find_group(e);
        std::vector<Term> product;
        for (int m = 0; m < b.count[from]; ++m)
          product.push_back({1.0, {at("E", d * matrix_size() + matrix_entry(a, m)), f[b.first[from] + m]}});
        const std::string u = "e" + std::to_string(d) + "_" + std::to_string(n) + "_" + std::to_string(mode);
        code.assign("const T " + u, "=", product);
        out.push_back({s.value(), {u}});
      }
    code.assign(at("out", mode), "=", out);
  }
  code.close();
  return k;
}

/// out += integral of dpsi/dv_d (v_e B) f, for every pair (d, e).
Kernel Writer::volume_magnetic() const {
  Kernel k{"volume_magnetic", {}};
  auto& code = k.code;
  const auto& b = basis_;
  code.open("KINETIC_LARGE static void volume_magnetic(const T* __restrict f, const T* W, const T* H, const T* __restrict B, T* __restrict out)");
  code.line("(void)f, (void)W, (void)H, (void)B, (void)out;");
  const auto f = names("f", all_modes(b));
  const int conf = static_cast<int>(b.conf.size());
  auto u = [&](int e, int g, int a) { return "u" + std::to_string(e) + "_" + std::to_string(g) + "_" + std::to_string(a); };
  std::vector<std::vector<std::vector<bool>>> has(b.vdim);
  if (b.vdim > 1)
    for (int e = 0; e < b.vdim; ++e)
      for (int g = 0; g < static_cast<int>(b.group.size()); ++g) {
        has[e].emplace_back(conf, false);
        for (int a = 0; a < conf; ++a) {
          const auto terms = times_velocity(e, g, a, f);
          if (terms.empty()) continue;
          has[e][g][a] = true;
          code.assign("[[maybe_unused]] const T " + u(e, g, a), "=", terms);
        }
      }
  for (int mode = 0; mode < b.modes(); ++mode) {
    const int g = b.group_of(mode), a = mode - b.first[g];
    std::vector<Term> out;
    for (int d = 0; d < b.vdim; ++d)
      for (int n = 0; n < b.group[g][d]; ++n) {
        const Surd s = derivative(b.group[g][d], n);
        if (s.zero() || b.vdim == 1) continue;
        Exponents ex = b.group[g];
        ex[d] = n;
        const int from = b.find_group(ex);
        std::vector<Term> product;
        for (std::size_t p = 0; p < pairs().size(); ++p)
          for (int m = 0; m < conf; ++m)
            if (pairs()[p].first == d && has[pairs()[p].second][from][m])
              product.push_back({1.0, {at("B", static_cast<int>(p) * matrix_size() + matrix_entry(a, m)), u(pairs()[p].second, from, m)}});
        const std::string name = "g" + std::to_string(d) + "_" + std::to_string(n) + "_" + std::to_string(mode);
        code.assign("const T " + name, "=", product);
        out.push_back({s.value(), {name}});
      }
    code.assign(at("out", mode), "+=", out);
  }
  code.close();
  return k;
}

/// m += (M0, M1 of each velocity dimension, M2) of a cell per conf mode, in units of sqrt(2)^vdim prod(dv/2); here W and
/// H are centre and half width of the cell, unscaled.
Kernel Writer::moments() const {
  Kernel k{"moments", {}};
  const auto& b = basis_;
  k.code.open("KINETIC_SMALL static void moments(const T* f, const T* W, const T* H, T square, T* m)");
  const int conf = static_cast<int>(b.conf.size());
  const double first = xi_moment(1, 1).value() / xi_moment(0, 0).value();
  const double second = xi_moment(2, 2).value() / xi_moment(0, 0).value();
  for (int a = 0; a < conf; ++a) {
    const std::string f0 = at("f", a);
    std::vector<Term> energy{{1.0, {"square", f0}}};  // square = sum of w^2 + h^2/3
    for (int d = 0; d < b.vdim; ++d) {
      Exponents e(b.vdim, 0);
      std::vector<Term> momentum{{1.0, {at("W", d), f0}}};
      e[d] = 1;
      const int one = b.find_group(e);
      if (a < b.count[one]) {
        const std::string h = "h" + std::to_string(d) + "_" + std::to_string(a);
        k.code.assign("const T " + h, "=", {{first, {at("H", d), at("f", b.first[one] + a)}}});
        momentum.push_back({1.0, {h}});
        energy.push_back({2.0, {at("W", d), h}});
      }
      e[d] = 2;
      const int two = b.find_group(e);
      if (two >= 0 && a < b.count[two]) energy.push_back({second, {at("H", d), at("H", d), at("f", b.first[two] + a)}});
      k.code.assign(at("m", (1 + d) * conf + a), "+=", momentum);
    }
    k.code.assign(at("m", a), "+=", {{1.0, {f0}}});
    k.code.assign(at("m", (1 + b.vdim) * conf + a), "+=", energy);
  }
  k.code.close();
  return k;
}

}  // namespace kinetic_generate
