#include "plugins/kinetic/collisions/dougherty.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "plugins/kinetic/collisions/dougherty_nodes.hpp"

namespace cambium::kinetic {

Dougherty::Dougherty(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency,
                     CollidingSpecies species)
    : grid_(solver.grid()), species_(std::move(species)), frequency_(std::move(frequency)), velocity_cells_(grid_),
      conf_rule_(conf.exponents, solver.basis().order + 1) {
  for (const auto& e : solver.basis().exponents) {
    const std::vector<int> v(e.begin() + grid_.cdim, e.end()), x(e.begin(), e.begin() + grid_.cdim);
    auto at = std::find(groups_.begin(), groups_.end(), v);
    if (at == groups_.end()) {
      groups_.push_back(v);
      at = groups_.end() - 1;
    }
    const auto a = std::find(conf.exponents.begin(), conf.exponents.end(), x);
    mode_.push_back({static_cast<int>(at - groups_.begin()), static_cast<int>(a - conf.exponents.begin())});
  }
  op_.vdim = grid_.vdim;
  op_.cells = grid_.local_velocity_cells();
  op_.groups = static_cast<int>(groups_.size());
  for (int d = grid_.vdim - 1, stride = 1; d >= 0; --d) {
    const Axis& axis = grid_.velocity(d);
    op_.count[d] = axis.cells;
    op_.stride[d] = stride;
    stride *= axis.cells;
    op_.lower[d] = axis.lower;
    op_.upper[d] = axis.upper;
    op_.width[d] = grid_.stretched() ? 1.0 : axis.width();
    op_.narrowest[d] = axis.narrowest();
    op_.along[d] = velocity_cells_.along(d);
  }
  op_.stretched = grid_.stretched();
  make_lines();
  make_matrices();
}

void Dougherty::make_lines() {
  for (int d = 0; d < grid_.vdim; ++d)
    for (const auto& start : groups_) {
      if (start[d] != 0) continue;
      auto& line = op_.line[d][op_.lines[d]++];
      line.counts = std::all_of(start.begin(), start.end(), [](int n) { return n == 0; });
      for (int n = 0; n < 3; ++n) {
        auto e = start;
        e[d] = n;
        const auto at = std::find(groups_.begin(), groups_.end(), e);
        if (at == groups_.end()) break;
        line.group[n] = static_cast<int>(at - groups_.begin());
        line.modes = n + 1;
      }
    }
}

static double slope_of(int n, double xi) {
  const double p[] = {0.0, 1.0, 3.0 * xi};
  return std::sqrt(0.5 * (2 * n + 1)) * p[n];
}

/// Integrals of psi_k' psi_m, psi_k' xi psi_m and psi_k' psi_m'; values and slopes at the upper end; and a bound of the
/// eigenvalues of the diffusion.
void Dougherty::make_matrices() {
  std::vector<double> x, w;
  gauss(4, x, w);
  for (int k = 0; k < 3; ++k) {
    op_.edge[k] = legendre(k, 1.0);
    op_.slope[k] = slope_of(k, 1.0);
    for (int m = 0; m < 3; ++m)
      for (int q = 0; q < 4; ++q) {
        op_.drift[k][m] += w[q] * slope_of(k, x[q]) * legendre(m, x[q]);
        op_.drift_xi[k][m] += w[q] * slope_of(k, x[q]) * x[q] * legendre(m, x[q]);
        op_.diffusion[k][m] += w[q] * slope_of(k, x[q]) * slope_of(m, x[q]);
      }
  }
  op_.largest = 76.0;  // computed once for quadratics with the penalty 6/h, on long lines: 74.7
}

/// SSP-RK3 at a node, in as many steps as it needs.
template <class T>
struct DoughertySteps {
  DoughertyNodes<T> nodes;
  View<double*> frequency;
  View<NodeOutcome*> outcomes;
  double dt;

  /// stage = keep f + (1 - keep) (stage + step C(stage)); false without a state.
  CAMBIUM_FN bool take(const NodeTeam& team, double* const* array, int which, double step, NodeOutcome& out) const {
    const double *f = array[1], *from = which == 0 ? f : array[2];
    double *stage = array[2], *rate = array[3];
    DoughertyOperator::State s;
    if (!state(team, from, s, out)) return false;
    nodes.rate(team, from, rate, s);
    if (which == 0)
      each(team, nodes.size(), [&](int i) { stage[i] = f[i] + step * rate[i]; });
    else if (which == 1)
      each(team, nodes.size(), [&](int i) { stage[i] = 0.75 * f[i] + 0.25 * (stage[i] + step * rate[i]); });
    else
      each(team, nodes.size(), [&](int i) { array[1][i] = f[i] / 3.0 + 2.0 / 3.0 * (stage[i] + step * rate[i]); });
    return true;
  }
  CAMBIUM_FN bool state(const NodeTeam& team, const double* f, DoughertyOperator::State& s, NodeOutcome& out) const {
    const double push[3] = {};
    const auto m = nodes.moments(team, f);
    if (nodes.op.find_state(m, push, 0.0, s)) return true;
    out.kind = NodeOutcome::no_state;
    out.a = m.m0 * nodes.op.moment_unit();
    out.b = s.vt2;
    return false;
  }
  CAMBIUM_FN void advance(const NodeTeam& team, int node, NodeOutcome& out) const {
    double* const array[] = {nodes.array(node, 0), nodes.array(node, 1), nodes.array(node, 2), nodes.array(node, 3)};
    const double nu = frequency(nodes.first + node / nodes.nodes);
    DoughertyOperator::State s;
    if (!state(team, array[1], s, out) || !find_substeps(dt * nu * nodes.op.stiffness(s), out)) return;
    const double step = nu * dt / out.steps;
    for (int n = 0; n < out.steps; ++n)
      for (int k = 0; k < 3; ++k)
        if (!take(team, array, k, step, out)) return;
  }
  CAMBIUM_FN void operator()(const NodeTeam& team) const {
    const int node = team.league_rank();
    NodeOutcome out;
    nodes.read(team, node);
    advance(team, node, out);
    if (team.team_rank() == 0) outcomes(node) = out;
  }
};

template <class T>
void Dougherty::act_on(Solver& solver, double dt) {
  const int all = grid_.local_conf_cells(), nodes = conf_rule_.nodes();
  const int batch = cells_at_once(all, nodes, 32.0 * op_.cells * op_.groups);
  DoughertySteps<T> kernel{nodes_of<T>(solver, *this, batch), on_device("kinetic: collision frequency", frequency_),
                           View<NodeOutcome*>("kinetic: outcomes of collisions", batch * nodes), dt};
  for (int& first = kernel.nodes.first; first < all; first += batch) {
    const int cells = std::min(batch, all - first);
    Kokkos::parallel_for("kinetic: Dougherty collisions", NodePolicy(cells * nodes, threads_of_a_node()), kernel);
    require_fine(kernel.outcomes, cells * nodes, nodes, first, grid_, {&species_, &species_});
    Kokkos::parallel_for("kinetic: changes by collisions",
                         PackRange(0, std::int64_t{cells} * op_.cells * kernel.nodes.parts()), kernel.nodes);
  }
}

double Dougherty::explicit_steps(const std::vector<double>& moments, double dt) const {
  const int n = conf_rule_.modes(), components = grid_.vdim + 2;
  std::vector<std::vector<double>> values(components, std::vector<double>(conf_rule_.nodes()));
  double most = 1.0;
  for (int ic = 0; ic < grid_.local_conf_cells(); ++ic) {
    for (int c = 0; c < components; ++c)
      conf_rule_.evaluate(&moments[(static_cast<std::size_t>(ic) * components + c) * n], values[c].data());
    for (int q = 0; q < conf_rule_.nodes(); ++q) {
      DoughertyOperator::State s;
      double square = 0.0;
      for (int d = 0; d < grid_.vdim; ++d) {
        s.u[d] = values[1 + d][q] / values[0][q];
        square += s.u[d] * s.u[d];
      }
      s.vt2 = (values[1 + grid_.vdim][q] / values[0][q] - square) / grid_.vdim;
      most = std::max(most, explicit_steps_of(dt * frequency_[ic] * op_.stiffness(s)));
    }
  }
  return most;
}

void Dougherty::act(Solver& solver, double dt) {
  const Region region("Dougherty collisions", WorkKind::elementwise);
  in_precision(solver, [&](auto number) { act_on<decltype(number)>(solver, dt); });
}

}  // namespace cambium::kinetic
