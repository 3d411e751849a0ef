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
      spectrum_("poisson spectrum", slab.rows + 2, 2 * half_ + 16),
      whole_("poisson rows", slab.grid.periodic ? 0 : slab.rows + 2, padded(transform_length(slab.grid))),
      inverse_("poisson pivots", slab.rows, half_),
      lower_("poisson lower", slab.rows),
      upper_("poisson upper", slab.rows),
      interfaces_(comm, 2 * half_, 1, half_, slab.share_memory) {
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
  View<double**> fill("poisson fill", comm.size() > 1 ? m : 0, half_);
  const auto hf = Kokkos::create_mirror_view(fill);
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
    double reach = 1.0, q_first = 0.0;  // what the first row feels of row k
    for (int k = 0; k < m; ++k) {
      hf(k, j) = (k == 0 ? lower(0) : lower(k) * hf(k - 1, j)) * inverse(k, j);
      q_first += reach * hf(k, j);
      reach *= upper(k) * inverse(k, j);
    }
    response.q_first[j] = q_first, response.q_last[j] = hf(m - 1, j);
    response.r_first[j] = reach, response.r_last[j] = upper(m - 1) * inverse(m - 1, j);
  }
  Kokkos::deep_copy(inverse_, inverse);
  Kokkos::deep_copy(fill, hf);
  fill_ = fill;
  interfaces_.set(response);
}

void Poisson::mirror() const {
  const auto s = source;
  const int nx = slab_.grid.nx;
  Kokkos::parallel_for("poisson: mirror", Range(0, slab_.rows), KOKKOS_LAMBDA(int k) {
    for (int i = 0; i < nx; ++i) s(k, 2 * nx - 1 - i) = s(k, i);
  });
}

/// Upwards, until row k knows x(k) = rhs(k) + upper(k)/pivot x(k+1) + fill(k) x(0); the ends of this rank's own solution go to the others.
void Poisson::eliminate() {
  const int m = slab_.rows, half = half_;
  const auto x = spectrum_;
  const auto inverse = inverse_;
  const auto lower = lower_, upper = upper_, height = slab_.height;
  const bool divided = slab_.ranks > 1;
  const auto ends = interfaces_.ends;
  for_strips("poisson: upwards", half, KOKKOS_LAMBDA(int from, int to) {
    Lanes reach[strip], first_re[strip], first_im[strip];
    for (int n = 0; n < strip; ++n) reach[n] = Lanes(1.0), first_re[n] = first_im[n] = Lanes(0.0);
    for (int k = 0; k < m; ++k) {
      const Lanes h(-height(k + 1)), a(lower(k)), c(upper(k));
      for (int j = from; j < to; j += lanes) {
        const Lanes pivot = Lanes::load(&inverse(k, j));
        double* const re = &x(k + 1, j);
        double* const im = &x(k + 1, half + j);
        Lanes new_re = h * Lanes::load(re), new_im = h * Lanes::load(im);
        if (k > 0) {
          new_re = fma(a, Lanes::load(&x(k, j)), new_re);
          new_im = fma(a, Lanes::load(&x(k, half + j)), new_im);
        }
        new_re = new_re * pivot, new_im = new_im * pivot;
        new_re.store(re);
        new_im.store(im);
        if (!divided) continue;
        const int n = (j - from) / lanes;
        first_re[n] = fma(reach[n], new_re, first_re[n]);
        first_im[n] = fma(reach[n], new_im, first_im[n]);
        reach[n] = reach[n] * (c * pivot);
      }
    }
    if (!divided) return;
    for (int j = from; j < to; j += lanes) {
      first_re[(j - from) / lanes].store(&ends(j));
      first_im[(j - from) / lanes].store(&ends(half + j));
      Lanes::load(&x(m, j)).store(&ends(2 * half + j));
      Lanes::load(&x(m, half + j)).store(&ends(3 * half + j));
    }
  });
}

/// Downwards from the first row of the rank above, with the last row of the rank below; both stay in rows m+1 and 0.
void Poisson::substitute() {
  const int m = slab_.rows, half = half_;
  const auto x = spectrum_;
  const auto inverse = inverse_, fill = fill_;
  const auto upper = upper_;
  const bool divided = slab_.ranks > 1;
  const auto below = interfaces_.below, above = interfaces_.above;
  for_strips("poisson: downwards", half, KOKKOS_LAMBDA(int from, int to) {
    for (int j = from; divided && j < to; j += lanes)
      for (int part = 0; part < 2; ++part) {
        Lanes::load(&below(part * half + j)).store(&x(0, part * half + j));
        Lanes::load(&above(part * half + j)).store(&x(m + 1, part * half + j));
      }
    for (int k = divided ? m : m - 1; k >= 1; --k) {
      const Lanes c(upper(k - 1));
      for (int j = from; j < to; j += lanes) {
        const Lanes factor = c * Lanes::load(&inverse(k - 1, j));
        const Lanes q = divided ? Lanes::load(&fill(k - 1, j)) : Lanes(0.0);
        for (int part = 0; part < 2; ++part) {
          double* const here = &x(k, part * half + j);
          Lanes value = fma(factor, Lanes::load(&x(k + 1, part * half + j)), Lanes::load(here));
          if (divided) value = fma(q, Lanes::load(&x(0, part * half + j)), value);
          value.store(here);
        }
      }
    }
  });
}

void Poisson::solve(const View<double**>& phi) {
  const int m = slab_.rows, first = slab_.bottom() ? 1 : 0, count = (slab_.top() ? m + 1 : m + 2) - first;
  if (!slab_.grid.periodic) mirror();
  fft_.forward(source, 0, Kokkos::subview(spectrum_, std::make_pair(1, m + 1), Kokkos::ALL), half_, m);
  eliminate();
  interfaces_.solve();
  substitute();
  const auto known = std::make_pair(first, first + count);
  const auto solved = Kokkos::subview(spectrum_, known, Kokkos::ALL);
  const auto rows = Kokkos::subview(phi, known, Kokkos::ALL);
  if (slab_.grid.periodic) {
    fft_.backward(solved, half_, rows, margin, count);
    return;
  }
  fft_.backward(solved, half_, whole_, 0, count);
  const auto s = whole_;
  for_rows("poisson: unmirror", 0, count, slab_.grid.nx, KOKKOS_LAMBDA(int k, int i) {
    Lanes::load(&s(k, i)).store(&rows(k, margin + i));
  });
}

}  // namespace cambium::superres
