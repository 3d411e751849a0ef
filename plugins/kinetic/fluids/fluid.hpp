#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/fields/field_model.hpp"
#include "plugins/kinetic/fluids/moment_equations.hpp"
#include "plugins/kinetic/fluids/subcells.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// A fluid species: mean values of its moments in the subcells of this rank's cells, in three slots like distribution
/// functions. Finite volumes with linear reconstruction of the primitive state and HLL fluxes (van Leer, J. Comput.
/// Phys. 32, 101 (1979)); sources are part of each Runge-Kutta stage.
///
/// Fields act by their means in a subcell and the current is the adjoint of that, so that J . E is the same in fluid
/// and field: with Maxwell's equations and the central flux the sum of energies is constant but for the time stepping.
class Fluid {
 public:
  /// InputError for invalid constants. `values` are the deck's parameters; `order` of the basis gives the default
  /// number of subcells. `ranks` must outlive the fluid; null: this rank has the global grid.
  Fluid(const FluidParams& params, const std::map<std::string, double>& values, const ConfGrid& conf, int order,
        const ConfRanks* ranks = nullptr);
  /// The neighbours of a rank that has a part: `phase` names them.
  void connect(const PhaseGrid& phase, const Comm& comm) { halo_.emplace(phase, cells_.grid(), comm); }

  /// Slot 0 from the formulas of the deck; InputError where density or pressure is not positive.
  void initialise();
  /// One stage of the step. Returns the frequency of the state that it begins from, of which the step must be shorter
  /// than the inverse; infinite where that state has a density or pressure that is not positive. Collective over
  /// neighbours.
  double stage(const Stage& stage, const ForceField& force, double epsilon0);

  const std::string& name() const { return params_.name; }
  double charge() const { return charge_; }
  double mass() const { return mass_; }
  const Subcells& cells() const { return cells_; }
  const MomentEquations& equations() const { return *equations_; }
  /// Component c of the conserved state in a slot: [cell][subcell].
  const std::vector<double>& values(int slot, int c) const { return state_[slot][c]; }
  /// Adds charge and current density of a slot, as expansions.
  void add_sources(int slot, std::vector<double>& charge, std::vector<double> (&current)[3]) const;
  /// Charge per time that flows into a wall, contribution of this rank.
  double collected(int slot, const WallSide& side) const;
  /// "[3, 0] (x = 0.7, y = 0.1)" of a subcell of this rank where density or pressure is not positive; empty where
  /// there is none.
  std::string broken_place() const;

  /// Integrals over this rank's cells: particles, momentum x, y, z, energy, pressure.
  std::array<double, 6> totals() const;
  /// Names of the moments in files and their expansions: density, flux_x, ..., energy (twice over the mass, as that of
  /// kinetic species), pressure or pressure_xx, ...
  struct Named {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Named> output() const;

  std::string summary() const;
  double bytes() const;  ///< on this rank
  /// Collective; rank 0 writes.
  void save(io::Group& group) const;
  void load(const io::Group& group);

 private:
  using Row = std::array<double, MomentEquations::most>;
  /// Subcells of a rank in one row along a dimension.
  struct Line {
    std::vector<std::size_t> own;  ///< indices in [cell][subcell]
    std::vector<Row> state;        ///< primitive, with two more at either end
    bool absorbs[2] = {};          ///< a wall at the lower and upper end
  };
  std::string place_of(std::size_t at) const;
  std::size_t subcell(int across, int d, int along) const;
  Row ghost(int slot, int cell, int d, bool high, int across, int layer) const;
  Row primitive(int slot, std::size_t at) const;
  Line line(int slot, int cell, int d, int across) const;
  std::vector<Row> fluxes(const Line& line, int d) const;
  void add_fluxes(int slot, int d);
  void add_field_sources(int slot, const ForceField& force, double epsilon0);

  FluidParams params_;
  std::map<std::string, double> values_;
  double charge_, mass_;
  std::unique_ptr<MomentEquations> equations_;
  ConfGrid conf_;
  const ConfRanks* ranks_;
  Subcells cells_;
  std::optional<ConfHalo> halo_;
  std::array<std::vector<std::vector<double>>, 3> state_;  ///< [slot][component][cell, subcell]
  std::vector<std::vector<double>> ghost_, rate_;          ///< [component]
  std::vector<double> frequency_;                          ///< of each subcell
};

}  // namespace cambium::kinetic
