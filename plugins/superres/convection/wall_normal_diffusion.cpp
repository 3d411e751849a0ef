#include "plugins/superres/convection/wall_normal_diffusion.hpp"

#include <vector>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

WallNormalDiffusion::WallNormalDiffusion(const Comm& comm, const Slab& slab, const Fluid& fluid)
    : slab_(slab),
      fluid_(fluid),
      inverse_("diffusion pivots", 3, slab.rows + 2),
      lower_("diffusion lower", 3, slab.rows + 2),
      upper_("diffusion upper", 3, slab.rows + 2),
      q_("diffusion q", 3, slab.rows + 2),
      r_("diffusion r", 3, slab.rows + 2),
      interfaces_(comm, 3 * padded(slab.grid.nx), padded(slab.grid.nx), 3) {}

/// Row k of -lower x(k-1) + diagonal x(k) - upper x(k+1), k = 0..m-1.
WallNormalDiffusion::Rows WallNormalDiffusion::coefficients(int field, double c) const {
  const Grid& g = slab_.grid;
  Rows rows;
  for (int k = slab_.first; k < slab_.first + slab_.rows; ++k) {
    double lower = 0.0, upper = 0.0, wall = 0.0;
    if (field == field_w) {  // on faces; the face on the plate keeps w = 0
      if (k > 0) lower = c / (g.between(k) * g.height(k - 1)), upper = c / (g.between(k) * g.height(k));
    } else {
      lower = c / (g.height(k) * g.between(k)), upper = c / (g.height(k) * g.between(k + 1));
      const bool fixed = field == field_u ? fluid_.plates == Wall::no_slip : fluid_.plates_conduct;
      const double sign = fixed ? -1.0 : 1.0;  // of the ghost value beyond a plate
      if (k == 0) wall -= sign * lower;
      if (k == g.nz - 1) wall -= sign * upper;
    }
    rows.diagonal.push_back(1.0 + lower + upper + wall);
    rows.lower.push_back(k == 0 ? 0.0 : lower);
    rows.upper.push_back(k == g.nz - 1 ? 0.0 : upper);
  }
  return rows;
}

void WallNormalDiffusion::set(double alpha_dt) {
  if (alpha_dt == alpha_dt_) return;
  alpha_dt_ = alpha_dt;
  const int m = slab_.rows;
  const auto inverse = Kokkos::create_mirror_view(inverse_), lower = Kokkos::create_mirror_view(lower_),
             upper = Kokkos::create_mirror_view(upper_), q = Kokkos::create_mirror_view(q_), r = Kokkos::create_mirror_view(r_);
  Interfaces::Response response;
  for (int f = 0; f < 3; ++f) {
    const Rows rows = coefficients(f, 0.5 * alpha_dt * (f == field_b ? fluid_.diffusivity : fluid_.viscosity));
    for (int k = 0; k < m; ++k) {
      const double coupling = k > 0 ? rows.lower[k] * upper(f, k) : 0.0;
      inverse(f, k + 1) = 1.0 / (rows.diagonal[k] - coupling);
      lower(f, k + 1) = rows.lower[k];
      upper(f, k + 1) = rows.upper[k] * inverse(f, k + 1);
      q(f, k + 1) = rows.lower[k] * (k == 0 ? 1.0 : q(f, k)) * inverse(f, k + 1);
      r(f, k + 1) = k + 1 == m ? upper(f, k + 1) : 0.0;
    }
    for (int k = m - 1; k >= 1; --k) {
      q(f, k) += upper(f, k) * q(f, k + 1);
      r(f, k) += upper(f, k) * r(f, k + 1);
    }
    response.q_first.push_back(q(f, 1)), response.q_last.push_back(q(f, m));
    response.r_first.push_back(r(f, 1)), response.r_last.push_back(r(f, m));
  }
  Kokkos::deep_copy(inverse_, inverse);
  Kokkos::deep_copy(lower_, lower);
  Kokkos::deep_copy(upper_, upper);
  Kokkos::deep_copy(q_, q);
  Kokkos::deep_copy(r_, r);
  interfaces_.set(response);
}

void WallNormalDiffusion::add(const Flow& flow, const Fields& rhs) {
  const int m = slab_.rows, nx = slab_.grid.nx, width = padded(nx);
  const auto inverse = inverse_, lower = lower_, upper = upper_;
  const auto fields = flow.fields;
  const auto ends = interfaces_.ends;
  const bool divided = slab_.ranks > 1;
  for_strips("diffusion: sweeps", nx, KOKKOS_LAMBDA(int from, int to) {
    for (int f = 0; f < 3; ++f) {
      for (int k = 1; k <= m; ++k) {
        const Lanes pivot(inverse(f, k)), a(lower(f, k));
        for (int i = from + margin; i < to + margin; i += lanes) {
          Lanes x = Lanes::load(&rhs(f, k, i));
          if (k > 1) x = fma(a, Lanes::load(&rhs(f, k - 1, i)), x);
          (x * pivot).store(&rhs(f, k, i));
        }
      }
      for (int k = m; k >= 1; --k) {
        const Lanes c(upper(f, k));
        for (int i = from + margin; i < to + margin; i += lanes) {
          Lanes x = Lanes::load(&rhs(f, k, i));
          if (k < m) {
            x = fma(c, Lanes::load(&rhs(f, k + 1, i)), x);
            x.store(&rhs(f, k, i));
          }
          if (!divided) (Lanes::load(&fields(f, k, i)) + x).store(&fields(f, k, i));
        }
      }
      if (divided)
        for (int i = from; i < to; ++i) {
          ends(f * width + i) = rhs(f, 1, margin + i);
          ends((3 + f) * width + i) = rhs(f, m, margin + i);
        }
    }
  });
  if (!divided) return;
  interfaces_.solve();
  const auto q = q_, r = r_;
  const auto below = interfaces_.below, above = interfaces_.above;
  for_rows("diffusion: neighbours", 1, m + 1, nx, KOKKOS_LAMBDA(int k, int i) {
    for (int f = 0; f < 3; ++f) {
      const Lanes l = Lanes::load(&below(f * width + i)), u = Lanes::load(&above(f * width + i));
      const Lanes delta = fma(Lanes(q(f, k)), l, fma(Lanes(r(f, k)), u, Lanes::load(&rhs(f, k, margin + i))));
      (Lanes::load(&fields(f, k, margin + i)) + delta).store(&fields(f, k, margin + i));
    }
  });
}

}  // namespace cambium::superres
