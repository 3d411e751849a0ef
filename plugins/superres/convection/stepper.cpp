#include "plugins/superres/convection/stepper.hpp"

#include <cmath>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

Stepper::Stepper(const Comm& comm, const Slab& slab, const Fluid& fluid)
    : flow(slab, fluid),
      tendency_("tendency", 3, slab.rows + 2, pitch_of(slab.grid.nx)),
      rhs_("rhs", 3, slab.rows + 2, pitch_of(slab.grid.nx)),
      diffusion_{WallNormalDiffusion(comm, slab, fluid), WallNormalDiffusion(comm, slab, fluid),
                 WallNormalDiffusion(comm, slab, fluid)},
      projection_(comm, slab) {}

void Stepper::explicit_part(int stage, double dt) { explicit_terms(flow, stages[stage], dt, tendency_, rhs_); }

void Stepper::diffusion(int stage, double dt) {
  diffusion_[stage].set(stages[stage].alpha * dt);
  diffusion_[stage].add(flow, rhs_);
}

void Stepper::projection(int stage, double dt) { projection_.apply(flow, stages[stage].alpha * dt, true); }

void Stepper::step(double dt) {
  for (int stage = 0; stage < stage_count; ++stage) {
    explicit_part(stage, dt);
    diffusion(stage, dt);
    projection(stage, dt);
  }
}

void Stepper::start() { projection_.apply(flow, 1.0, false); }

double largest_courant_rate(const Flow& flow, const Comm& comm) {
  const auto f = flow.fields;
  const auto inverse_height = flow.slab.inverse_height;
  const double dx1 = 1.0 / flow.slab.grid.dx();
  const int nx = flow.nx();
  double most = 0.0;
  Kokkos::parallel_reduce("courant rate", Range(1, flow.rows() + 1), KOKKOS_LAMBDA(int k, double& largest) {
    const double dz1 = inverse_height(k);
    for (int i = margin; i < margin + nx; ++i) {
      const double rate = std::fabs(f(field_u, k, i)) * dx1 + std::fabs(f(field_w, k, i)) * dz1;
      // Not "rate > largest": a rate that is not a number must come through.
      if (!(rate <= largest)) largest = rate == rate ? rate : HUGE_VAL;
    }
  }, Kokkos::Max<double>(most));
  return comm.max(most);
}

}  // namespace cambium::superres
