#include "plugins/md/physics/md.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/memory.hpp"
#include "core/particles/tensor_of_view.hpp"
#include "core/particles/velocities.hpp"
#include "core/plugin/committee.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/md/dynamics/twins.hpp"

namespace cambium::md {

void Md::Params::describe(deck::Describe<Params>& d) {
  d("structure", &Params::structure, "initial structure");
  d("masses", &Params::masses, "masses by species that replace the standard atomic weights").unit("g/mol").def({});
  d("initial_temperature", &Params::initial_temperature,
    "temperature of random initial velocities; absent: velocities of the structure file")
      .unit("K")
      .non_negative();
  d("potential", &Params::potential, "interaction of the atoms");
  d("integrator", &Params::integrator, "time integration of positions and velocities").def("nve");
  d("timestep", &Params::timestep, "time step").unit("ps").positive().def(0.001);
  d("skin", &Params::skin,
    "extra range of the neighbour list beyond the cut-off; the list is rebuilt when an atom has moved half of it")
      .unit("angstrom")
      .positive()
      .def(1.0);
  d("groups", &Params::groups, "named sets of atoms").def({});
  d("frozen", &Params::frozen, "groups whose atoms never move").def({});
  d("ranks", &Params::ranks,
    "number of MPI ranks along a, b and c, with fixed bricks of equal size; default: the counts with least surface, "
    "and 'balance' moves the bricks where the work is unequal");
  d("balance", &Params::balance, "load balancing of the ranks' domains; default: by pairs, unless 'ranks' is given");
  d("max_force_error", &Params::max_force_error,
    "force error at which the stage ends: the calibrated bound of the committee (max_bound_f) exceeds it in a line of "
    "thermo.csv; default: none")
      .unit("eV/angstrom")
      .positive();
  d.check([](const Params& p) -> std::string {
    if (!p.ranks || !p.balance || p.balance->by == BalanceKeys::By::volume) return {};
    return "'ranks' makes equal bricks, which 'balance' would move; leave out one of them, or give balance: "
           "{criterion: "
           "volume}";
  });
}

/// Binds the potential; errors about its keys are reported under the key `potential`.
void Md::bind_potential(std::span<const Species> species) {
  deck::about_key("", "potential", [&] { potential_->bind(species); });
}

/// Lower bound of the atoms' memory: positions, velocities, forces, tags, images, groups, and their rows of the
/// neighbour list.
static double bytes_of(double atoms, double density, double range, const Comm& comm) {
  const double neighbours = std::min(4.0 / 3.0 * constants::pi * range * range * range * density, 1e5);
  return (100.0 + 4.0 * neighbours) * atoms / comm.size();
}

static double density_of(const LatticeSpec& lattice) {
  return static_cast<double>(lattice_basis(lattice.type).size()) / std::pow(lattice.a, 3);
}

/// Checks the memory before any of it is allocated.
static void require_room(const LatticeSpec& lattice, double range, Context& context) {
  const auto atoms = static_cast<double>(atoms_of(lattice));
  require_memory(bytes_of(atoms, density_of(lattice), range, context.comm), fmt::format("{:.0f} atoms", atoms),
                 "give fewer 'cells', or use more nodes", context);
}

Md::Md(const Params& params, Context& context)
    : params_(params), groups_(deck::about_key("", "groups", [&] { return Groups(params.groups); })),
      potential_(context.registry->make<Potential>(params.potential, context)),
      integrator_(context.registry->make<Integrator>(params.integrator, context)) {
  params_.structure.velocities = !params.initial_temperature;
  if (params.max_force_error && !(potential_->committee() && potential_->committee()->calibrated()))
    throw KeyError("md.max_force_error.calibration", "max_force_error",
                   "the potential does not bound its force error; give deep_potential a 'committee' and its "
                   "'calibration', or leave out max_force_error");
  if (params.structure.lattice) require_room(*params.structure.lattice, potential_->cutoff() + params.skin, context);
  if (!context.dry_run) return;
  if (const auto species = species_of(params.structure, params.masses, context)) bind_potential(*species);
}

/// Cost per atom of the first forces and one step, if the potential gives none.
constexpr double seconds_per_atom = 1e-4;
/// Largest lattice that is built for a check.
constexpr double most_atoms = 1e6;

void Md::examine(Check& check) {
  if (!check.stage().tried) return;
  const auto& structure = params_.structure;
  const double before = check.stage().effort;
  check.ask(potential_.get(), params_.potential.node);
  const double per_atom = check.stage().effort > before ? check.stage().effort - before : seconds_per_atom;
  check.require_written_by("structure.file", structure.file, {{Origin::output, "extxyz"}, {Origin::physics, "md"}});
  if (check.waits(structure.file)) return;
  const double range = potential_->cutoff() + params_.skin;
  double atoms = 0.0, density = 0.0;
  if (structure.lattice) {
    atoms = static_cast<double>(atoms_of(*structure.lattice));
    density = density_of(*structure.lattice);
  }
  if (atoms < most_atoms) {
    looked_at_ = std::make_unique<State>();
    looked_at_->particles = build_structure(structure, params_.masses, check.context());
    atoms = static_cast<double>(looked_at_->particles.nglobal);
    density = atoms / looked_at_->particles.box.volume();
    check.set_first_state(looked_at_.get());
  }
  check.memory(fmt::format("{:.0f} atoms", atoms), bytes_of(atoms, density, range, check.context().comm));
  check.effort(per_atom * atoms);
}

void Md::declare(State& state, Context&) {
  Particles* p = &state.particles;
  state.add(
      {"position", At::particle, "angstrom", "x, y, z and the type", true, [p] { return tensor_of(p->x, p->nlocal); }});
  state.add({"velocity", At::particle, "angstrom/ps", "velocities", true, [p] { return tensor_of(p->v, p->nlocal); }});
  state.add({"force", At::particle, "eV/angstrom", "forces", true, [p] { return tensor_of(p->f, p->nlocal); }});
  state.add(
      {"tag", At::particle, "", "global ID of an atom, from 1", true, [p] { return tensor_of(p->tag, p->nlocal); }});
  state.add({"image", At::particle, "", "cell crossings", true, [p] { return tensor_of(p->image, p->nlocal); }});
  state.add({"group", At::particle, "", "bit mask of groups", true, [p] { return tensor_of(p->group, p->nlocal); }});
  state.add({"neighbors", At::particle, "", "ghosts and the neighbour list", false, [] { return TensorRef{}; }});
  state.add({"cell", At::global, "angstrom", "cell vectors", false, [] { return TensorRef{}; }});
  const auto totals = [this] { return dynamics_ ? dynamics_->local_totals() : nullptr; };
  state.add({"energy", At::global, "eV", "this rank's part of the potential energy, on steps that request it", false,
             [totals] { return totals() ? io::tensor_of(&totals()->energy, {1}) : TensorRef{}; }});
  state.add(
      {"virial", At::global, "eV", "this rank's part of -sum dE/dr_a r_b, on steps that request it", false, [totals] {
         return totals() ? io::tensor_of(totals()->virial, {3, 3}) : TensorRef{};
       }});
  state.add({"axes", At::global, "", "rotation from the axes of the structure file", false, [this] {
               return io::tensor_of(&axes_.q[0][0], {3, 3});
             }});
}

/// A lattice constant in the wrong unit requires more neighbours than fit into memory; report that instead of trying.
static void require_sane_density(const Particles& p, double range) {
  constexpr double most = 1e5;
  const double neighbours = 4.0 / 3.0 * constants::pi * range * range * range * p.nglobal / p.box.volume();
  if (neighbours < most) return;
  throw KeyError(
      "md.structure.density", "structure",
      fmt::format("{:.2g} neighbours per atom would lie within the cut-off and skin of {:g} Å: the {} atoms fill "
                  "{:.4g} Å^3; check the lengths of the structure, which are in Å",
                  neighbours, range, p.nglobal, p.box.volume()));
}

void Md::make_dynamics(State& state, Context& context) {
  bind_potential(state.particles.species);
  const double range = potential_->cutoff() + params_.skin;
  require_sane_density(state.particles, range);
  // A deck may be checked on fewer ranks than it is written for.
  auto ranks = params_.ranks;
  if (context.dry_run && ranks && (*ranks)[0] * (*ranks)[1] * (*ranks)[2] != context.comm.size()) ranks.reset();
  domain_ = std::make_unique<Domain>(context.comm, state.particles.box, ranks, range);
  dynamics_ = std::make_unique<Dynamics>(state.particles, *domain_, *potential_, params_.skin, context);
  BalanceKeys balance = params_.balance.value_or(BalanceKeys());
  if (params_.ranks) balance.by = BalanceKeys::By::volume;
  balance_ = std::make_unique<LoadBalance>(balance, state.particles, *domain_, range, context);
  dynamics_->set_axes(axes_);
  if (Committee* committee = potential_->committee()) committee->set_axes(axes_);
  std::uint32_t frozen = 0;
  for (std::size_t k = 0; k < params_.frozen.size(); ++k)
    deck::about_key("", deck::child_path("frozen", k), [&] { frozen |= groups_.bit(params_.frozen[k]); });
  dynamics_->freeze(frozen);
}

/// Repartitions the cell if the ranks' work is too unequal, and rebuilds the list.
void Md::rebalance(std::int64_t step, bool begins) {
  if (balance_->cut(dynamics_->neighbors().list(), step, begins)) dynamics_->rebuild();
}

/// Warns of values probably meant in another unit, which run without an error but with another meaning. Collective.
void Md::warn_of_units(const State& state, Context& context) const {
  constexpr double longest_step = 0.1;  // ps
  const double femtoseconds = 1000.0 * params_.timestep;
  if (params_.timestep > longest_step)
    context.log.warn(
        fmt::format("timestep is {:g} fs, longer than a vibration of atoms; a value without a unit is in ps, so write "
                    "'{:g} fs' where that is meant",
                    femtoseconds, params_.timestep));
  if (state.particles.nglobal > 1 && dynamics_->neighbors().pairs_per_atom() == 0.0)
    context.log.warn(fmt::format(
        "no atom has another one within the cut-off of {:g} Å and the skin: nothing acts on them; check the "
        "lengths of potential and structure, which are in Å where no unit is given",
        potential_->cutoff()));
}

/// Warns of a temperature that atoms at rest cannot get. Collective.
void Md::warn_of_rest(Context& context) const {
  if (dynamics_->kinetic_energy() > 0.0) return;
  if (params_.initial_temperature.value_or(0.0) > 0.0)
    context.log.warn(
        fmt::format("initial_temperature is {:g} K, but all atoms are at rest: none has a degree of freedom left, as a "
                    "single atom, whose drift is removed",
                    *params_.initial_temperature));
  else if (integrator_->multiplies_velocities())
    context.log.warn(
        "the atoms are at rest, and the thermostat multiplies velocities: it does not heat them until forces move "
        "them; give initial_temperature, or take langevin");
}

void Md::initialise(State& state, Context& context) {
  state.particles = build_structure(params_.structure, params_.masses, context, &axes_);
  make_dynamics(state, context);
  domain_->migrate(state.particles);
  deck::about_key("", "groups", [&] { groups_.assign(state.particles, context.comm, axes_); });
  dynamics_->count_degrees_of_freedom(integrator_->conserves_momentum());
  if (params_.initial_temperature)
    init_velocities(state.particles, context.comm, *params_.initial_temperature, context.seed, dynamics_->frozen());
  dynamics_->stop_frozen();
  dynamics_->rebuild();
  rebalance(0, true);
  refuse_twins(state.particles, dynamics_->neighbors().list(), axes_, 0, context.comm);
  if (const auto text = close_pair(state.particles, dynamics_->neighbors().list(), context.comm); !text.empty())
    context.log.warn(text);
  warn_of_units(state, context);
  warn_of_rest(context);
  deck::about_key("", "potential", [&] { dynamics_->compute_forces(true, 0); });
  deck::about_key("", "integrator", [&] { integrator_->start(*dynamics_); });
  atoms_ = state.particles.nglobal;
}

/// Validates atoms read from a file before they are used: valid species, ids from 1 to N, finite positions and
/// velocities, and a cell with finite volume.
static std::string problem_of_atoms(const Particles& p, std::int64_t atoms) {
  if (!(p.box.volume() > 0.0) || !std::isfinite(p.box.volume()))
    return fmt::format("the cell has the volume {}", p.box.volume());
  if (atoms < 1) return "there are no atoms";
  for (const auto& species : p.species)
    if (!(species.mass > 0.0) || !std::isfinite(species.mass))
      return fmt::format("species '{}' has the mass {}", species.symbol, species.mass);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
  const auto v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.v);
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.tag);
  for (int i = 0; i < p.nlocal; ++i) {
    if (tag(i) < 1 || tag(i) > atoms) return fmt::format("an atom has the ID {}, expected 1 to {}", tag(i), atoms);
    if (!(x(i, 3) >= 0.0 && x(i, 3) < static_cast<double>(p.species.size())) || x(i, 3) != std::floor(x(i, 3)))
      return fmt::format("atom {} is of type {}, but there are {} species", tag(i), x(i, 3), p.species.size());
    for (int k = 0; k < 3; ++k)
      if (!std::isfinite(x(i, k)) || !std::isfinite(v(i, k)))
        return fmt::format("atom {} is at {} with the velocity {}", tag(i), x(i, k), v(i, k));
  }
  return {};
}

void Md::restore(State& state, Context& context, const io::Group& saved, bool same_ranks) {
  // Earlier versions did not store the rotation.
  const auto axes = saved.exists("axes") ? saved.read<std::vector<double>>("axes") : std::vector<double>();
  if (axes.size() == 9) std::copy(axes.begin(), axes.end(), &axes_.q[0][0]);
  Particles& p = state.particles;
  p.nglobal = context.comm.sum(static_cast<std::int64_t>(p.nlocal));
  io::on_every_rank(context.comm, [&] {
    if (const auto problem = problem_of_atoms(p, p.nglobal); !problem.empty())
      throw InputError(
          fmt::format("'{}': {}; the file is damaged or was changed, resume from another one", saved.file(), problem));
  });
  make_dynamics(state, context);
  // Restores the parts of the resumed run; for another number of ranks new ones are computed.
  const bool has_cuts = same_ranks && balance_->works() && saved.exists("cuts");
  if (has_cuts) domain_->cut(CutTree::of(saved.read<std::vector<double>>("cuts"), context.comm.size(), saved.file()));
  dynamics_->rebuild();
  if (!same_ranks) rebalance(state.step, true);
  dynamics_->count_degrees_of_freedom(integrator_->conserves_momentum());
  integrator_->load(saved);
  integrator_->resume(*dynamics_);
  averages_.load(saved);
  atoms_ = state.particles.nglobal;
}

void Md::prepare_checkpoint(State&, Context& context) {
  // A run that continues and one resumed from here must have the same order of atoms and the same list.
  dynamics_->rebuild();
  integrator_->resume(*dynamics_);  // sums over atoms in their new order
  integrator_->reservoir_energy(context.comm);
}

void Md::save(io::Group& group) const {
  integrator_->save(group);
  averages_.save(group);
  if (domain_ && domain_->cuts())
    group.write("cuts", domain_->cuts()->numbers())
        .set_attribute("doc", "planes between the ranks' parts: direction (0, 1, 2: a, b, c), fractional coordinate");
  group.write("axes", io::tensor_of(&axes_.q[0][0], {3, 3}))
      .set_attribute("doc", "rotation of rows: vectors in this file = vectors as given times this");
}

void Md::resize(State& state, std::int64_t rows) {
  state.particles.reserve(static_cast<int>(rows));
  state.particles.nlocal = static_cast<int>(rows);
  state.particles.nghost = 0;
}

void Md::schedule(Schedule& schedule) {
  schedule.add({"integrate: before forces",
                {"position", "velocity", "force"},
                {"position", "velocity", "cell"},
                [this](State&, const StepInfo& step) {
                  deck::about_key("", "integrator", [&] { integrator_->before_forces(*dynamics_, step); });
                }});
  schedule.add({"comm: neighbors", {"position"}, {"position", "neighbors"}, [this](State&, const StepInfo& step) {
                  dynamics_->update_neighbors(step.step);
                  if (balance_->due(step.step)) rebalance(step.step, false);
                }});
  schedule.add({"force: potential", {"position", "neighbors"}, {"force"}, [this](State&, const StepInfo& step) {
                  dynamics_->compute_forces(step.observe || integrator_->needs_totals(step.step), step.step);
                }});
  schedule.add({"integrate: after forces", {"velocity", "force"}, {"velocity"}, [this](State&, const StepInfo& step) {
                  deck::about_key("", "integrator", [&] { integrator_->after_forces(*dynamics_, step); });
                }});
}

std::vector<Observable> Md::observables() const {
  std::vector<Observable> out{
      {"temperature", "K", "from the kinetic energy of the free atoms", true},
      {"pressure", "bar", "third of the trace of the pressure tensor", true},
      {"potential", "eV", "potential energy", true},
      {"kinetic", "eV", "kinetic energy", true},
      {"conserved", "eV", "total energy and the energy taken by thermostat and barostat", true},
      {"volume", "angstrom^3", "of the cell", true},
      {"density", "g/cm^3", "mass over volume", false},
  };
  for (const char* name : {"pxx", "pyy", "pzz", "pxy", "pxz", "pyz"})
    out.push_back({name, "bar", "component of the pressure tensor, in the axes in which the cell was given", false});
  if (const Committee* committee = potential_->committee())
    for (Observable o : committee->observables()) out.push_back(std::move(o));
  return out;
}

static double total_mass(const Particles& p, const Comm& comm) {
  std::vector<double> count(p.species.size(), 0.0);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
  for (int i = 0; i < p.nlocal; ++i) count[static_cast<int>(x(i, 3))] += 1.0;
  comm.sum(count);
  double mass = 0.0;
  for (std::size_t k = 0; k < count.size(); ++k) mass += count[k] * p.species[k].mass;
  return mass;
}

void Md::complete(State& state, Context&) { dynamics_->compute_forces(true, state.step); }

void Md::measure(const State& state, Context& context, std::span<double> values) {
  const auto now = dynamics_->measure();
  const double volume = state.particles.box.volume();
  const double conserved = now.kinetic_energy + now.potential_energy + integrator_->reservoir_energy(context.comm);
  constexpr double gram_per_cm3 = 1.66053906660;  // g/mol per Å^3, CODATA 2018
  const auto p = axes_.tensor(now.pressure.data());
  const double all[] = {now.temperature,
                        now.mean_pressure(),
                        now.potential_energy,
                        now.kinetic_energy,
                        conserved,
                        volume,
                        gram_per_cm3 * total_mass(state.particles, context.comm) / volume,
                        p[0],
                        p[4],
                        p[8],
                        p[1],
                        p[2],
                        p[5]};
  std::copy(std::begin(all), std::end(all), values.begin());
  if (const Committee* committee = potential_->committee()) committee->measure(values.subspan(std::size(all)));
  if (params_.max_force_error) heed_force_error(state, context);
  averages_.add(state.time, conserved, now.potential_energy, now.temperature, now.mean_pressure());
}

/// The deviation has the same value on all ranks, so they end together.
void Md::heed_force_error(const State& state, Context& context) {
  const double bound = potential_->committee()->deviation().force_bound;
  if (beyond_trust_ || bound <= *params_.max_force_error) return;
  beyond_trust_ = true;
  context.log.info(
      fmt::format("step {}: a force error of {:.3g} eV/Å is possible, more than max_force_error ({:g}): the stage ends",
                  state.step, bound, *params_.max_force_error));
}

void Md::add_energies(std::vector<Result>& out) const {
  const LineAverages& of = averages_;
  if (!integrator_->conserves_energy() && of.lines > 0) {
    out.push_back({.key = "potential_energy",
                   .label = "potential energy",
                   .value = of.last_potential,
                   .unit = "eV",
                   .digits = 8});
    out.push_back({.key = "potential_energy_gained",
                   .label = "potential energy below that of the first line",
                   .value = (of.first_potential - of.last_potential) / static_cast<double>(atoms_),
                   .unit = "eV/atom",
                   .digits = 4});
  }
  if (!integrator_->conserves_energy()) return;
  if (of.last_time > of.first_time)
    out.push_back({.key = "drift_of_the_conserved_energy",
                   .label = "drift of the conserved energy",
                   .value = (of.last_conserved - of.first_conserved) / atoms_ / (of.last_time - of.first_time),
                   .unit = "eV/atom/ps",
                   .remark = fmt::format("over {:.6g} ps", of.last_time - of.first_time),
                   .digits = 3});
  if (of.lines == 0) return;
  const auto averages = fmt::format("averages over {} lines: ", of.lines);
  out.push_back({"averages_temperature", averages + "temperature", of.temperature_sum / of.lines, "K"});
  out.push_back({"averages_pressure", averages + "pressure", of.pressure_sum / of.lines, "bar"});
}

std::vector<Result> Md::results() const {
  std::vector<Result> out;
  add_energies(out);
  out.push_back(
      {"neighbour_list_rebuilds", "neighbour list: rebuilds", static_cast<double>(dynamics_->neighbors().rebuilds())});
  out.push_back({"neighbour_list_entries_per_atom",
                 "neighbour list: entries per atom",
                 dynamics_->neighbors().pairs_per_atom(),
                 "",
                 {},
                 "",
                 4});
  append(out, balance_->results(dynamics_->neighbors().list()));
  append(out, integrator_->results());
  if (const Committee* committee = potential_->committee()) append(out, committee->results());
  return out;
}

std::vector<std::string> Md::report() const { return balance_->report(dynamics_->neighbors().list()); }

std::vector<Citation> Md::citations() const {
  auto all = potential_->citations();
  for (const auto& c : integrator_->citations()) all.push_back(c);
  return all;
}

std::string Md::summary() const {
  std::string text = fmt::format("md: {}; timestep {:g} fs, skin {:g} Å", integrator_->summary(),
                                 1000.0 * params_.timestep, params_.skin);
  if (atoms_) text = fmt::format("{} atoms; {}", atoms_, text);
  if (domain_ && domain_->cuts()) {
    text += ", " + balance_->summary();
  } else if (domain_) {
    const auto& g = domain_->grid().count;
    text += fmt::format(", ranks {} x {} x {}", g[0], g[1], g[2]);
  }
  const auto potential = potential_->summary();
  return potential.empty() ? text : text + "\n" + potential;
}

}  // namespace cambium::md
