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
      reach_("diffusion reach", 3, slab.rows + 2),
      fill_("diffusion fill", 3, slab.rows + 2),
      interfaces_(comm, 3 * padded(slab.grid.nx), padded(slab.grid.nx), 3, slab.share_memory) {}

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
             upper = Kokkos::create_mirror_view(upper_), reach = Kokkos::create_mirror_view(reach_),
             fill = Kokkos::create_mirror_view(fill_);
  Interfaces::Response response;
  for (int f = 0; f < 3; ++f) {
    const Rows rows = coefficients(f, 0.5 * alpha_dt * (f == field_b ? fluid_.diffusivity : fluid_.viscosity));
    for (int k = 0; k < m; ++k) {
      const double coupling = k > 0 ? rows.lower[k] * upper(f, k) : 0.0;
      inverse(f, k + 1) = 1.0 / (rows.diagonal[k] - coupling);
      lower(f, k + 1) = rows.lower[k];
      upper(f, k + 1) = rows.upper[k] * inverse(f, k + 1);
      fill(f, k + 1) = rows.lower[k] * (k == 0 ? 1.0 : fill(f, k)) * inverse(f, k + 1);
      reach(f, k + 1) = k == 0 ? 1.0 : reach(f, k) * upper(f, k);
    }
    double q_first = 0.0;
    for (int k = 1; k <= m; ++k) q_first += reach(f, k) * fill(f, k);
    response.q_first.push_back(q_first), response.q_last.push_back(fill(f, m));
    response.r_first.push_back(reach(f, m) * upper(f, m)), response.r_last.push_back(upper(f, m));
  }
  Kokkos::deep_copy(inverse_, inverse);
  Kokkos::deep_copy(lower_, lower);
  Kokkos::deep_copy(upper_, upper);
  Kokkos::deep_copy(reach_, reach);
  Kokkos::deep_copy(fill_, fill);
  interfaces_.set(response);
}

/// Upwards, until row k knows x(k) = rhs(k) + upper(k) x(k+1) + fill(k) x(0); the ends of this rank's own solution go to the others.
void WallNormalDiffusion::eliminate(const Fields& rhs) {
  const int m = slab_.rows, nx = slab_.grid.nx, width = padded(nx);
  const auto inverse = inverse_, lower = lower_, reach = reach_;
  const auto ends = interfaces_.ends;
  const bool divided = slab_.ranks > 1;
  for_strips("diffusion: upwards", nx, KOKKOS_LAMBDA(int from, int to) {
    for (int f = 0; f < 3; ++f) {
      Lanes first[strip];
      for (auto& x : first) x = Lanes(0.0);
      for (int k = 1; k <= m; ++k) {
        const Lanes pivot(inverse(f, k)), a(lower(f, k)), share(reach(f, k));
        for (int i = from; i < to; i += lanes) {
          double* const here = &rhs(f, k, margin + i);
          Lanes x = Lanes::load(here);
          if (k > 1) x = fma(a, Lanes::load(&rhs(f, k - 1, margin + i)), x);
          x = x * pivot;
          x.store(here);
          if (divided) first[(i - from) / lanes] = fma(share, x, first[(i - from) / lanes]);
        }
      }
      if (!divided) continue;
      for (int i = from; i < to; i += lanes) {
        first[(i - from) / lanes].store(&ends(f * width + i));
        Lanes::load(&rhs(f, m, margin + i)).store(&ends((3 + f) * width + i));
      }
    }
  });
}

/// Downwards from the first row of the rank above, with the last row of the rank below.
void WallNormalDiffusion::substitute(const Flow& flow, const Fields& rhs) {
  const int m = slab_.rows, nx = slab_.grid.nx, width = padded(nx);
  const auto upper = upper_, fill = fill_;
  const auto fields = flow.fields;
  const auto below = interfaces_.below, above = interfaces_.above;
  const bool divided = slab_.ranks > 1;
  for_strips("diffusion: downwards", nx, KOKKOS_LAMBDA(int from, int to) {
    for (int f = 0; f < 3; ++f) {
      for (int k = m; k >= 1; --k) {
        const Lanes c(upper(f, k)), q(fill(f, k));
        for (int i = from; i < to; i += lanes) {
          double* const here = &rhs(f, k, margin + i);
          Lanes x = Lanes::load(here);
          if (divided) x = fma(q, Lanes::load(&below(f * width + i)), x);
          if (k < m) x = fma(c, Lanes::load(&rhs(f, k + 1, margin + i)), x);
          else if (divided) x = fma(c, Lanes::load(&above(f * width + i)), x);
          x.store(here);
          double* const to_field = &fields(f, k, margin + i);
          (Lanes::load(to_field) + x).store(to_field);
        }
      }
      if (!divided || f != field_w) continue;
      for (int i = from; i < to; i += lanes) {
        double* const face = &fields(f, m + 1, margin + i);
        (Lanes::load(face) + Lanes::load(&above(f * width + i))).store(face);
      }
    }
  });
}

void WallNormalDiffusion::add(const Flow& flow, const Fields& rhs) {
  eliminate(rhs);
  interfaces_.solve();
  substitute(flow, rhs);
}

}  // namespace cambium::superres
