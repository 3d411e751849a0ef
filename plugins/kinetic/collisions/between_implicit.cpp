// Collisions between species, implicit in velocity.
#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "plugins/kinetic/collisions/between_species.hpp"
#include "plugins/kinetic/collisions/implicit_nodes.hpp"

namespace cambium::kinetic {

/// (exp(x) - 1)/x
CAMBIUM_FN double exponential_slope(double x) { return std::abs(x) < 1e-8 ? 1.0 + 0.5 * x : std::expm1(x) / x; }

/// Moments of both species at a node, in one lane and in physical units, and their relaxation by collisions: with
/// D = u_a - u_b and W = T_a - T_b the prescription (BetweenSpecies) is
///   dD/dt = -s D,   dW/dt = -k W + g D^2,   s = (nu_ab + nu_ba)/2,   k = (m_a nu_ab + m_b nu_ba)/(m_a + m_b),
///   g = (nu_ab - nu_ba) m_a m_b/((m_a + m_b) vdim),
/// whose solution is exact for any dt.
struct Relaxation {
  struct Gas {
    double mass, density, u[3], temperature, nu;
  } gas[2];
  int vdim;

  /// Momentum that gas 0 gains from gas 1, and energy.
  CAMBIUM_FN void exchange(double dt, double* momentum, double& energy) const {
    const Gas &a = gas[0], &b = gas[1];
    const double s = 0.5 * (a.nu + b.nu), k = (a.mass * a.nu + b.mass * b.nu) / (a.mass + b.mass),
                 g = (a.nu - b.nu) * a.mass * b.mass / ((a.mass + b.mass) * vdim);
    double square = 0.0, before = 0.0, after = 0.0, own = 0.0;
    for (int d = 0; d < vdim; ++d) {
      const double apart = a.u[d] - b.u[d];
      momentum[d] = -0.5 * a.nu * a.mass * a.density * apart * dt * exponential_slope(-s * dt);
      const double ua = a.u[d] + momentum[d] / (a.mass * a.density), ub = b.u[d] - momentum[d] / (b.mass * b.density);
      square += apart * apart;
      before += 0.5 * (a.mass * a.density * a.u[d] * a.u[d] + b.mass * b.density * b.u[d] * b.u[d]);
      after += 0.5 * (a.mass * a.density * ua * ua + b.mass * b.density * ub * ub);
      own += 0.5 * a.mass * a.density * (ua * ua - a.u[d] * a.u[d]);
    }
    const double apart = a.temperature - b.temperature;
    const double change = apart * std::expm1(-k * dt) +
                          g * square * std::exp(-2.0 * s * dt) * dt * exponential_slope(-(k - 2.0 * s) * dt);
    // n_a T_a + n_b T_b gains what the drifts lose.
    const double heat = 2.0 * (before - after) / vdim;
    energy = own + 0.5 * vdim * a.density * (heat + b.density * change) / (a.density + b.density);
  }
};

/// A step of both species at each node of the units of a batch.
template <class T>
struct ImplicitExchange {
  using Nodes = ImplicitNodes<T>;
  using D = typename Nodes::D;
  Nodes nodes[2];
  double mass[2];
  View<double*> frequency;
  View<NodeOutcome*> outcomes;
  double dt;

  CAMBIUM_FN Relaxation relaxation(const typename Nodes::Moments* m, double nu, int lane) const {
    Relaxation out;
    out.vdim = nodes[0].op.vdim;
    for (int s = 0; s < 2; ++s) {
      auto& gas = out.gas[s];
      gas.mass = mass[s];
      gas.density = m[s].m0[lane] * nodes[s].op.moment_unit();
      double square = 0.0;
      for (int d = 0; d < out.vdim; ++d) {
        gas.u[d] = m[s].m1[d][lane] / m[s].m0[lane];
        square += gas.u[d] * gas.u[d];
      }
      gas.temperature = mass[s] * (m[s].m2[lane] / m[s].m0[lane] - square) / out.vdim;
    }
    out.gas[0].nu = nu;
    out.gas[1].nu = nu * mass[0] * out.gas[0].density / (mass[1] * out.gas[1].density);
    return out;
  }
  /// Targets of both, and nu dt of both.
  CAMBIUM_FN void find_targets(const typename Nodes::Moments* m, const double* nu, typename Nodes::Target* target,
                               D* z) const {
    double m1[2][3][Nodes::lanes] = {}, m2[2][Nodes::lanes], length[2][Nodes::lanes];
    for (int l = 0; l < Nodes::lanes; ++l) {
      const Relaxation here = relaxation(m, nu[l], l);
      double momentum[3] = {}, energy = 0.0;
      here.exchange(dt, momentum, energy);
      for (int s = 0; s < 2; ++s) {
        const double unit = (s == 0 ? 1.0 : -1.0) / (mass[s] * nodes[s].op.moment_unit());
        for (int d = 0; d < here.vdim; ++d) m1[s][d][l] = m[s].m1[d][l] + unit * momentum[d];
        m2[s][l] = m[s].m2[l] + 2.0 * unit * energy;
        length[s][l] = here.gas[s].nu * dt;
      }
    }
    for (int s = 0; s < 2; ++s) {
      for (int d = 0; d < nodes[0].op.vdim; ++d) target[s].m1[d] = D::load(m1[s][d]);
      target[s].m2 = D::load(m2[s]);
      z[s] = max(D::load(length[s]), D(1e-200));
    }
  }
  CAMBIUM_FN void operator()(const NodeTeam& team) const {
    const int count = nodes[0].nodes, unit = team.league_rank() / count, node = team.league_rank() % count;
    double* scratch = nodes[nodes[0].longest() < nodes[1].longest()].scratch(team);
    typename Nodes::Moments m[2];
    for (int s = 0; s < 2; ++s) m[s] = nodes[s].moments_at(team, unit, node);
    typename Nodes::Target target[2];
    D z[2];
    find_targets(m, frequency.data() + std::int64_t{nodes[0].first + unit} * Nodes::lanes, target, z);
    NodeOutcome out[Nodes::lanes];
    for (int s = 0; s < 2; ++s) {
      typename Nodes::State found;
      if (nodes[s].advance(team, unit, node, m[s], target[s], z[s], scratch, found)) continue;
      for (int l = 0; l < Nodes::lanes; ++l) out[l] = nodes[s].outcome(false, m[s], found, l, s);
      break;
    }
    if (team.team_rank() == 0)
      for (int l = 0; l < Nodes::lanes; ++l) outcomes(std::int64_t{team.league_rank()} * Nodes::lanes + l) = out[l];
  }
};

template <class T>
void BetweenSpecies::act_implicitly_on(Solver& a, Solver& b, double dt) {
  using Nodes = ImplicitNodes<T>;
  const int nodes = side_[0].op.conf_rule().nodes();
  double bytes = 0.0;
  for (const auto& side : side_) bytes += 8.0 * Nodes::lanes * nodes * side.op.op().cells * side.op.op().groups;
  ImplicitRun run(a, nodes, Nodes::lanes, bytes);
  ImplicitExchange<T> kernel{
      {implicit_nodes_of<T>(a, side_[0].op, run.at_once()), implicit_nodes_of<T>(b, side_[1].op, run.at_once())},
      {side_[0].mass, side_[1].mass},
      run.by_lane(frequency_),
      run.outcomes,
      dt};
  const int threads = threads_of_lines(),
            scratch = std::max(kernel.nodes[0].scratch_bytes(threads), kernel.nodes[1].scratch_bytes(threads));
  for (int first = 0; first < run.units(); first += run.at_once()) {
    const int units = std::min(run.at_once(), run.units() - first);
    for (auto& species : kernel.nodes) {
      species.first = first;
      Kokkos::parallel_for("kinetic: f at nodes", PackRange(0, std::int64_t{units} * species.op.cells),
                           ReadUnits<T>{species});
    }
    Kokkos::parallel_for("kinetic: implicit collisions between species",
                         implicit_policy(units * nodes, scratch, threads), kernel);
    run.require_fine(first, units, a.grid(), {&side_[0].op.species(), &side_[1].op.species()});
    for (const auto& species : kernel.nodes)
      Kokkos::parallel_for("kinetic: changes by collisions", PackRange(0, std::int64_t{units} * species.op.cells),
                           WriteUnits<T>{species});
  }
}

void BetweenSpecies::act_implicitly(Solver& a, Solver& b, double dt) {
  const Region region("implicit collisions between species", WorkKind::elementwise);
  in_precision(a, [&](auto number) { act_implicitly_on<decltype(number)>(a, b, dt); });
}

}  // namespace cambium::kinetic
