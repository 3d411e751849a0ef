#include "plugins/submatrix/dftb/ground_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/submatrix/dftb/coulomb.hpp"

namespace cambium::submatrix {

std::string DftbKeys::conflict() const {
  const bool gamma =
      k_points.grid == std::array{1, 1, 1} && k_points.shift == std::array{0.0, 0.0, 0.0} && !k_points.list;
  if (!periodic && !gamma) return "k_points are for periodic cells; leave them out, or write periodic: true";
  const char* const name = solver == Solver::submatrix ? "submatrix" : "purification";
  if (solver != Solver::dense && !gamma)
    return fmt::format("solver {} is for the Gamma point; leave k_points out, or write solver: dense", name);
  if (solver != Solver::dense && filling.type != FillingKeys::Kind::fermi)
    return fmt::format("solver {} has the Fermi filling only; write filling: {{type: fermi}}, or solver: dense", name);
  if (solver == Solver::purification && filling.temperature > 0.0)
    return "solver purification is for zero temperature; leave filling out, or write solver: submatrix";
  if (!self_consistent && (!hubbard_derivatives.empty() || hydrogen_damping > 0.0))
    return "hubbard_derivatives and hydrogen_damping are for self-consistent charges; leave them out, or write "
           "self_consistent: true";
  if (!self_consistent && spin)
    return "spin is for self-consistent charges; leave it out, or write self_consistent: true";
  return {};
}

namespace {

AtomicCharge charge_of(const DftbParameters::Element& element, const DftbKeys& keys) {
  AtomicCharge out{element.hubbard, 0.0, element.symbol == "H"};
  if (keys.hubbard_derivatives.empty()) return out;
  const auto found = keys.hubbard_derivatives.find(element.symbol);
  if (found == keys.hubbard_derivatives.end())
    throw KeyError("dftb.hubbard_derivatives.missing", "hubbard_derivatives",
                   fmt::format("hubbard_derivatives has none for {}; give that of every species of the structure",
                               element.symbol));
  constexpr double largest = 2.0;
  if (!(std::abs(found->second) <= largest))
    throw KeyError("dftb.hubbard_derivatives.range", "hubbard_derivatives",
                   fmt::format("hubbard_derivatives of {} is {}; expected hartree, at most {} in size. Is it in eV?",
                               element.symbol, found->second, largest));
  out.derivative = found->second;
  return out;
}

bool is_integer(double electrons) {
  constexpr double rounding = 1e-6;
  return std::abs(electrons - std::round(electrons)) <= rounding;
}

/// Gathers complete vectors from the parts of ranks.
void gather(std::vector<double>& values, const ColumnRanges& ranges, int width, const Comm& comm) {
  std::vector<int> count, first;
  for (int r = 0; r < comm.size(); ++r) {
    first.push_back(width * ranges.begin(r));
    count.push_back(width * (ranges.end(r) - ranges.begin(r)));
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, values.data(), count.data(), first.data(), MPI_DOUBLE, comm.handle());
}

/// One geometry on its way to self-consistency.
class GroundState {
 public:
  GroundState(const DftbAtoms& atoms, const DftbParameters& parameters, const DftbKeys& keys, Context& context);
  DftbState run();

 private:
  void iterate();
  bool sparse() const { return keys_.solver != DftbKeys::Solver::dense; }
  ElectronNumbers numbers() const;
  void make_solver();
  /// What is mixed: electrons beyond those of neutral atoms, then the spins of shells.
  std::vector<double> first_guess() const;
  ChannelPotentials potentials_of(const std::vector<double>& mixed) const;
  std::vector<double> potential_of(const std::vector<double>& excess) const;
  /// Mulliken electrons of all shells of all atoms in one channel.
  std::vector<double> shells_of(const std::vector<double>& density) const;
  std::vector<double> excess_of(const std::vector<double>& shells) const;
  /// Populations of the last solution, to the state; and those that are mixed.
  std::vector<double> populations();
  void energies();
  void forces();
  void dipole();

  const DftbAtoms& atoms_;
  const DftbParameters& parameters_;
  const DftbKeys& keys_;
  Context& context_;
  DftbIntegrals integrals_;
  std::vector<double> neutral_;
  double electrons_ = 0.0;
  std::optional<ChargeInteraction> interaction_;
  std::optional<SpinInteraction> spin_interaction_;
  std::unique_ptr<BandSolver> solver_;
  ChannelPotentials potential_;  ///< of the last solution
  Bands bands_;
  DftbState state_;
};

GroundState::GroundState(const DftbAtoms& atoms, const DftbParameters& parameters, const DftbKeys& keys,
                         Context& context)
    : atoms_(atoms), parameters_(parameters), keys_(keys), context_(context),
      integrals_(integrals_of(atoms, parameters, context.comm)) {
  std::vector<AtomicCharge> charges;
  for (const int type : atoms.type) {
    const auto& element = parameters.elements()[type];
    neutral_.push_back(element.valence());
    charges.push_back(charge_of(element, keys));
    electrons_ += neutral_.back();
    if (element.left_out)
      context.log.warn(
          fmt::format("dftb: the files have {0} functions of {1}, which its neutral atom does not occupy and which are "
                      "left out; name its highest shell, shells: {{{1}: {0}}} with them or {{{1}: {2}}} without",
                      "spd"[*element.left_out], element.symbol, "spd"[element.highest]));
    if (keys.self_consistent && !(element.hubbard > 0.0))
      throw KeyError(
          "dftb.self_consistent.hubbard", "self_consistent",
          fmt::format("the file of {} has a Hubbard parameter of {}; self-consistent charges need a positive "
                      "one: write self_consistent: false, or name another set",
                      element.symbol, element.hubbard));
  }
  electrons_ -= keys.charge;
  constexpr double of_molecule = 10.0;  // angstrom
  if (atoms.periodic && atoms.empty >= of_molecule)
    context.log.warn(fmt::format(
        "dftb: the atoms leave 10 angstrom or more of the cell empty along every cell vector, but are computed as a "
        "periodic crystal{}; add periodic: false for a molecule in empty space",
        keys.charge == 0.0 ? "" : " with a uniform background that neutralises its charge"));
  const double most = 2.0 * integrals_.dimension();
  if (electrons_ < 0.0 || electrons_ > most)
    throw KeyError(
        "dftb.charge.range", "charge",
        fmt::format("charge {} leaves {} electrons, but the functions hold 0 to {}", keys.charge, electrons_, most));
  if (keys.self_consistent)
    interaction_.emplace(atoms, charges, keys.hydrogen_damping, integrals_.ranges, context.comm.rank());
  if (keys.spin) spin_interaction_.emplace(atoms, spin_constants(*keys.spin, parameters.elements()));
  make_solver();
  state_.k_points = static_cast<int>(keys.k_points.points().size());
  state_.functions = integrals_.dimension();
}

ElectronNumbers GroundState::numbers() const {
  ElectronNumbers out{electrons_};
  const bool purification = keys_.solver == DftbKeys::Solver::purification,
             cold = sparse() && keys_.filling.temperature <= 0.0;
  if (cold && !keys_.spin && !is_integer(0.5 * electrons_))
    throw KeyError("dftb.solver.pairs", "solver",
                   fmt::format("there are {} electrons: {} fills states with two electrons each; write solver: dense, "
                               "or add {}",
                               electrons_, purification ? "purification" : "at 0 K submatrix",
                               purification ? "spin" : "spin or filling: {temperature: 1000 K}"));
  if (purification && !is_integer(electrons_))
    throw KeyError("dftb.solver.electrons", "solver",
                   fmt::format("there are {} electrons: purification fills states with one electron of each spin; "
                               "write solver: dense",
                               electrons_));
  if (!keys_.spin) return out;
  out.polarised = true;
  if (keys_.spin->relax) return out;
  const double unpaired = keys_.spin->unpaired, more = 0.5 * (electrons_ + std::abs(unpaired));
  if (std::abs(unpaired) > electrons_ || more > integrals_.dimension())
    throw KeyError("dftb.spin.unpaired_electrons.range", "spin.unpaired_electrons",
                   fmt::format("spin.unpaired_electrons is {} with {} electrons and {} functions, which hold one of "
                               "each spin; choose a smaller one",
                               unpaired, electrons_, integrals_.dimension()));
  if (sparse() && std::abs(unpaired) == electrons_)
    throw KeyError("dftb.spin.unpaired_electrons.sparse", "spin.unpaired_electrons",
                   fmt::format("spin.unpaired_electrons is {} with {} electrons: solvers submatrix and purification "
                               "need electrons of both spins; write solver: dense",
                               unpaired, electrons_));
  if (sparse() && keys_.filling.temperature <= 0.0 && !is_integer(more))
    throw KeyError("dftb.spin.unpaired_electrons.whole", "spin.unpaired_electrons",
                   fmt::format("spin.unpaired_electrons is {} with {} electrons: {} of one spin; without "
                               "filling.temperature solvers submatrix and purification need a whole number of each "
                               "spin",
                               unpaired, electrons_, more));
  if (is_integer(electrons_) && is_integer(unpaired) && !is_integer(more))
    context_.log.warn(fmt::format(
        "dftb: spin.unpaired_electrons is {} with {} electrons: {} of one spin and {} of the other, states with half "
        "an electron; give {} number",
        unpaired, std::round(electrons_), more, electrons_ - more,
        is_integer(0.5 * electrons_) ? "an even" : "an odd"));
  out.unpaired = unpaired;
  return out;
}

void GroundState::make_solver() {
  const ElectronNumbers electrons = numbers();
  const bool purification = keys_.solver == DftbKeys::Solver::purification;
  if (sparse())
    solver_ = make_submatrix_solver(integrals_, electrons, keys_.filling,
                                    {keys_.eps, purification ? 0 : keys_.error_sample, purification}, context_);
  else
    solver_ = make_dense_solver(integrals_, keys_.k_points.points(), electrons, keys_.filling, context_.comm);
}

std::vector<double> GroundState::first_guess() const {
  // Extra electrons of an ion are spread evenly at first.
  std::vector<double> out(neutral_.size(), -keys_.charge / static_cast<double>(neutral_.size()));
  if (!keys_.spin) return out;
  const auto spins = initial_spins(*keys_.spin, atoms_, parameters_.elements());
  out.insert(out.end(), spins.begin(), spins.end());
  return out;
}

std::vector<double> GroundState::potential_of(const std::vector<double>& excess) const {
  std::vector<double> out(excess.size(), 0.0);
  if (!interaction_) return out;
  const auto own = interaction_->potential(excess);
  std::copy(own.begin(), own.end(), out.begin() + integrals_.ranges.begin(context_.comm.rank()));
  gather(out, integrals_.ranges, 1, context_.comm);
  return out;
}

ChannelPotentials GroundState::potentials_of(const std::vector<double>& mixed) const {
  const auto atoms = std::ssize(neutral_);
  const auto of_charges = potential_of({mixed.begin(), mixed.begin() + atoms});
  ChannelPotentials out(1);
  for (const double v : of_charges) out[0].insert(out[0].end(), most_shells, v);
  if (!spin_interaction_) return out;
  const auto of_spins = spin_interaction_->potential({mixed.begin() + atoms, mixed.end()});
  out.push_back(out[0]);
  for (std::size_t k = 0; k < of_spins.size(); ++k) {
    out[0][k] += of_spins[k];
    out[1][k] -= of_spins[k];
  }
  return out;
}

std::vector<double> GroundState::shells_of(const std::vector<double>& density) const {
  std::vector<double> out(most_shells * neutral_.size(), 0.0);
  const int rank = context_.comm.rank();
  for (int a = integrals_.ranges.begin(rank); a < integrals_.ranges.end(rank); ++a)
    for (auto e = integrals_.pairs.first[a]; e < integrals_.pairs.first[a + 1]; ++e) {
      const int columns = integrals_.functions[integrals_.pairs.pair[e].other];
      for (int i = 0; i < integrals_.functions[a]; ++i) {
        double sum = 0.0;
        for (int j = 0; j < columns; ++j) {
          const auto at = static_cast<std::size_t>(integrals_.offset[e] + i * columns + j);
          sum += density[at] * integrals_.s[at];
        }
        out[static_cast<std::size_t>(most_shells * a + shell_of(i))] += sum;
      }
    }
  gather(out, integrals_.ranges, most_shells, context_.comm);
  return out;
}

std::vector<double> GroundState::excess_of(const std::vector<double>& shells) const {
  std::vector<double> out(neutral_.size());
  for (std::size_t a = 0; a < out.size(); ++a)
    out[a] = shells[most_shells * a] + shells[most_shells * a + 1] + shells[most_shells * a + 2] - neutral_[a];
  return out;
}

std::vector<double> GroundState::populations() {
  state_.shells = shells_of(bands_.density[0]);
  if (keys_.spin) {
    const auto down = shells_of(bands_.density[1]);
    state_.spin_shells = state_.shells;
    for (std::size_t k = 0; k < down.size(); ++k) {
      state_.shells[k] += down[k];
      state_.spin_shells[k] -= down[k];
    }
    state_.spins.assign(neutral_.size(), 0.0);
    for (std::size_t k = 0; k < down.size(); ++k) state_.spins[k / most_shells] += state_.spin_shells[k];
  }
  state_.excess = excess_of(state_.shells);
  std::vector<double> out = state_.excess;
  out.insert(out.end(), state_.spin_shells.begin(), state_.spin_shells.end());
  return out;
}

void GroundState::iterate() {
  Mixer mixer(keys_.mixing);
  std::vector<double> mixed = first_guess();
  for (state_.cycles = 1;; ++state_.cycles) {
    potential_ = potentials_of(mixed);
    bands_ = solver_->solve(potential_, !keys_.self_consistent);
    std::vector<double> residual = populations();
    if (!keys_.self_consistent) return;
    state_.change = 0.0;
    for (std::size_t a = 0; a < mixed.size(); ++a) {
      residual[a] -= mixed[a];
      if (!(std::abs(residual[a]) <= state_.change)) state_.change = std::abs(residual[a]);  // NaN stays
    }
    if (state_.change < keys_.tolerance) break;
    if (state_.cycles >= keys_.cycles)
      throw NumericalError(
          fmt::format("dftb: charges are not self-consistent after {} cycles: one still changes by {:.3g} electrons, "
                      "tolerance is {:.3g}; give a smaller mixing.parameter, a filling.temperature or more cycles",
                      keys_.cycles, state_.change, keys_.tolerance));
    mixed = mixer.next(mixed, residual);
  }
  bands_ = solver_->solve(potential_, true);
}

void GroundState::energies() {
  const auto rank = context_.comm.rank();
  double h0 = 0.0;
  for (const auto& density : bands_.density)
    for (auto e = integrals_.offset[integrals_.begin(rank)]; e < integrals_.offset[integrals_.end(rank)]; ++e)
      h0 += density[e] * integrals_.h[e];
  state_.uncharged = context_.comm.sum(h0);
  if (interaction_) {
    const auto share = interaction_->energies(state_.excess);
    state_.second_order = context_.comm.sum(share.second);
    state_.third_order = context_.comm.sum(share.third);
  }
  if (spin_interaction_) state_.spin = spin_interaction_->energy(state_.spin_shells);
  state_.band = bands_.band_energy;
  if (sparse()) {
    // The band energy is the one whose error is of second order: H0 follows from it.
    state_.uncharged = state_.band;
    for (std::size_t k = 0; k < state_.shells.size(); ++k) {
      if (!keys_.spin) {
        state_.uncharged -= potential_[0][k] * state_.shells[k];
        continue;
      }
      state_.uncharged -= 0.5 * (potential_[0][k] * (state_.shells[k] + state_.spin_shells[k]) +
                                 potential_[1][k] * (state_.shells[k] - state_.spin_shells[k]));
    }
  }
  state_.entropy_term = bands_.entropy_term;
  state_.mu = bands_.mu;
  state_.mu_down = bands_.mu_down;
  state_.homo = bands_.homo;
  state_.lumo = bands_.lumo;
  state_.electrons = bands_.electrons;
  state_.error = bands_.error;
  state_.mean_dimension = bands_.mean_dimension;
}

void GroundState::forces() {
  state_.forces.assign(3 * neutral_.size(), 0.0);
  state_.virial.assign(9, 0.0);
  const int rank = context_.comm.rank();
  double* own = state_.forces.data() + 3 * static_cast<std::size_t>(integrals_.ranges.begin(rank));
  const double repulsive = add_band_forces(atoms_, parameters_, integrals_, bands_.density, bands_.weighted, potential_,
                                           keys_.derivative_step, rank, own, state_.virial.data());
  state_.repulsive = context_.comm.sum(repulsive);
  if (interaction_) interaction_->add_forces(state_.excess, own, state_.virial.data());
  if (keys_.dispersion) {
    const Dispersion dispersion(atoms_, dispersion_pairs(*keys_.dispersion, parameters_.elements()), integrals_.ranges,
                                rank);
    state_.dispersion = context_.comm.sum(dispersion.add(own, state_.virial.data()));
  }
  gather(state_.forces, integrals_.ranges, 3, context_.comm);
  context_.comm.sum(state_.virial);
}

void GroundState::dipole() {
  if (atoms_.periodic || keys_.charge != 0.0) return;
  auto& sum = state_.dipole.emplace();
  for (std::size_t a = 0; a < state_.excess.size(); ++a)
    for (std::size_t k = 0; k < 3; ++k) sum[k] -= state_.excess[a] * atoms_.x[3 * a + k];
}

DftbState GroundState::run() {
  iterate();
  energies();
  forces();
  dipole();
  for (std::size_t a = 0; a < neutral_.size(); ++a) state_.populations.push_back(neutral_[a] + state_.excess[a]);
  state_.total =
      state_.uncharged + state_.second_order + state_.third_order + state_.spin + state_.repulsive + state_.dispersion;
  state_.mermin = state_.total + state_.entropy_term;
  return std::move(state_);
}

}  // namespace

DftbState ground_state(const DftbAtoms& atoms, const DftbParameters& parameters, const DftbKeys& keys,
                       Context& context) {
  return GroundState(atoms, parameters, keys, context).run();
}

}  // namespace cambium::submatrix
