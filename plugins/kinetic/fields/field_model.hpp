#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Charge density and current density of all species, as expansions over this rank's cells of configuration space.
struct Sources {
  std::vector<double> charge, current[3];
  std::vector<double> collected;  ///< charge per time that goes into each of FieldModel::collecting()
  double time = 0.0;              ///< of the state that they belong to
  double carried = 0.0;           ///< where there are such walls: charges of all particles, without their signs
};

/// The lower or upper end of a dimension of configuration space.
struct WallSide {
  int dimension = 0;
  bool high = false;
};

/// The fields that accelerate particles, in three slots like the distribution functions.
class FieldModel {
 public:
  virtual ~FieldModel() = default;
  /// Fields of the fresh state in slot 0.
  virtual void initialise(const Sources& sources) = 0;
  /// Collective. Fields of slot `out` after a stage: `before` belongs to f[stage.in], `after` to f[stage.out].
  virtual void stage(const Stage& stage, const Sources& before, const Sources& after) = 0;
  /// True if stage() reads only what belongs to f[stage.in], so that the fields of f[stage.out] are known before it is.
  virtual bool ahead() const { return false; }
  /// Walls that keep the charge they absorb: stage() needs what `before` collects there.
  virtual std::span<const WallSide> collecting() const { return {}; }
  /// True if a uniform background compensates the net charge of the sources.
  virtual bool neutralises() const { return false; }
  /// Components by the names that save() gives them, on this grid, where the file of another run had them; otherwise as
  /// initialise().
  using Find = std::function<std::optional<std::vector<double>>(const std::string& name)>;
  virtual void start_from(const io::Group& /*file*/, const Find&, const Sources& sources) { initialise(sources); }
  /// div E of slot 0 in this rank's cells; empty where E follows from the charge. Collective among neighbours.
  virtual std::vector<double> divergence() { return {}; }
  /// The charge of slot 0 has changed without a step: fields that follow from it are new.
  virtual void refresh(const Sources&) {}
  /// Component of a slot in this rank's cells, or null.
  virtual const double* electric(int slot, int component) const = 0;
  virtual const double* magnetic(int slot, int component) const = 0;
  /// For all cells; collective.
  virtual double electric_energy(int slot) const = 0;
  virtual double magnetic_energy(int) const { return 0.0; }
  /// Energy of B without its mean over the domain; collective.
  virtual double magnetic_wave_energy(int) const { return 0.0; }
  /// Sum over dimensions of (2p+1) speed / width of waves in the fields.
  virtual double frequency() const { return 0.0; }
  /// Named expansions of slot 0 in this rank's cells, for output.
  struct Named {
    std::string name;
    const double* values;
  };
  virtual std::vector<Named> output() const = 0;
  /// Values of slot 0 for the table of observables.
  struct Reading {
    std::string name, meaning;
    double value;
  };
  virtual std::vector<Reading> readings() const { return {}; }
  /// Collective; rank 0 writes.
  virtual void save(io::Group&) const {}
  virtual void load(const io::Group&, const Sources& sources) = 0;
};

}  // namespace cambium::kinetic
