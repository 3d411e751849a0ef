#include "plugins/superres/convection/stepper.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

namespace {

/// Number of rows processed together: full packs of them for transforms of lines.
int batch_of(const Slab& slab, Sweeps sweeps) {
  if (sweeps == Sweeps::by_columns) return slab.rows;
  return std::min(slab.rows, slab.grid.spatial() ? 1 : 16 * host_threads());
}

}  // namespace

Stepper::Stepper(const Comm& comm, const Slab& slab, const Fluid& fluid, Sweeps sweeps)
    : sweeps_(sweeps), flow_(slab, fluid),
      tendency_("tendency", flow_.carried(), slab.rows + 2, flow_.layout.columns()),
      rhs_("rhs", flow_.carried(), slab.rows + 2, flow_.layout.columns()),
      diffusion_{WallNormalDiffusion(comm, slab, fluid), WallNormalDiffusion(comm, slab, fluid),
                 WallNormalDiffusion(comm, slab, fluid)},
      projection_(comm, slab, static_cast<int>(flow_.fields.extent(0)), batch_of(slab, sweeps)) {}

void Stepper::explicit_part(int stage, double dt) {
  if (sweeps_ == Sweeps::by_rows) return explicit_by_rows(stage, dt);
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

/// A sweep from a plate needs the ghosts of another rank only at its end.
void Stepper::explicit_by_rows(int stage, double dt) {
  WallNormalDiffusion& systems = diffusion_[stage];
  systems.set(stages[stage].alpha * dt);
  const auto elimination = systems.elimination();
  const int m = flow_.rows();
  const auto rows = [&](int first, int last) {
    eliminated_terms(flow_, stages[stage], dt, tendency_, rhs_, first, last, elimination);
  };
  if (!ghosts_travel_) return rows(1, m + 1);
  const Sweep& sweep = elimination.sweep;
  if (sweep.behind) {
    finish_ghosts();
    return rows(1, m + 1);
  }
  const int end = sweep.row(m);
  rows(sweep.down ? 2 : 1, sweep.down ? m + 1 : m);
  finish_ghosts();
  rows(end, end + 1);
}

void Stepper::diffusion(int stage, double dt) {
  const double alpha_dt = stages[stage].alpha * dt;
  if (sweeps_ == Sweeps::by_rows) return add_by_rows(stage, alpha_dt);
  diffusion_[stage].set(alpha_dt);
  diffusion_[stage].add(flow_, rhs_);
  take_divergence(alpha_dt);
}

/// The divergence of a row requires w in the row above: in an upward sweep it is computed one row later.
void Stepper::add_by_rows(int stage, double alpha_dt) {
  WallNormalDiffusion& systems = diffusion_[stage];
  systems.join(flow_, rhs_);
  const Sweep sweep = systems.elimination().sweep;
  const int m = flow_.rows(), batch = projection_.batch();
  for (int end = m + 1; end > 1; end -= batch) {
    const int begin = std::max(1, end - batch);
    systems.add_rows(flow_, rhs_, begin, end);
    if (!sweep.down) {
      projection_.take(flow_, alpha_dt, begin, end);
      continue;
    }
    const int first = std::max(1, m + 1 - end), last = m + 1 - begin;  // one row below those of these steps
    if (first < last) projection_.take(flow_, alpha_dt, first, last);
    if (begin == 1) projection_.take(flow_, alpha_dt, m, m + 1);
  }
}

void Stepper::take_divergence(double alpha_dt) {
  const int m = flow_.rows(), batch = projection_.batch();
  for (int first = 1; first <= m; first += batch)
    projection_.take(flow_, alpha_dt, first, std::min(first + batch, m + 1));
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
  take_divergence(1.0);
  projection_.apply(flow_, 1.0, false);
  finish_ghosts();
}

// The method is stable up to 2.51 on the negative real axis, where the shortest waves would be undamped; up to 1.6 it
// damps all waves.
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
          // Not "rate > largest": NaN must propagate.
          if (!(rate <= largest)) largest = rate == rate ? rate : HUGE_VAL;
        }
      },
      Kokkos::Max<double>(most));
  return comm.max(most);
}

}  // namespace cambium::superres
