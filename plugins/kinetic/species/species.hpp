#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/result.hpp"
#include "plugins/kinetic/collisions/bgk.hpp"
#include "plugins/kinetic/collisions/dougherty.hpp"
#include "plugins/kinetic/deck/params.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/solver/solver.hpp"
#include "plugins/kinetic/species/collision_frequency.hpp"
#include "plugins/kinetic/species/positivity.hpp"

namespace cambium::kinetic {

/// One kinetic species: its distribution function, and the moments of each slot in this rank's cells of configuration
/// space.
class Species {
 public:
  Species(const CommonParams& common, const SpeciesParams& params, const Comm& comm);

  /// f0 into slot 0. InputError for a negative density, for an f0 of which more than a thousandth is negative at the
  /// points where it is evaluated, and for a velocity space that truncates the distribution; warns about less of both.
  void initialise(Context& context);
  /// Content of a file of another run, carried over to this grid, into slot 0.
  void start_from(const io::Group& group, Context& context);
  /// Collisions during dt act on slot 0, after a step.
  void collide(double dt);
  bool collides() const { return bgk_ || dougherty_; }
  /// Mean density and temperature of slot 0 in this rank's cells of configuration space.
  std::array<std::vector<double>, 2> density_and_temperature() const;
  /// Dougherty's operator for this species; InputError when its velocity space is decomposed over ranks.
  Dougherty dougherty_with(std::vector<double> frequency) const;
  bool limits() const { return positivity_ != nullptr; }
  /// Scales negative parts away after a step; true when some rank changed a cell, whose moments are then new.
  /// Collective.
  bool limit();
  /// Times the limiter acted: cells that it changed, cells whose mean was negative. Collective.
  std::string limiter_report() const;
  std::vector<Result> limiter_results() const;  ///< the same as data
  /// Treatment of cells whose mean was negative; empty where there were none. Collective.
  std::string limiter_warning() const;
  /// Moments of slot 0 from scratch.
  void compute_moments();

  const std::string& name() const { return params_.name; }
  double charge() const { return charge_; }
  double mass() const { return mass_; }
  /// Values of the deck's parameters.
  const std::map<std::string, double>& values() const { return values_; }
  Solver& solver() { return *solver_; }
  const Solver& solver() const { return *solver_; }
  /// This rank's part of configuration space, and the ranks that have the others.
  const ConfGrid& conf() const { return conf_; }
  const ConfRanks& ranks() const { return ranks_; }

  /// Moments of a slot, filled by Solver::stage and then summed over the ranks of a column: see Solver for the layout.
  std::vector<double>& moments(int slot) { return moments_[slot]; }
  const std::vector<double>& moments(int slot) const { return moments_[slot]; }
  int components() const { return solver_->grid().vdim + 2; }
  /// One component of slot 0 as an expansion over this rank's cells: 0 density, 1.. particle flux, last twice the
  /// kinetic energy over the mass.
  std::vector<double> moment(int component, int slot = 0) const;

  /// Everything that a restart needs; collective, rank 0 writes. load() accepts any number of ranks.
  void save(io::Group& group) const;
  void load(const io::Group& group);

 private:
  void make_collisions(const CollisionParams& params);
  /// True if Dougherty collisions during dt are implicit in velocity. Collective.
  bool implicit(double dt) const;

  const Comm& comm_;
  SpeciesParams params_;
  std::map<std::string, double> values_;
  double charge_, mass_;
  std::unique_ptr<Solver> solver_;
  ConfGrid conf_;
  ConfRanks ranks_;
  std::vector<double> moments_[3];
  CollisionFrequency frequency_;
  std::unique_ptr<Bgk> bgk_;
  std::unique_ptr<Dougherty> dougherty_;
  std::unique_ptr<Positivity> positivity_;
};

}  // namespace cambium::kinetic
