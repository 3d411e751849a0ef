#include "plugins/superres/convection/explicit_terms.hpp"

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {
namespace {

CAMBIUM_FN Lanes at(const double* x) { return Lanes::load(x); }

/// `spatial`: with the third velocity component and the terms along y, which two dimensions know nothing of.
template <bool spatial>
struct Kernel {
  Fields f, h, r;
  View<double*> height, inverse_height, inverse_between;
  double inverse_dx, inverse_dy;
  int line;  ///< columns from a cell to the next one along y
  double viscosity, diffusivity;
  double now, before, press;  ///< dt gamma, dt rho, dt alpha
  bool bottom;

  /// (x(k+1) - x(k)) / between above - (x(k) - x(k-1)) / between below, over the height: d2/dz2 at centres.
  CAMBIUM_FN static Lanes diffuse_z(Lanes below, Lanes x, Lanes above, double low, double high, double over) {
    return Lanes(over) * ((above - x) * Lanes(high) - (x - below) * Lanes(low));
  }
  CAMBIUM_FN void finish(int slot, int k, int i, Lanes tendency, Lanes implicit) const {
    double* const old = &h(slot, k, i);
    (Lanes(now) * tendency + Lanes(before) * at(old) + Lanes(press) * implicit).store(&r(slot, k, i));
    tendency.store(old);
  }

  /// d2/dy2 of x times a diffusivity, less the difference along y of what flows: what is carried, `north` and `south`
  /// being its velocity on the faces between x and its neighbours along y.
  CAMBIUM_FN Lanes along_y(const double* x, Lanes south, Lanes north, double diffusivity) const {
    const Lanes half(0.5), c = at(x), n = at(x + line), s = at(x - line);
    return Lanes(diffusivity * inverse_dy * inverse_dy) * (n + s - c - c) -
           Lanes(inverse_dy) * (north * half * (c + n) - south * half * (s + c));
  }

  CAMBIUM_FN void along_x(int k, int i) const {
    const Lanes half(0.5), dx1(inverse_dx), dz1(inverse_height(k)), dx2(viscosity * inverse_dx * inverse_dx);
    const double *u = &f(field_u, k, i), *w = &f(field_w, k, i), *wa = &f(field_w, k + 1, i), *p = &f(field_p, k, i);
    const Lanes c = at(u), l = at(u - 1), e = at(u + 1), below = at(&f(field_u, k - 1, i)),
                above = at(&f(field_u, k + 1, i));
    const Lanes east = half * (c + e), west = half * (l + c);
    const Lanes high = half * (at(wa - 1) + at(wa)) * half * (c + above),
                low = half * (at(w - 1) + at(w)) * half * (below + c);
    Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east * east - west * west) - dz1 * (high - low);
    if constexpr (spatial) {
      const double *v = &f(field_v, k, i), *vn = v + line;
      tendency = tendency + along_y(u, half * (at(v - 1) + at(v)), half * (at(vn - 1) + at(vn)), viscosity);
    }
    const Lanes diffusion =
        diffuse_z(below, c, above, inverse_between(k), inverse_between(k + 1), viscosity * inverse_height(k));
    finish(field_u, k, i, tendency, diffusion - dx1 * (at(p) - at(p - 1)));
  }

  CAMBIUM_FN void along_z(int k, int i) const {
    const double between = inverse_between(k), fluid = bottom && k == 1 ? 0.0 : 1.0;  // the face on the plate stays
    const Lanes half(0.5), dx1(inverse_dx), dz1(between), dx2(viscosity * inverse_dx * inverse_dx);
    const Lanes quarter_high(0.25 * height(k) * between), quarter_low(0.25 * height(k - 1) * between);
    const double *u = &f(field_u, k, i), *ub = &f(field_u, k - 1, i), *w = &f(field_w, k, i);
    const Lanes c = at(w), l = at(w - 1), e = at(w + 1), below = at(&f(field_w, k - 1, i)),
                above = at(&f(field_w, k + 1, i));
    const Lanes east = (quarter_high * at(u + 1) + quarter_low * at(ub + 1)) * (c + e);
    const Lanes west = (quarter_high * at(u) + quarter_low * at(ub)) * (l + c);
    const Lanes high = half * (c + above), low = half * (below + c);
    const Lanes buoyancy = half * (at(&f(field_b, k - 1, i)) + at(&f(field_b, k, i)));
    Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east - west) - dz1 * (high * high - low * low) + buoyancy;
    if constexpr (spatial) {
      const double *v = &f(field_v, k, i), *vb = &f(field_v, k - 1, i);
      const Lanes two(2.0);
      tendency = tendency + along_y(w, two * (quarter_high * at(v) + quarter_low * at(vb)),
                                    two * (quarter_high * at(v + line) + quarter_low * at(vb + line)), viscosity);
    }
    const Lanes diffusion = diffuse_z(below, c, above, inverse_height(k - 1), inverse_height(k), viscosity * between);
    const Lanes gradient = dz1 * (at(&f(field_p, k, i)) - at(&f(field_p, k - 1, i)));
    finish(field_w, k, i, Lanes(fluid) * tendency, Lanes(fluid) * (diffusion - gradient));
  }

  CAMBIUM_FN void across(int k, int i) const {
    const Lanes half(0.5), dx1(inverse_dx), dz1(inverse_height(k)), dx2(viscosity * inverse_dx * inverse_dx);
    const double *v = &f(field_v, k, i), *u = &f(field_u, k, i), *w = &f(field_w, k, i), *wa = &f(field_w, k + 1, i),
                 *p = &f(field_p, k, i);
    const Lanes c = at(v), l = at(v - 1), e = at(v + 1), below = at(&f(field_v, k - 1, i)),
                above = at(&f(field_v, k + 1, i));
    const Lanes east = half * (at(u + 1 - line) + at(u + 1)) * half * (c + e),
                west = half * (at(u - line) + at(u)) * half * (l + c);
    const Lanes high = half * (at(wa - line) + at(wa)) * half * (c + above),
                low = half * (at(w - line) + at(w)) * half * (below + c);
    const Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east - west) - dz1 * (high - low) +
                           along_y(v, half * (at(v - line) + c), half * (c + at(v + line)), viscosity);
    const Lanes diffusion =
        diffuse_z(below, c, above, inverse_between(k), inverse_between(k + 1), viscosity * inverse_height(k));
    finish(slot_of(field_v), k, i, tendency, diffusion - Lanes(inverse_dy) * (at(p) - at(p - line)));
  }

  /// Flux of the flow at centres: b, and further scalars.
  CAMBIUM_FN void carry(int field, double diffusivity, int k, int i) const {
    const Lanes half(0.5), dx1(inverse_dx), dz1(inverse_height(k)), dx2(diffusivity * inverse_dx * inverse_dx);
    const double *s = &f(field, k, i), *u = &f(field_u, k, i);
    const Lanes c = at(s), l = at(s - 1), e = at(s + 1), below = at(&f(field, k - 1, i)),
                above = at(&f(field, k + 1, i));
    const Lanes east = at(u + 1) * half * (c + e), west = at(u) * half * (l + c);
    const Lanes high = at(&f(field_w, k + 1, i)) * half * (c + above), low = at(&f(field_w, k, i)) * half * (below + c);
    Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east - west) - dz1 * (high - low);
    if constexpr (spatial)
      tendency = tendency + along_y(s, at(&f(field_v, k, i)), at(&f(field_v, k, i) + line), diffusivity);
    finish(slot_of(field), k, i, tendency,
           diffuse_z(below, c, above, inverse_between(k), inverse_between(k + 1), diffusivity * inverse_height(k)));
  }

  KOKKOS_INLINE_FUNCTION void operator()(int k, int i) const {
    along_x(k, i);
    if constexpr (spatial) across(k, i);
    along_z(k, i);
    carry(field_b, diffusivity, k, i);
  }
};

template <bool spatial>
void run(const Flow& flow, const Stage& stage, double dt, const Fields& tendency, const Fields& rhs, int first,
         int last) {
  const Slab& slab = flow.slab;
  const Kernel<spatial> kernel{flow.fields,
                               tendency,
                               rhs,
                               slab.height,
                               slab.inverse_height,
                               slab.inverse_between,
                               1.0 / slab.grid.dx(),
                               spatial ? 1.0 / slab.grid.dy() : 0.0,
                               flow.layout.pitch,
                               flow.fluid.viscosity,
                               flow.fluid.diffusivity,
                               dt * stage.gamma,
                               dt * stage.rho,
                               dt * stage.alpha,
                               slab.bottom()};
  for_cells("explicit terms", first, last, flow.layout, kernel);
  for (int field = flow.first_scalar(); field <= flow.carried(); ++field) {
    const double diffusivity = flow.scalar(field).diffusivity;
    for_cells(
        "explicit terms: scalar", first, last, flow.layout,
        KOKKOS_LAMBDA(int k, int i) { kernel.carry(field, diffusivity, k, i); });
  }
}

}  // namespace

void explicit_terms(const Flow& flow, const Stage& stage, double dt, const Fields& tendency, const Fields& rhs,
                    int first, int last) {
  const Slab& slab = flow.slab;
  if (flow.layout.spatial)
    run<true>(flow, stage, dt, tendency, rhs, first, last);
  else
    run<false>(flow, stage, dt, tendency, rhs, first, last);
  if (slab.grid.periodic) return;
  Kokkos::parallel_for(
      "side wall", Range(first, last), KOKKOS_LAMBDA(int k) {
        tendency(field_u, k, margin) = rhs(field_u, k, margin) = 0.0;  // u on the left wall stays zero
      });
}

}  // namespace cambium::superres
