#pragma once
#include <optional>

#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/fields/element.hpp"
#include "plugins/kinetic/fields/field_model.hpp"
#include "plugins/kinetic/fields/line_poisson.hpp"
#include "plugins/kinetic/fields/periodic_poisson.hpp"
#include "plugins/kinetic/fields/plane_poisson.hpp"
#include "plugins/kinetic/fields/strip_poisson.hpp"
#include "plugins/kinetic/fields/wall_circuit.hpp"
#include "plugins/kinetic/fields/wall_poisson.hpp"

namespace cambium::kinetic {

/// Electrostatics: -div grad phi = rho / epsilon0 with a continuous phi from finite elements of the basis' order, so
/// that the Hamiltonian of the particles is continuous and their energy is conserved (Hakim, Hammett, Shi and Mandell,
/// arXiv:1908.01814). Periodic in one or two dimensions (solved by Fourier transform, the mean charge is the
/// neutralising background): PeriodicPoisson, and PlanePoisson in a decomposed plane; with walls in one of them or in
/// both: WallPoisson, and StripPoisson in a decomposed plane.
///
/// If no wall has a fixed potential, charge and walls together must be neutral: the background compensates their mean,
/// as in a periodic domain, and the first floating wall is the zero of the potential; if none floats either, its mean
/// is zero.
class Poisson : public FieldModel {
 public:
  /// InputError for three dimensions. `ranks`, if there are several, must outlive it.
  /// Walls with a circuit float in `walls`, those with a voltage are fixed there.
  Poisson(const ConfGrid& grid, double epsilon0, const PotentialWalls& walls = {}, const ConfRanks* ranks = nullptr,
          WallDrives drives = {});

  /// InputError when nothing can carry away the net charge of a plasma between floating walls: see require_neutral().
  void initialise(const Sources& sources) override;
  void refresh(const Sources& sources) override { solve(sources.charge, 0); }
  double frequency() const override { return frequency_; }
  void stage(const Stage& stage, const Sources& before, const Sources& after) override;
  std::span<const WallSide> collecting() const override { return floating(); }
  bool neutralises() const override { return neutral_ && floating().empty(); }
  std::vector<Reading> readings() const override;
  const double* electric(int slot, int c) const override { return c < grid_.dimensions ? e_[slot][c].data() : nullptr; }
  const double* magnetic(int, int) const override { return nullptr; }
  double electric_energy(int slot) const override;
  std::vector<Named> output() const override;
  void save(io::Group& group) const override;
  void load(const io::Group& group, const Sources& sources) override;
  void start_from(const io::Group& file, const Find& find, const Sources& sources) override;

  /// Collective. phi and E = -grad phi of a charge density, with the charges of a slot's floating walls. Lines and
  /// planes are decomposed over ranks.
  void solve(const std::vector<double>& charge, int slot);
  const std::vector<double>& potential() const { return phi_; }
  /// Charge of each floating wall, in the order of collecting(): per area in one dimension, per length in two. Slots as
  /// elsewhere.
  std::vector<double>& wall_charge(int slot) { return wall_charge_[slot]; }
  /// Their potentials after the last solve().
  const std::vector<double>& wall_potential() const { return wall_potential_; }

 private:
  std::span<const WallSide> floating() const;
  std::size_t place_of(const WallSide& side) const;
  void find_frequency();
  void set_voltages();
  void require_neutral(const Sources& sources) const;
  void centre_potential();
  double mean_charge(const std::vector<double>& charge, int slot) const;
  /// Contributions of each cell of `grid` to the loads of its nodes, from the charge: [cell][node].
  std::vector<double> loads(const ConfGrid& grid, const std::vector<double>& charge, double mean) const;
  /// Loads of all cells at this rank's nodes: the potential.
  std::vector<double> solve_whole(const std::vector<double>& loads, int slot);
  void keep(const std::vector<double>& at_nodes, int slot);
  double sum(double own) const { return ranks_ ? ranks_->row().sum(own) : own; }

  ConfGrid grid_, whole_;
  const ConfRanks* ranks_;
  double epsilon0_;
  Element element_;
  std::optional<PeriodicPoisson> periodic_;  ///< one of the five
  std::optional<PlanePoisson> plane_;
  std::optional<LinePoisson> line_;
  std::optional<WallPoisson> walls_;
  std::optional<StripPoisson> strips_;
  bool neutral_ = true;  ///< no wall has a fixed potential: charges must add up to nothing
  std::vector<double> wall_charge_[3], wall_potential_, potential_of_slot_[3];
  PotentialWalls given_;
  std::vector<WallVoltage> voltages_;
  WallCircuits circuits_;
  double time_ = 0.0, frequency_ = 0.0;  ///< of the next solve(); of the circuits
  std::vector<double> phi_, e_[3][3];
};

}  // namespace cambium::kinetic
