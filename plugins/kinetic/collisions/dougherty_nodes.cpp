#include "plugins/kinetic/collisions/dougherty_nodes.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::kinetic {

template <class T>
DoughertyNodes<T> nodes_of(const Solver& solver, const Dougherty& d, int cells) {
  const Projection& rule = d.conf_rule();
  std::vector<double> basis, weight;
  for (int q = 0; q < rule.nodes(); ++q) {
    weight.push_back(rule.weight(q));
    for (int a = 0; a < rule.modes(); ++a) basis.push_back(rule.basis(q, a));
  }
  std::vector<int> group, conf_mode;
  for (const auto& [g, a] : d.modes()) {
    group.push_back(g);
    conf_mode.push_back(a);
  }
  DoughertyNodes<T> out;
  out.cells = packs_of<T>(solver, 0);
  out.op = d.op();
  out.basis = on_device("kinetic: modes at nodes", basis);
  out.weight = on_device("kinetic: weights", weight);
  out.group = on_device("kinetic: groups of modes", group);
  out.conf_mode = on_device("kinetic: modes of configuration space", conf_mode);
  out.nodes = rule.nodes();
  out.conf = rule.modes();
  const auto count = static_cast<std::size_t>(cells) * out.nodes * 4 * static_cast<std::size_t>(out.size());
  out.work = View<double*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kinetic: f at nodes"), count);
  return out;
}

template DoughertyNodes<double> nodes_of<double>(const Solver&, const Dougherty&, int);
template DoughertyNodes<float> nodes_of<float>(const Solver&, const Dougherty&, int);

void require_fine(const View<NodeOutcome*>& outcomes, int count, int nodes, int first, const PhaseGrid& grid,
                  const std::array<const CollidingSpecies*, 2>& species) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), outcomes);
  for (int k = 0; k < count; ++k) {
    const NodeOutcome& found = host(k);
    const int cell = first + k / nodes;
    if (found.kind == NodeOutcome::no_state) refuse_state(*species[found.species], found.a, found.b, grid, cell);
    if (found.kind == NodeOutcome::too_many)
      throw NumericalError(
          fmt::format("collisions: operator 'dougherty' needs {:.2g} sub-steps in a step, by its frequency in cell {}; "
                      "give scheme: implicit, which takes one step at any frequency, or lower 'frequency'",
                      found.a, place_of_cell(grid, cell)));
  }
}

}  // namespace cambium::kinetic
