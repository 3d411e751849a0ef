#include "plugins/md/physics/md_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/md/domain/brick_grid.hpp"

namespace cambium::md {

namespace {

constexpr double word = 8.0;
/// Largest lattice that is built to count its atoms when only some of them are kept.
constexpr std::int64_t most_made = 4000000;

/// Number of atoms and cell of the deck, without building the atoms if a lattice determines them.
std::pair<double, Box> size_of(const Md::Params& params, Context& context) {
  const auto& given = params.structure;
  if (given.lattice && !given.keep) {
    LatticeSpec one = *given.lattice;
    one.cells = {1, 1, 1};
    one.displacement = 0.0;
    Box box = make_lattice(one, context.comm, 0).box;
    double atoms = static_cast<double>(atoms_of(*given.lattice));
    for (int d = 0; d < 3; ++d) {
      for (double& x : box.h[d]) x *= static_cast<double>(given.lattice->cells[d]) * given.repeat[d];
      atoms *= given.repeat[d];
    }
    return {atoms, box};
  }
  if (given.lattice && atoms_of(*given.lattice) > most_made)
    throw KeyError(
        "md.structure.keep", "structure.keep",
        fmt::format("structure.keep: a part of {} atoms is not counted to plan; leave 'keep' out, and give a lattice "
                    "with as many cells as the part has",
                    atoms_of(*given.lattice)));
  StructureInput at_rest = given;
  at_rest.velocities = false;
  const auto particles = build_structure(at_rest, params.masses, context);
  Box box = particles.box;
  double atoms = static_cast<double>(context.comm.sum(static_cast<std::int64_t>(particles.nlocal)));
  if (given.lattice) {  // a part: with the density of the full lattice, in a cell that it fills
    const double whole =
        static_cast<double>(atoms_of(*given.lattice)) * given.repeat[0] * given.repeat[1] * given.repeat[2];
    for (auto& row : box.h)
      for (double& x : row) x *= std::cbrt(atoms / whole);
  }
  return {atoms, box};
}

}  // namespace

MdCost::MdCost(const Params& params, Context& context)
    : params_(params), potential_(context.registry->make<Potential>(params.potential, context)) {
  std::tie(atoms_, box_) = size_of(params, context);
  constexpr double usual = 300.0;  // K, if the deck gives none
  // Half of a crystal's initial kinetic energy is converted to potential energy.
  const double temperature = params.initial_temperature.value_or(usual) * (params.structure.lattice ? 0.5 : 1.0);
  double lightest = 1e300;
  if (const auto species = species_of(params.structure, params.masses, context)) {
    deck::about_key("", "potential", [&] { potential_->bind(*species); });
    for (const auto& s : *species) lightest = std::min(lightest, s.mass);
  }
  if (!(potential_->cutoff() > 0.0))
    throw KeyError("md.potential.range", "potential",
                   fmt::format("how far {} reaches is not known before its model is there; run the stage that writes "
                               "it, or name a model file",
                               params.potential.type));
  range_ = potential_->cutoff() + params.skin;
  sums_per_step_ = context.registry->make<Integrator>(params.integrator, context)->sums_per_step();
  speed_ = std::sqrt(constants::boltzmann * temperature / (constants::mvv2e * lightest));
}

std::string MdCost::summary() const {
  return fmt::format("{:.0f} atoms, {} within {:.4g} Å and {:g} Å of skin", atoms_, params_.potential.type,
                     potential_->cutoff(), params_.skin);
}

/// Steps until the fastest of `atoms` atoms has moved half of the skin.
double MdCost::steps_of_a_list(double atoms) const {
  const double fastest = speed_ * std::sqrt(2.0 * std::log(std::max(atoms, 2.0)) + 2.0);
  return std::max(1.0, 0.5 * params_.skin / (fastest * params_.timestep));
}

MdCost::Surroundings MdCost::around(int ranks, const Box& box, double atoms) const {
  const auto height = box.heights();
  const double r = range_, pi = constants::pi, density = atoms / box.volume();
  const bool given = params_.ranks && (*params_.ranks)[0] * (*params_.ranks)[1] * (*params_.ranks)[2] == ranks;
  const BrickGrid grid = given ? BrickGrid::given(*params_.ranks, ranks) : BrickGrid::choose(ranks, box, r);
  grid.require_room(box, r);
  double e[3], lone[3];
  int layers[3];
  for (int d = 0; d < 3; ++d) {
    e[d] = height[d] / grid.count[d];
    lone[d] = grid.count[d] == 1 ? 1.0 : 0.0;
    layers[d] = static_cast<int>(r / e[d]) + 1;
  }
  // Volume within r of a brick (Steiner formula), minus the part in its own images across undivided directions.
  double volume = 4.0 / 3.0 * pi * r * r * r, surface = 0.0;
  for (int d = 0; d < 3; ++d) {
    const int f = (d + 1) % 3, g = (d + 2) % 3;
    volume += (2.0 * r * e[f] * e[g]) * (1.0 - lone[d]) + pi * r * r * e[d] * (1.0 - lone[f] * lone[g]);
    surface += 2.0 * e[f] * e[g] * (1.0 - lone[d]);
  }
  std::set<std::array<int, 3>> peers;
  for (int i = -layers[0]; i <= layers[0]; ++i)
    for (int j = -layers[1]; j <= layers[1]; ++j)
      for (int k = -layers[2]; k <= layers[2]; ++k) {
        const int at[3] = {i, j, k};
        double far = 0.0;
        std::array<int, 3> brick;
        for (int d = 0; d < 3; ++d) {
          const double gap = std::max(0, std::abs(at[d]) - 1) * e[d];
          far += gap * gap;
          brick[d] = ((at[d] % grid.count[d]) + grid.count[d]) % grid.count[d];
        }
        if (far < r * r && brick != std::array<int, 3>{0, 0, 0}) peers.insert(brick);
      }
  const bool alone = ranks == 1;
  return {{grid.count[0], grid.count[1], grid.count[2]},
          atoms / ranks,
          alone ? 0.0 : density * volume,
          surface,
          static_cast<double>(peers.size()),
          density};
}

void MdCost::add_messages(const Surroundings& s, double between, StepCost& out) const {
  using Pattern = StepMessages::Pattern;
  const auto* costs = dynamic_cast<const CostsPerAtom*>(potential_.get());
  const double often = 1.0 / between;
  const auto near = [&](const char* name, double calls, double words) {
    const double bytes = calls * words * word * s.ghosts;
    out.messages.push_back({name, Pattern::neighbours, calls, calls * s.peers, bytes, bytes, 3});
  };
  near("positions of ghosts", 1.0, 4.0);
  if (costs && costs->atom_cost(1.0).forward_words > 0.0)
    near("ghosts' words of the potential", 1.0, costs->atom_cost(1.0).forward_words);
  if (potential_->writes_ghost_forces()) near("forces of ghosts", 1.0, 3.0);
  // A new list: new ghosts with their indices, their number, and atoms that have left through the surface.
  constexpr double row = 112.0, moved = 0.05;  // B; of the skin, on average along the surface's normal
  const double leaving = moved * params_.skin * s.surface * row * s.density;
  near("new lists: ghosts", often, 1.0);
  auto& lists = out.messages.back();
  lists.rounds *= 4.0;
  lists.messages *= 4.0;
  lists.sent += often * (8.0 * s.peers + leaving);
  lists.received = lists.sent;
  const double sums = 1.0 + sums_per_step_;
  out.messages.push_back({"how far atoms have come, sums", Pattern::reduce, sums + often, 0.0,
                          word * (sums + 3.0 * often), word * (sums + 3.0 * often)});
}

StepCost MdCost::of(int ranks, double times) const {
  Box box = box_;
  for (auto& row : box.h)
    for (double& x : row) x *= std::cbrt(times);
  const double atoms = atoms_ * times;
  const Surroundings s = around(ranks, box, atoms);
  const double density = atoms / box.volume(), between = steps_of_a_list(atoms);
  const auto within = [&](double r) { return 4.0 / 3.0 * constants::pi * r * r * r * density; };
  StepCost out;
  out.parts = fmt::format("{} x {} x {} bricks", s.count[0], s.count[1], s.count[2]);
  out.items = s.atoms;
  const double listed = within(range_), rows = s.atoms + s.ghosts;
  if (const auto* costs = dynamic_cast<const CostsPerAtom*>(potential_.get())) {
    out.operations = s.atoms * (costs->atom_cost(within(potential_->cutoff())).operations + 9.0 * listed);
    // The list once, positions and forces a few times; a new list reads 27 cells of half a range for each atom.
    out.moved = s.atoms * (4.0 * listed + 200.0) + 64.0 * s.ghosts + s.atoms * 8.0 * listed / between;
  }
  // x, v, f, tag, image, group of all rows, the list, positions at its build; copies and buffers of ghosts.
  out.memory = 104.0 * rows + s.atoms * (24.0 + 4.4 * listed) + 80.0 * s.ghosts;
  if (ranks > 1) add_messages(s, between, out);
  return out;
}

}  // namespace cambium::md
