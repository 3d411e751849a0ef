#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/result.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// Gains and losses of species in addition to streaming and acceleration: sources and losses by formulas, reactions,
/// and emission from walls. All are part of each Runge-Kutta stage, so that they have the order of the time stepping,
/// and the balance of particles, momentum and energy is exact.
class Exchanges {
 public:
  /// InputError for inconsistent keys. The species must outlive it.
  Exchanges(const CommonParams& params, const std::vector<std::unique_ptr<Species>>& species, Context& context);
  ~Exchanges();

  /// True if a stage must add something: its fields and moments are then not known before add().
  bool any() const;
  /// True if fluxes and balances are accounted for.
  bool accounts() const;
  /// Prepares the sources of a fresh or restored state, by way of slot 1. Collective.
  void prepare();
  /// After the sweeps of stage k of all species: adds from f[stage.in] into f[stage.out] and, for this rank, to the
  /// moments of each species in `fresh`. Returns the largest rate of loss. Collective.
  double add(int k, const Stage& stage, double time, std::vector<std::vector<double>>& fresh);
  /// After a step of dt, with the rates of its stages: see balance(). NumericalError if a species is nearly depleted.
  void finish(double dt, double time);
  /// Charge per time that a wall takes from a slot, minus what it gives back. Contribution of this rank.
  double collected(int slot, int dimension, bool high, double time) const;

  /// Values for the table of observables: fluxes to each wall in the last step, and totals since the start.
  struct Reading {
    std::string name, meaning;
    double value;
  };
  std::vector<Reading> readings() const;
  std::vector<std::string> report() const;
  std::vector<Result> results() const;
  void save(io::Group& group) const;
  void load(const io::Group& group);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cambium::kinetic
