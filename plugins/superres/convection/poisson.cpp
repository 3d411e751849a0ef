#include "plugins/superres/convection/poisson.hpp"

#include <cmath>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {
namespace {

int transform_length(const Grid& grid) { return grid.periodic ? grid.nx : 2 * grid.nx; }

}  // namespace

Poisson::Poisson(const Comm& comm, const Slab& slab)
    : source("poisson source", slab.rows, padded(transform_length(slab.grid))),
      slab_(slab),
      fft_(transform_length(slab.grid)),
      half_(padded(fft_.modes())),
      spectrum_("poisson spectrum", slab.rows, 2 * half_ + 16),
      inverse_("poisson pivots", slab.rows, half_),
      lower_("poisson lower", slab.rows),
      upper_("poisson upper", slab.rows),
      interfaces_(comm, 2 * half_, 1, half_) {
  factorise(comm);
}

void Poisson::factorise(const Comm& comm) {
  const Grid& g = slab_.grid;
  const int m = slab_.rows, n = fft_.length();
  const auto lower = Kokkos::create_mirror_view(lower_), upper = Kokkos::create_mirror_view(upper_);
  for (int k = 0; k < m; ++k) {
    const int face = slab_.first + k;
    lower(k) = face == 0 ? 0.0 : 1.0 / g.between(face);
    upper(k) = face + 1 == g.nz ? 0.0 : 1.0 / g.between(face + 1);
  }
  Kokkos::deep_copy(lower_, lower);
  Kokkos::deep_copy(upper_, upper);
  const auto inverse = Kokkos::create_mirror_view(inverse_);
  View<double**> q("poisson q", comm.size() > 1 ? m : 0, half_), r("poisson r", comm.size() > 1 ? m : 0, half_);
  const auto hq = Kokkos::create_mirror_view(q), hr = Kokkos::create_mirror_view(r);
  Interfaces::Response response;
  for (auto* v : {&response.q_first, &response.q_last, &response.r_first, &response.r_last}) v->resize(half_);
  for (int j = 0; j < half_; ++j) {
    const double wave = 2.0 / g.dx() * std::sin(M_PI * std::min(j, fft_.modes() - 1) / n);
    for (int k = 0; k < m; ++k) {
      double pivot = lower(k) + upper(k) + wave * wave * g.height(slab_.first + k);
      if (j == 0 && slab_.first + k == 0) pivot += 1.0 / g.height(0);
      if (k > 0) pivot -= lower(k) * upper(k - 1) * inverse(k - 1, j);
      inverse(k, j) = 1.0 / pivot;
    }
    if (comm.size() == 1) continue;
    for (int k = 0; k < m; ++k) {
      hq(k, j) = (k == 0 ? lower(0) : lower(k) * hq(k - 1, j)) * inverse(k, j);
      hr(k, j) = k + 1 == m ? upper(k) * inverse(k, j) : 0.0;
    }
    for (int k = m - 2; k >= 0; --k) {
      hq(k, j) += upper(k) * inverse(k, j) * hq(k + 1, j);
      hr(k, j) += upper(k) * inverse(k, j) * hr(k + 1, j);
    }
    response.q_first[j] = hq(0, j), response.q_last[j] = hq(m - 1, j);
    response.r_first[j] = hr(0, j), response.r_last[j] = hr(m - 1, j);
  }
  Kokkos::deep_copy(inverse_, inverse);
  Kokkos::deep_copy(q, hq);
  Kokkos::deep_copy(r, hr);
  q_ = q, r_ = r;
  interfaces_.set(response);
}

void Poisson::mirror() const {
  const auto s = source;
  const int nx = slab_.grid.nx;
  Kokkos::parallel_for("poisson: mirror", Range(0, slab_.rows), KOKKOS_LAMBDA(int k) {
    for (int i = 0; i < nx; ++i) s(k, 2 * nx - 1 - i) = s(k, i);
  });
}

void Poisson::solve_modes() {
  const int m = slab_.rows, half = half_;
  const auto x = spectrum_;
  const auto inverse = inverse_;
  const auto lower = lower_, upper = upper_, height = slab_.height;
  const bool divided = slab_.ranks > 1;
  const auto ends = interfaces_.ends;
  for_strips("poisson: modes", half, KOKKOS_LAMBDA(int from, int to) {
    for (int k = 0; k < m; ++k) {
      const Lanes h(-height(k + 1)), a(lower(k));
      for (int j = from; j < to; j += lanes) {
        const Lanes pivot = Lanes::load(&inverse(k, j));
        double* const re = &x(k, j);
        double* const im = &x(k, half + j);
        Lanes new_re = h * Lanes::load(re), new_im = h * Lanes::load(im);
        if (k > 0) {
          new_re = fma(a, Lanes::load(&x(k - 1, j)), new_re);
          new_im = fma(a, Lanes::load(&x(k - 1, half + j)), new_im);
        }
        (new_re * pivot).store(re);
        (new_im * pivot).store(im);
      }
    }
    for (int k = m - 2; k >= 0; --k) {
      const Lanes c(upper(k));
      for (int j = from; j < to; j += lanes) {
        const Lanes factor = c * Lanes::load(&inverse(k, j));
        double* const re = &x(k, j);
        double* const im = &x(k, half + j);
        fma(factor, Lanes::load(&x(k + 1, j)), Lanes::load(re)).store(re);
        fma(factor, Lanes::load(&x(k + 1, half + j)), Lanes::load(im)).store(im);
      }
    }
    if (divided)
      for (int j = from; j < to; ++j) {
        ends(j) = x(0, j), ends(half + j) = x(0, half + j);
        ends(2 * half + j) = x(m - 1, j), ends(3 * half + j) = x(m - 1, half + j);
      }
  });
  if (!divided) return;
  interfaces_.solve();
  const auto q = q_, r = r_;
  const auto below = interfaces_.below, above = interfaces_.above;
  for_rows("poisson: neighbours", 0, m, half, KOKKOS_LAMBDA(int k, int j) {
    const Lanes pq = Lanes::load(&q(k, j)), pr = Lanes::load(&r(k, j));
    for (int part = 0; part < 2; ++part) {
      double* const v = &x(k, part * half + j);
      const Lanes l = Lanes::load(&below(part * half + j)), u = Lanes::load(&above(part * half + j));
      fma(pq, l, fma(pr, u, Lanes::load(v))).store(v);
    }
  });
}

void Poisson::solve(const View<double**>& phi) {
  if (!slab_.grid.periodic) mirror();
  fft_.forward(source, 0, spectrum_, half_, slab_.rows);
  solve_modes();
  const auto rows = Kokkos::subview(phi, std::make_pair(1, slab_.rows + 1), Kokkos::ALL);
  if (slab_.grid.periodic) {
    fft_.backward(spectrum_, half_, rows, margin, slab_.rows);
    return;
  }
  fft_.backward(spectrum_, half_, source, 0, slab_.rows);
  const auto s = source;
  for_rows("poisson: unmirror", 0, slab_.rows, slab_.grid.nx, KOKKOS_LAMBDA(int k, int i) {
    Lanes::load(&s(k, i)).store(&rows(k, margin + i));
  });
}

}  // namespace cambium::superres
