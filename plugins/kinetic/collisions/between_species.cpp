#include "plugins/kinetic/collisions/between_species.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "plugins/kinetic/collisions/dougherty_nodes.hpp"

namespace cambium::kinetic {

/// SSP-RK3 of both species together at a node, in as many steps as the stiffer one needs.
template <class T>
struct ExchangeSteps {
  DoughertyNodes<T> nodes[2];
  double mass[2];
  View<double*> frequency;
  View<NodeOutcome*> outcomes;
  double dt;

  /// Target of both operators' relaxation, and its rates.
  struct Exchange {
    DoughertyOperator::State state[2];
    double nu[2];
  };

  /// With the arrays `which` of both species; false where one has no state.
  CAMBIUM_FN bool exchange(const NodeTeam& team, int node, int which, Exchange& out, NodeOutcome& outcome) const {
    const int vdim = nodes[0].op.vdim;
    const double nu = frequency(nodes[0].first + node / nodes[0].nodes);
    DoughertyOperator::Moments m[2];
    double density[2], temperature[2], difference = 0.0;
    for (int s = 0; s < 2; ++s) {
      m[s] = nodes[s].moments(team, nodes[s].array(node, which));
      density[s] = m[s].m0 * nodes[s].op.moment_unit();
      double square = 0.0;
      for (int d = 0; d < vdim; ++d) square += m[s].m1[d] * m[s].m1[d] / (m[s].m0 * m[s].m0);
      temperature[s] = mass[s] * (m[s].m2 / m[s].m0 - square) / vdim;
    }
    for (int d = 0; d < vdim; ++d) {
      const double apart = m[0].m1[d] / m[0].m0 - m[1].m1[d] / m[1].m0;
      difference += apart * apart;
    }
    out.nu[0] = nu;
    out.nu[1] = nu * mass[0] * density[0] / (mass[1] * density[1]);
    for (int s = 0; s < 2; ++s) {
      const int o = 1 - s;
      // Per unit of m n nu, which is the same for both: momentum (u_o - u_s)/2 and energy u_s . (u_o - u_s)/2 plus
      // heat.
      const double heat = 0.5 * (vdim * (temperature[o] - temperature[s]) + mass[o] * difference) / (mass[0] + mass[1]);
      double push[3] = {}, work = 0.0;
      for (int d = 0; d < vdim; ++d) {
        const double own = m[s].m1[d] / m[s].m0, pull = 0.5 * (m[o].m1[d] / m[o].m0 - own);
        push[d] = m[s].m0 * pull;
        work += own * pull;
      }
      if (nodes[s].op.find_state(m[s], push, m[s].m0 * (work + heat), out.state[s])) continue;
      outcome.kind = NodeOutcome::no_state;
      outcome.species = s;
      outcome.a = density[s];
      outcome.b = out.state[s].vt2;
      return false;
    }
    return true;
  }

  /// stage = keep f + (1 - keep) (stage + step C(stage))
  CAMBIUM_FN bool take(const NodeTeam& team, int node, double keep, NodeOutcome& outcome) const {
    Exchange now;
    if (!exchange(team, node, 2, now, outcome)) return false;
    for (int s = 0; s < 2; ++s) {
      const double *f = nodes[s].array(node, 1), step = now.nu[s] * dt / outcome.steps;
      double *stage = nodes[s].array(node, 2), *rate = nodes[s].array(node, 3);
      nodes[s].rate(team, stage, rate, now.state[s]);
      each(team, nodes[s].size(), [&](int i) { stage[i] = keep * f[i] + (1.0 - keep) * (stage[i] + step * rate[i]); });
    }
    return true;
  }
  /// Array `to` = array `from` of both species.
  CAMBIUM_FN void copy(const NodeTeam& team, int node, int from, int to) const {
    for (int s = 0; s < 2; ++s) {
      const double* source = nodes[s].array(node, from);
      double* target = nodes[s].array(node, to);
      each(team, nodes[s].size(), [&](int i) { target[i] = source[i]; });
    }
  }
  CAMBIUM_FN void advance(const NodeTeam& team, int node, NodeOutcome& outcome) const {
    Exchange first;
    if (!exchange(team, node, 1, first, outcome)) return;
    double stiffest = 0.0;
    for (int s = 0; s < 2; ++s) {
      const double here = first.nu[s] * nodes[s].op.stiffness(first.state[s]);
      stiffest = stiffest < here ? here : stiffest;
    }
    if (!find_substeps(dt * stiffest, outcome)) return;
    for (int n = 0; n < outcome.steps; ++n) {
      copy(team, node, 1, 2);
      if (!take(team, node, 0.0, outcome) || !take(team, node, 0.75, outcome) || !take(team, node, 1.0 / 3.0, outcome))
        return;
      copy(team, node, 2, 1);
    }
  }
  CAMBIUM_FN void operator()(const NodeTeam& team) const {
    const int node = team.league_rank();
    NodeOutcome outcome;
    for (int s = 0; s < 2; ++s) nodes[s].read(team, node);
    advance(team, node, outcome);
    if (team.team_rank() == 0) outcomes(node) = outcome;
  }
};

template <class T>
void BetweenSpecies::act_on(Solver& a, Solver& b, double dt) {
  const PhaseGrid& grid = a.grid();
  const int all = grid.local_conf_cells(), nodes = side_[0].op.conf_rule().nodes();
  double bytes = 0.0;
  for (const auto& side : side_) bytes += 32.0 * side.op.op().cells * side.op.op().groups;
  const int batch = cells_at_once(all, nodes, bytes);
  ExchangeSteps<T> kernel{{nodes_of<T>(a, side_[0].op, batch), nodes_of<T>(b, side_[1].op, batch)},
                          {side_[0].mass, side_[1].mass},
                          on_device("kinetic: collision frequency", frequency_),
                          View<NodeOutcome*>("kinetic: outcomes of collisions", batch * nodes),
                          dt};
  for (int first = 0; first < all; first += batch) {
    const int cells = std::min(batch, all - first);
    for (auto& species : kernel.nodes) species.first = first;
    Kokkos::parallel_for("kinetic: collisions between species", NodePolicy(cells * nodes, threads_of_a_node()), kernel);
    require_fine(kernel.outcomes, cells * nodes, nodes, first, grid, {&side_[0].op.species(), &side_[1].op.species()});
    for (const auto& species : kernel.nodes)
      Kokkos::parallel_for("kinetic: changes by collisions",
                           PackRange(0, std::int64_t{cells} * species.op.cells * species.parts()), species);
  }
}

double BetweenSpecies::explicit_steps(const std::vector<double>& a, const std::vector<double>& b, double dt) const {
  const Projection& rule = side_[0].op.conf_rule();
  const int n = rule.modes(), vdim = side_[0].op.op().vdim, components = vdim + 2;
  const std::vector<double>* moments[] = {&a, &b};
  std::vector<double> value(rule.nodes());
  double most = 1.0;
  for (std::size_t ic = 0; ic < frequency_.size(); ++ic) {
    std::vector<double> density[2], square[2], u[2][3];
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < components; ++c) {
        rule.evaluate(&(*moments[s])[(ic * components + c) * n], value.data());
        (c == 0 ? density[s] : c <= vdim ? u[s][c - 1] : square[s]) = value;
      }
    for (int q = 0; q < rule.nodes(); ++q) {
      DoughertyOperator::State state;
      double temperature[2], apart = 0.0;
      for (int s = 0; s < 2; ++s) {
        double drift = 0.0;
        for (int d = 0; d < vdim; ++d) drift += std::pow(u[s][d][q] /= density[s][q], 2);
        temperature[s] = side_[s].mass * (square[s][q] / density[s][q] - drift) / vdim;
      }
      for (int d = 0; d < vdim; ++d) {
        apart += std::pow(u[0][d][q] - u[1][d][q], 2);
        state.u[d] = 0.5 * (u[0][d][q] + u[1][d][q]);
      }
      for (int s = 0; s < 2; ++s) {
        const double own = side_[s].mass, other = side_[1 - s].mass;
        const double nu = s == 0 ? frequency_[ic] : frequency_[ic] * other * density[0][q] / (own * density[1][q]);
        state.vt2 =
            temperature[s] / own + (temperature[1 - s] - temperature[s] + other * apart / vdim) / (2.0 * (own + other));
        most = std::max(most, explicit_steps_of(dt * nu * side_[s].op.op().stiffness(state)));
      }
    }
  }
  return most;
}

void BetweenSpecies::act(Solver& a, Solver& b, double dt) {
  const Region region("collisions between species", WorkKind::elementwise);
  in_precision(a, [&](auto number) { act_on<decltype(number)>(a, b, dt); });
}

}  // namespace cambium::kinetic
