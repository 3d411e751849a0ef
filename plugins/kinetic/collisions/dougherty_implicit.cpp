// Dougherty collisions of a species with itself, implicit in velocity.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "plugins/kinetic/collisions/implicit_nodes.hpp"

namespace cambium::kinetic {

ImplicitRun::ImplicitRun(const Solver& solver, int nodes, int lanes, double bytes_of_unit)
    : nodes_(nodes), lanes_(lanes) {
  const Layout& layout = solver.storage(0).layout;
  units_ = layout.blocks() * (layout.width / lanes);
  const double room = device_is_host ? double(1 << 20) * host_threads() : double(1 << 30);
  const int least = device_is_host ? host_threads() : 1;
  batch_ = std::clamp(static_cast<int>(room / bytes_of_unit), least, std::max(least, units_));
  outcomes = View<NodeOutcome*>("kinetic: outcomes of collisions", static_cast<std::size_t>(batch_) * nodes * lanes);
  cell_of_.assign(static_cast<std::size_t>(layout.blocks()) * layout.width, -1);
  for (int k = 0; k < solver.grid().local_conf_cells(); ++k) {
    const InBlocks at(layout, k);
    cell_of_[static_cast<std::size_t>(at.block) * layout.width + at.lane] = k;
  }
}

View<double*> ImplicitRun::by_lane(const std::vector<double>& of_cells) const {
  std::vector<double> out(cell_of_.size(), 0.0);
  for (std::size_t k = 0; k < out.size(); ++k)
    if (cell_of_[k] >= 0) out[k] = of_cells[cell_of_[k]];
  return on_device("kinetic: collision frequency", out);
}

void ImplicitRun::require_fine(int first, int count, const PhaseGrid& grid,
                               const std::array<const CollidingSpecies*, 2>& species) const {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), outcomes);
  for (int unit = 0; unit < count; ++unit)
    for (int q = 0; q < nodes_; ++q)
      for (int l = 0; l < lanes_; ++l) {
        const NodeOutcome& found = host((std::size_t(unit) * nodes_ + q) * lanes_ + l);
        const int cell = cell_of_[(static_cast<std::size_t>(first) + unit) * lanes_ + l];
        if (cell < 0 || found.kind == NodeOutcome::fine) continue;
        if (found.kind == NodeOutcome::no_state) refuse_state(*species[found.species], found.a, found.b, grid, cell);
        throw NumericalError(
            fmt::format("collisions: f of species '{}' is cut off by the ends of its velocity space in cell {}: an "
                        "implicit step finds no drift and temperature that conserve momentum and energy; move 'lower' "
                        "and 'upper' of its 'velocity' outwards, or give scheme: explicit",
                        species[found.species]->name, place_of_cell(grid, cell)));
      }
}

/// A step at each node of the units of a batch.
template <class T>
struct ImplicitSteps {
  using Nodes = ImplicitNodes<T>;
  using D = typename Nodes::D;
  Nodes nodes;
  View<double*> frequency;
  View<NodeOutcome*> outcomes;
  double dt;

  CAMBIUM_FN void operator()(const NodeTeam& team) const {
    const int unit = team.league_rank() / nodes.nodes, node = team.league_rank() % nodes.nodes;
    double* scratch = nodes.scratch(team);
    const D z = max(D::load(frequency.data() + std::int64_t{nodes.first + unit} * Nodes::lanes) * D(dt), D(1e-200));
    const auto m = nodes.moments_at(team, unit, node);
    typename Nodes::Target target;
    for (int d = 0; d < nodes.op.vdim; ++d) target.m1[d] = m.m1[d];
    target.m2 = m.m2;
    typename Nodes::State s;
    const bool fine = nodes.advance(team, unit, node, m, target, z, scratch, s);
    if (team.team_rank() != 0) return;
    for (int l = 0; l < Nodes::lanes; ++l) {
      outcomes(std::int64_t{team.league_rank()} * Nodes::lanes + l) = nodes.outcome(fine, m, s, l, 0);
    }
  }
};

template <class T>
void Dougherty::act_implicitly_on(Solver& solver, double dt) {
  using Nodes = ImplicitNodes<T>;
  const int nodes = conf_rule_.nodes();
  ImplicitRun run(solver, nodes, Nodes::lanes, 8.0 * Nodes::lanes * nodes * op_.cells * op_.groups);
  ImplicitSteps<T> kernel{implicit_nodes_of<T>(solver, *this, run.at_once()), run.by_lane(frequency_), run.outcomes,
                          dt};
  const int threads = threads_of_lines(), bytes = kernel.nodes.scratch_bytes(threads);
  for (int& first = kernel.nodes.first; first < run.units(); first += run.at_once()) {
    const int units = std::min(run.at_once(), run.units() - first);
    const PackRange cells(0, std::int64_t{units} * op_.cells);
    Kokkos::parallel_for("kinetic: f at nodes", cells, ReadUnits<T>{kernel.nodes});
    Kokkos::parallel_for("kinetic: implicit Dougherty collisions", implicit_policy(units * nodes, bytes, threads),
                         kernel);
    run.require_fine(first, units, grid_, {&species_, &species_});
    Kokkos::parallel_for("kinetic: changes by collisions", cells, WriteUnits<T>{kernel.nodes});
  }
}

void Dougherty::act_implicitly(Solver& solver, double dt) {
  const Region region("implicit Dougherty collisions", WorkKind::elementwise);
  in_precision(solver, [&](auto number) { act_implicitly_on<decltype(number)>(solver, dt); });
}

}  // namespace cambium::kinetic
