#include "plugins/superres/convection/stepper.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

Stepper::Stepper(const Comm& comm, const Slab& slab, const Fluid& fluid)
    : flow_(slab, fluid), tendency_("tendency", flow_.carried(), slab.rows + 2, flow_.layout.columns()),
      rhs_("rhs", flow_.carried(), slab.rows + 2, flow_.layout.columns()),
      diffusion_{WallNormalDiffusion(comm, slab, fluid), WallNormalDiffusion(comm, slab, fluid),
                 WallNormalDiffusion(comm, slab, fluid)},
      projection_(comm, slab, static_cast<int>(flow_.fields.extent(0))) {}

void Stepper::explicit_part(int stage, double dt) {
  const int m = flow_.rows();
  const auto rows = [&](int first, int last) {
    explicit_terms(flow_, stages[stage], dt, tendency_, rhs_, first, last);
  };
  if (!ghosts_travel_) return rows(1, m + 1);
  rows(2, m);
  finish_ghosts();
  rows(1, 2);
  rows(m, m + 1);
}

void Stepper::diffusion(int stage, double dt) {
  diffusion_[stage].set(stages[stage].alpha * dt);
  diffusion_[stage].add(flow_, rhs_);
}

void Stepper::projection(int stage, double dt) {
  projection_.apply(flow_, stages[stage].alpha * dt, true);
  ghosts_travel_ = true;
  if (flow_.slab.ranks == 1) finish_ghosts();
}

void Stepper::finish_ghosts() {
  projection_.finish_ghosts(flow_);
  ghosts_travel_ = false;
}

Flow& Stepper::flow() {
  if (ghosts_travel_) finish_ghosts();
  return flow_;
}

void Stepper::step(double dt) {
  for (int stage = 0; stage < stage_count; ++stage) {
    explicit_part(stage, dt);
    diffusion(stage, dt);
    projection(stage, dt);
  }
}

void Stepper::start() {
  projection_.apply(flow_, 1.0, false);
  finish_ghosts();
}

// The method is stable up to 2.51 on the negative axis, where the shortest waves would stay undamped; up to 1.6 it
// damps them all.
double diffusive_limit(const Flow& flow) {
  const Grid& g = flow.slab.grid;
  const double dx = g.dx(), ratio = g.spatial() ? dx / g.dy() : 0.0;
  double largest = std::max(flow.fluid.viscosity, flow.fluid.diffusivity);
  for (const Scalar& scalar : flow.fluid.scalars) largest = std::max(largest, scalar.diffusivity);
  return 1.6 * dx * dx / (4.0 * largest * (1.0 + ratio * ratio));
}

double largest_courant_rate(const Flow& flow, const Comm& comm) {
  const auto f = flow.fields;
  const auto inverse_height = flow.slab.inverse_height;
  const double dx1 = 1.0 / flow.slab.grid.dx();
  const RowLayout layout = flow.layout;
  const double dy1 = layout.spatial ? 1.0 / flow.slab.grid.dy() : 0.0;
  double most = 0.0;
  Kokkos::parallel_reduce(
      "courant rate", Range(layout.lines, layout.lines * (flow.rows() + 1)),
      KOKKOS_LAMBDA(int line, double& largest) {
        const int k = line / layout.lines, begin = layout.begin(line % layout.lines);
        const double dz1 = inverse_height(k);
        for (int i = begin; i < begin + layout.nx; ++i) {
          double rate = std::fabs(f(field_u, k, i)) * dx1 + std::fabs(f(field_w, k, i)) * dz1;
          if (layout.spatial) rate += std::fabs(f(field_v, k, i)) * dy1;
          // Not "rate > largest": a rate that is not a number must come through.
          if (!(rate <= largest)) largest = rate == rate ? rate : HUGE_VAL;
        }
      },
      Kokkos::Max<double>(most));
  return comm.max(most);
}

}  // namespace cambium::superres
