#include "plugins/kinetic/collisions/between_species.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/record/recorder.hpp"
namespace cambium::kinetic {

BetweenSpecies::Exchange BetweenSpecies::exchange_of(const Pair& f, double frequency, int cell, int vdim) const {
  Dougherty::Moments m[2];
  double density[2], temperature[2], difference = 0.0;
  for (int s = 0; s < 2; ++s) {
    m[s] = side_[s].op.moments_of(f[s].data());
    density[s] = m[s].m0 * side_[s].op.moment_unit();
    double square = 0.0;
    for (int d = 0; d < vdim; ++d) square += m[s].m1[d] * m[s].m1[d] / (m[s].m0 * m[s].m0);
    temperature[s] = side_[s].mass * (m[s].m2 / m[s].m0 - square) / vdim;
  }
  for (int d = 0; d < vdim; ++d) difference += std::pow(m[0].m1[d] / m[0].m0 - m[1].m1[d] / m[1].m0, 2);
  Exchange out;
  out.nu = {frequency, frequency * side_[0].mass * density[0] / (side_[1].mass * density[1])};
  for (int s = 0; s < 2; ++s) {
    const int o = 1 - s;
    // Per unit of m n nu, which both sides share: momentum (u_o - u_s)/2 and energy u_s . (u_o - u_s)/2 plus heat.
    const double heat =
        0.5 * (vdim * (temperature[o] - temperature[s]) + side_[o].mass * difference) / (side_[0].mass + side_[1].mass);
    std::array<double, 3> push{};
    double work = 0.0;
    for (int d = 0; d < vdim; ++d) {
      const double own = m[s].m1[d] / m[s].m0, pull = 0.5 * (m[o].m1[d] / m[o].m0 - own);
      push[d] = m[s].m0 * pull, work += own * pull;
    }
    out.state[s] = side_[s].op.state_for(m[s], cell, push, m[s].m0 * (work + heat));
  }
  return out;
}

/// SSP-RK3 of both species together, in as many steps as the stiffer one needs.
void BetweenSpecies::advance(Pair& f, double frequency, double dt, int cell, int vdim) const {
  const Exchange first = exchange_of(f, frequency, cell, vdim);
  double stiffest = 0.0;
  for (int s = 0; s < 2; ++s) stiffest = std::max(stiffest, first.nu[s] * side_[s].op.stiffness(first.state[s]));
  const int steps = Dougherty::substeps_for(dt * stiffest, cell);
  Pair stage = f, rate = f;
  // stage = keep f + (1 - keep) (stage + step C(stage))
  auto take = [&](double keep) {
    const Exchange now = exchange_of(stage, frequency, cell, vdim);
    for (int s = 0; s < 2; ++s) {
      side_[s].op.rate(stage[s].data(), rate[s].data(), now.state[s]);
      const double step = now.nu[s] * dt / steps;
      for (std::size_t i = 0; i < f[s].size(); ++i)
        stage[s][i] = keep * f[s][i] + (1.0 - keep) * (stage[s][i] + step * rate[s][i]);
    }
  };
  for (int n = 0; n < steps; ++n) {
    stage = f;
    take(0.0), take(0.75), take(1.0 / 3.0);
    f = stage;
  }
}

void BetweenSpecies::act(Solver& a, Solver& b, double dt) {
  const Region region("collisions between species", WorkKind::elementwise);
  Solver* solver[] = {&a, &b};
  const PhaseGrid& grid = a.grid();
  for (auto* s : solver) s->to_host_const(0);
  Pair f, change, before, node;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic) {
    const int cell = grid.conf_index(grid.local_conf(ic));
    for (int s = 0; s < 2; ++s) side_[s].op.read(*solver[s], ic, f[s]), change[s].assign(f[s].size(), 0.0);
    for (int q = 0; q < side_[0].op.nodes(); ++q) {
      for (int s = 0; s < 2; ++s) side_[s].op.at_node(f[s], q, before[s]);
      node = before;
      advance(node, frequency_[ic], dt, cell, grid.vdim);
      for (int s = 0; s < 2; ++s) side_[s].op.add_change(before[s], node[s], q, change[s]);
    }
    for (int s = 0; s < 2; ++s) {
      for (std::size_t k = 0; k < f[s].size(); ++k) f[s][k] += change[s][k];
      side_[s].op.write(*solver[s], ic, f[s]);
    }
  }
  for (auto* s : solver) s->to_device(0);
}

}  // namespace cambium::kinetic
