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
  if (solver == Solver::submatrix && !gamma)
    return "solver submatrix is for the Gamma point; leave k_points out, or write solver: dense";
  if (solver == Solver::submatrix && filling.type != FillingKeys::Kind::fermi)
    return "solver submatrix has the Fermi filling only; write filling: {type: fermi}, or solver: dense";
  if (!self_consistent && (!hubbard_derivatives.empty() || hydrogen_damping > 0.0))
    return "hubbard_derivatives and hydrogen_damping are for self-consistent charges; leave them out, or write "
           "self_consistent: true";
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
  std::vector<double> potential_of(const std::vector<double>& excess) const;
  /// Mulliken electrons of all shells of all atoms.
  std::vector<double> shells_of(const Bands& bands) const;
  std::vector<double> excess_of(const std::vector<double>& shells) const;
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
  std::unique_ptr<BandSolver> solver_;
  std::vector<double> potential_;  ///< of the last solution
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
    if (keys.self_consistent && !(element.hubbard > 0.0))
      throw KeyError(
          "dftb.self_consistent.hubbard", "self_consistent",
          fmt::format("the file of {} has a Hubbard parameter of {}; self-consistent charges need a positive "
                      "one: write self_consistent: false, or name another set",
                      element.symbol, element.hubbard));
  }
  electrons_ -= keys.charge;
  const double most = 2.0 * integrals_.dimension();
  if (electrons_ < 0.0 || electrons_ > most)
    throw KeyError(
        "dftb.charge.range", "charge",
        fmt::format("charge {} leaves {} electrons, but the functions hold 0 to {}", keys.charge, electrons_, most));
  if (keys.self_consistent)
    interaction_.emplace(atoms, charges, keys.hydrogen_damping, integrals_.ranges, context.comm.rank());
  if (keys.solver == DftbKeys::Solver::submatrix)
    solver_ = make_submatrix_solver(integrals_, electrons_, keys.filling, {keys.eps, keys.error_sample}, context);
  else
    solver_ = make_dense_solver(integrals_, keys.k_points.points(), electrons_, keys.filling, context.comm);
  state_.k_points = static_cast<int>(keys.k_points.points().size());
  state_.functions = integrals_.dimension();
}

std::vector<double> GroundState::potential_of(const std::vector<double>& excess) const {
  std::vector<double> out(excess.size(), 0.0);
  if (!interaction_) return out;
  const auto own = interaction_->potential(excess);
  std::copy(own.begin(), own.end(), out.begin() + integrals_.ranges.begin(context_.comm.rank()));
  gather(out, integrals_.ranges, 1, context_.comm);
  return out;
}

std::vector<double> GroundState::shells_of(const Bands& bands) const {
  std::vector<double> out(most_shells * neutral_.size(), 0.0);
  const int rank = context_.comm.rank();
  for (int a = integrals_.ranges.begin(rank); a < integrals_.ranges.end(rank); ++a)
    for (auto e = integrals_.pairs.first[a]; e < integrals_.pairs.first[a + 1]; ++e) {
      const int columns = integrals_.functions[integrals_.pairs.pair[e].other];
      for (int i = 0; i < integrals_.functions[a]; ++i) {
        double sum = 0.0;
        for (int j = 0; j < columns; ++j) {
          const auto at = static_cast<std::size_t>(integrals_.offset[e] + i * columns + j);
          sum += bands.density[at] * integrals_.s[at];
        }
        out[static_cast<std::size_t>(most_shells * a + (i == 0 ? 0 : i < 4 ? 1 : 2))] += sum;
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

void GroundState::iterate() {
  Mixer mixer(keys_.mixing);
  // Extra electrons of an ion are spread evenly at first.
  std::vector<double> excess(neutral_.size(), -keys_.charge / static_cast<double>(neutral_.size()));
  for (state_.cycles = 1;; ++state_.cycles) {
    potential_ = potential_of(excess);
    bands_ = solver_->solve(potential_, !keys_.self_consistent);
    state_.shells = shells_of(bands_);
    state_.excess = excess_of(state_.shells);
    if (!keys_.self_consistent) return;
    std::vector<double> residual(excess.size());
    state_.change = 0.0;
    for (std::size_t a = 0; a < excess.size(); ++a) {
      residual[a] = state_.excess[a] - excess[a];
      if (!(std::abs(residual[a]) <= state_.change)) state_.change = std::abs(residual[a]);  // NaN stays
    }
    if (state_.change < keys_.tolerance) break;
    if (state_.cycles >= keys_.cycles)
      throw NumericalError(
          fmt::format("dftb: charges are not self-consistent after {} cycles: one still changes by {:.3g} electrons, "
                      "tolerance is {:.3g}; give a smaller mixing.parameter, a filling.temperature or more cycles",
                      keys_.cycles, state_.change, keys_.tolerance));
    excess = mixer.next(excess, residual);
  }
  bands_ = solver_->solve(potential_, true);
}

void GroundState::energies() {
  const auto rank = context_.comm.rank();
  double h0 = 0.0;
  for (auto e = integrals_.offset[integrals_.begin(rank)]; e < integrals_.offset[integrals_.end(rank)]; ++e)
    h0 += bands_.density[e] * integrals_.h[e];
  state_.uncharged = context_.comm.sum(h0);
  if (interaction_) {
    const auto share = interaction_->energies(state_.excess);
    state_.second_order = context_.comm.sum(share.second);
    state_.third_order = context_.comm.sum(share.third);
  }
  state_.band = bands_.band_energy;
  if (keys_.solver == DftbKeys::Solver::submatrix) {
    // The band energy is the one whose error is of second order: H0 follows from it.
    state_.uncharged = state_.band;
    for (std::size_t a = 0; a < potential_.size(); ++a)
      state_.uncharged -= potential_[a] * (state_.excess[a] + neutral_[a]);
  }
  state_.entropy_term = bands_.entropy_term;
  state_.mu = bands_.mu;
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
  state_.total = state_.uncharged + state_.second_order + state_.third_order + state_.repulsive;
  state_.mermin = state_.total + state_.entropy_term;
  return std::move(state_);
}

}  // namespace

DftbState ground_state(const DftbAtoms& atoms, const DftbParameters& parameters, const DftbKeys& keys,
                       Context& context) {
  return GroundState(atoms, parameters, keys, context).run();
}

}  // namespace cambium::submatrix
