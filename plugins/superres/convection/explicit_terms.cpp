#include "plugins/superres/convection/explicit_terms.hpp"

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {
namespace {

CAMBIUM_FN Lanes at(const double* x) { return Lanes::load(x); }

/// A pack of cells and its neighbours. Local copies: stores of packs may alias anything in memory, so that a kernel
/// would reload array descriptors after each.
struct Neighbourhood {
  const double* x;  ///< field 0 at this pack
  std::ptrdiff_t field, row, line;
  double height, height_below, over, over_below, low, high;  ///< inverse: of heights (over), of distances (low, high)

  CAMBIUM_FN const double* of(int index) const { return x + index * field; }
  /// (x(k+1) - x(k)) / distance above - (x(k) - x(k-1)) / distance below, over the height: d2/dz2 at centres.
  CAMBIUM_FN Lanes diffuse_z(Lanes below, Lanes c, Lanes above, double diffusivity) const {
    return Lanes(diffusivity * over) * ((above - c) * Lanes(high) - (c - below) * Lanes(low));
  }
};

/// Change of a field: the part stored for the next stage, and the rest.
struct Change {
  Lanes tendency, implicit;
};

/// Target of the changes of a pack of cells.
struct Target {
  double *old, *rhs;  ///< slot 0
  std::ptrdiff_t slot_old, slot_rhs;
  std::ptrdiff_t before = 0;                           ///< offset of the row that the sweep eliminated before this one
  const double *inverse = nullptr, *behind = nullptr;  ///< of slot 0, if rows are eliminated
  std::ptrdiff_t slot_factor = 0;
  bool begins = false;  ///< no row has been eliminated yet
};

/// `spatial`: with the third velocity component and the terms along y, which do not exist in two dimensions.
/// `eliminates`: in the order of a sweep.
template <bool spatial, bool eliminates>
struct Kernel {
  Fields f, h, r;
  View<double*> height, inverse_height, inverse_between;
  double inverse_dx, inverse_dy;
  int line;  ///< columns between a cell and the next one along y
  double viscosity, diffusivity;
  double now, before, press;  ///< dt gamma, dt rho, dt alpha
  bool kept, bottom;
  Elimination elimination;

  CAMBIUM_FN Neighbourhood around(int k, int i) const {
    return {&f(0, k, i),
            static_cast<std::ptrdiff_t>(f.stride(0)),
            static_cast<std::ptrdiff_t>(f.stride(1)),
            line,
            height(k),
            height(k - 1),
            inverse_height(k),
            inverse_height(k - 1),
            inverse_between(k),
            inverse_between(k + 1)};
  }
  CAMBIUM_FN Target target(int k, int i) const {
    Target t{&h(0, k, i), &r(0, k, i), static_cast<std::ptrdiff_t>(h.stride(0)),
             static_cast<std::ptrdiff_t>(r.stride(0))};
    if constexpr (eliminates) {
      const int step = elimination.sweep.row(k);  // row() is its own inverse
      t.before = (elimination.sweep.down ? 1 : -1) * static_cast<std::ptrdiff_t>(r.stride(1));
      t.inverse = &elimination.inverse(0, step);
      t.behind = &elimination.behind(0, step);
      t.slot_factor = static_cast<std::ptrdiff_t>(elimination.inverse.stride(0));
      t.begins = step == 1;
    }
    return t;
  }
  CAMBIUM_FN void finish(const Target& t, int slot, Change change) const {
    double* const old = t.old + slot * t.slot_old;
    double* const rhs = t.rhs + slot * t.slot_rhs;
    Lanes x = Lanes(now) * change.tendency + Lanes(press) * change.implicit;
    if (before != 0.0) x = x + Lanes(before) * at(old);
    if (kept) change.tendency.store(old);
    if constexpr (eliminates) {
      if (!t.begins) x = fma(Lanes(t.behind[slot * t.slot_factor]), at(rhs + t.before), x);
      x = x * Lanes(t.inverse[slot * t.slot_factor]);
    }
    x.store(rhs);
  }

  /// d2/dy2 of x times a diffusivity, minus the difference of the flux along y: `north` and `south` are the transport
  /// velocities on the faces between x and its neighbours along y.
  CAMBIUM_FN Lanes along_y(const double* x, Lanes c, Lanes south, Lanes north, double diffusive) const {
    const Lanes half(0.5), n = at(x + line), s = at(x - line);
    return Lanes(diffusive * inverse_dy * inverse_dy) * (n + s - c - c) -
           Lanes(inverse_dy) * (north * half * (c + n) - south * half * (s + c));
  }

  CAMBIUM_FN Change along_x(const Neighbourhood& p) const {
    const Lanes half(0.5), dx1(inverse_dx), dz1(p.over), dx2(viscosity * inverse_dx * inverse_dx);
    const double *u = p.x, *w = p.of(field_w), *wa = w + p.row, *pressure = p.of(field_p);
    const Lanes c = at(u), l = at(u - 1), e = at(u + 1), below = at(u - p.row), above = at(u + p.row);
    const Lanes east = half * (c + e), west = half * (l + c);
    const Lanes high = half * (at(wa - 1) + at(wa)) * half * (c + above),
                low = half * (at(w - 1) + at(w)) * half * (below + c);
    Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east * east - west * west) - dz1 * (high - low);
    if constexpr (spatial) {
      const double *v = p.of(field_v), *vn = v + p.line;
      tendency = tendency + along_y(u, c, half * (at(v - 1) + at(v)), half * (at(vn - 1) + at(vn)), viscosity);
    }
    return {tendency, p.diffuse_z(below, c, above, viscosity) - dx1 * (at(pressure) - at(pressure - 1))};
  }

  /// `fluid`: 0 for the face on the lower plate, where w is fixed, and 1 for others.
  CAMBIUM_FN Change along_z(const Neighbourhood& p, double fluid) const {
    const Lanes half(0.5), dx1(inverse_dx), dz1(p.low), dx2(viscosity * inverse_dx * inverse_dx);
    const Lanes quarter_high(0.25 * p.height * p.low), quarter_low(0.25 * p.height_below * p.low);
    const double *u = p.x, *ub = u - p.row, *w = p.of(field_w), *b = p.of(field_b), *pressure = p.of(field_p);
    const Lanes c = at(w), l = at(w - 1), e = at(w + 1), below = at(w - p.row), above = at(w + p.row);
    const Lanes east = (quarter_high * at(u + 1) + quarter_low * at(ub + 1)) * (c + e);
    const Lanes west = (quarter_high * at(u) + quarter_low * at(ub)) * (l + c);
    const Lanes high = half * (c + above), low = half * (below + c);
    const Lanes buoyancy = half * (at(b - p.row) + at(b));
    Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east - west) - dz1 * (high * high - low * low) + buoyancy;
    if constexpr (spatial) {
      const double *v = p.of(field_v), *vb = v - p.row;
      const Lanes two(2.0);
      tendency = tendency + along_y(w, c, two * (quarter_high * at(v) + quarter_low * at(vb)),
                                    two * (quarter_high * at(v + p.line) + quarter_low * at(vb + p.line)), viscosity);
    }
    const Lanes diffusion =
        Lanes(viscosity * p.low) * ((above - c) * Lanes(p.over) - (c - below) * Lanes(p.over_below));
    const Lanes gradient = dz1 * (at(pressure) - at(pressure - p.row));
    return {Lanes(fluid) * tendency, Lanes(fluid) * (diffusion - gradient)};
  }

  CAMBIUM_FN Change across(const Neighbourhood& p) const {
    const Lanes half(0.5), dx1(inverse_dx), dz1(p.over), dx2(viscosity * inverse_dx * inverse_dx);
    const double *v = p.of(field_v), *u = p.x, *w = p.of(field_w), *wa = w + p.row, *pressure = p.of(field_p);
    const Lanes c = at(v), l = at(v - 1), e = at(v + 1), below = at(v - p.row), above = at(v + p.row);
    const Lanes east = half * (at(u + 1 - p.line) + at(u + 1)) * half * (c + e),
                west = half * (at(u - p.line) + at(u)) * half * (l + c);
    const Lanes high = half * (at(wa - p.line) + at(wa)) * half * (c + above),
                low = half * (at(w - p.line) + at(w)) * half * (below + c);
    const Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east - west) - dz1 * (high - low) +
                           along_y(v, c, half * (at(v - p.line) + c), half * (c + at(v + p.line)), viscosity);
    return {tendency,
            p.diffuse_z(below, c, above, viscosity) - Lanes(inverse_dy) * (at(pressure) - at(pressure - p.line))};
  }

  /// Transport of scalars at centres: b, and further scalars.
  CAMBIUM_FN Change carry(const Neighbourhood& p, int field, double diffusive) const {
    const Lanes half(0.5), dx1(inverse_dx), dz1(p.over), dx2(diffusive * inverse_dx * inverse_dx);
    const double *s = p.of(field), *u = p.x, *w = p.of(field_w);
    const Lanes c = at(s), l = at(s - 1), e = at(s + 1), below = at(s - p.row), above = at(s + p.row);
    const Lanes east = at(u + 1) * half * (c + e), west = at(u) * half * (l + c);
    const Lanes high = at(w + p.row) * half * (c + above), low = at(w) * half * (below + c);
    Lanes tendency = dx2 * (e + l - c - c) - dx1 * (east - west) - dz1 * (high - low);
    if constexpr (spatial) {
      const double* const v = p.of(field_v);
      tendency = tendency + along_y(s, c, at(v), at(v + p.line), diffusive);
    }
    return {tendency, p.diffuse_z(below, c, above, diffusive)};
  }

  KOKKOS_INLINE_FUNCTION void operator()(int k, int i) const {
    const Neighbourhood p = around(k, i);
    const Target t = target(k, i);
    finish(t, field_u, along_x(p));
    if constexpr (spatial) finish(t, slot_of(field_v), across(p));
    finish(t, field_w, along_z(p, bottom && k == 1 ? 0.0 : 1.0));
    finish(t, field_b, carry(p, field_b, diffusivity));
  }
};

/// Calls body(row, column), in any order or in that of a sweep.
template <bool eliminates, class Body>
void over_cells(const char* name, int first, int last, const RowLayout& layout, bool down, const Body& body) {
  if constexpr (eliminates)
    for_blocks(
        name, first, last, down, layout,
        KOKKOS_LAMBDA(int k, const Block& block) { block.each([&](int i) { body(k, i); }); });
  else
    for_cells(name, first, last, layout, body);
}

template <bool spatial, bool eliminates>
void run(const Flow& flow, const Stage& stage, double dt, const Fields& tendency, const Fields& rhs, int first,
         int last, const Elimination& elimination) {
  const Slab& slab = flow.slab;
  const Kernel<spatial, eliminates> kernel{flow.fields,
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
                                           stage.kept,
                                           slab.bottom(),
                                           elimination};
  over_cells<eliminates>("explicit terms", first, last, flow.layout, elimination.sweep.down, kernel);
  for (int field = flow.first_scalar(); field <= flow.carried(); ++field) {
    const double diffusivity = flow.scalar(field).diffusivity;
    over_cells<eliminates>(
        "explicit terms: scalar", first, last, flow.layout, elimination.sweep.down, KOKKOS_LAMBDA(int k, int i) {
          kernel.finish(kernel.target(k, i), slot_of(field), kernel.carry(kernel.around(k, i), field, diffusivity));
        });
  }
}

/// Keeps u at zero on the left wall, whose column is independent of all others.
void hold_left_wall(const Fields& tendency, const Fields& rhs, int first, int last) {
  Kokkos::parallel_for(
      "side wall", Range(first, last),
      KOKKOS_LAMBDA(int k) { tendency(field_u, k, margin) = rhs(field_u, k, margin) = 0.0; });
}

}  // namespace

void explicit_terms(const Flow& flow, const Stage& stage, double dt, const Fields& tendency, const Fields& rhs,
                    int first, int last) {
  if (flow.layout.spatial)
    run<true, false>(flow, stage, dt, tendency, rhs, first, last, {});
  else
    run<false, false>(flow, stage, dt, tendency, rhs, first, last, {});
  if (!flow.slab.grid.periodic) hold_left_wall(tendency, rhs, first, last);
}

void eliminated_terms(const Flow& flow, const Stage& stage, double dt, const Fields& tendency, const Fields& rhs,
                      int first, int last, const Elimination& elimination) {
  if (flow.layout.spatial)
    run<true, true>(flow, stage, dt, tendency, rhs, first, last, elimination);
  else
    run<false, true>(flow, stage, dt, tendency, rhs, first, last, elimination);
  if (!flow.slab.grid.periodic) hold_left_wall(tendency, rhs, first, last);
}

}  // namespace cambium::superres
