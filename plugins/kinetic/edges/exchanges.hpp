#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/result.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// What species gain and lose beside streaming and acceleration: sources and losses by formulas, reactions, and what
/// walls give back. All of it is part of each Runge-Kutta stage, so that it has the order of the time stepping, and its
/// balance of particles, momentum and energy is exact.
class Exchanges {
 public:
  /// InputError for keys that do not fit together. Species outlive it.
  Exchanges(const CommonParams& params, const std::vector<std::unique_ptr<Species>>& species, Context& context);
  ~Exchanges();

  /// True if a stage must add something: its fields and moments are not known before add() then.
  bool any() const;
  /// True if fluxes and balances are accounted for.
  bool accounts() const;
  /// Sources of a fresh or restored state, by way of slot 1. Collective.
  void prepare();
  /// After the sweeps of stage k of all species, from f[stage.in] into f[stage.out] and into `fresh`, this rank's
  /// shares of the moments of each species. Returns the largest rate of loss. Collective.
  double add(int k, const Stage& stage, double time, std::vector<std::vector<double>>& fresh);
  /// After a step of dt, with the rates of its stages: see balance(). NumericalError where a species has nearly gone.
  void finish(double dt, double time);
  /// Charge per time that a wall takes from a slot, less what it gives back. This rank's share.
  double collected(int slot, int dimension, bool high, double time) const;

  /// Numbers for the table of observables: fluxes to each wall in the last step, and totals since the start.
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
