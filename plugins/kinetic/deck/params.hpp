#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/kinetic/deck/fluid_params.hpp"
#include "plugins/kinetic/deck/velocity_grid.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Configuration space.
struct DomainParams {
  std::vector<std::string> lower, upper;
  std::vector<int> cells;
  std::vector<Wall> lower_wall, upper_wall;
  static void describe(deck::Describe<DomainParams>& d);
};

struct BasisParams {
  enum class Family { serendipity, tensor };
  Family family = Family::serendipity;
  int order = 2;
  static void describe(deck::Describe<BasisParams>& d);
};

struct VelocityParams {
  std::vector<std::string> lower, upper;
  std::vector<int> cells;
  std::vector<SpacingParams> spacing;
  static void describe(deck::Describe<VelocityParams>& d);
};

/// Time integration of Dougherty's operator.
enum class CollisionScheme { automatic, explicit_steps, implicit };

/// Collisions of a species with itself.
struct CollisionParams {
  enum class Operator { bgk, dougherty };
  Operator op = Operator::bgk;
  std::string frequency;
  CollisionScheme scheme = CollisionScheme::automatic;
  static void describe(deck::Describe<CollisionParams>& d);
};

/// Collisions of two species with each other.
struct CrossCollisionParams {
  std::vector<std::string> species;
  std::string frequency;
  CollisionScheme scheme = CollisionScheme::automatic;
  static void describe(deck::Describe<CrossCollisionParams>& d);
};

/// Particles of a species that an absorbing wall gives back.
struct WallEmissionParams {
  std::string wall, reflection = "0", flux, temperature = "1";
  std::map<std::string, std::string> yield;
  static void describe(deck::Describe<WallEmissionParams>& d);
};

/// Particles that appear in the domain.
struct SourceParams {
  std::string profile, rate = "1";
  static void describe(deck::Describe<SourceParams>& d);
};

/// Ionisation or recombination of a pair of species.
struct ReactionParams {
  enum class Kind { ionisation, recombination };
  Kind kind = Kind::ionisation;
  std::vector<std::string> species, temperatures;
  std::string rate;
  static void describe(deck::Describe<ReactionParams>& d);
};

struct SpeciesParams {
  std::string name;
  std::string charge = "0", mass = "1";
  VelocityParams velocity;
  std::string f0;
  std::optional<CollisionParams> collisions;
  bool positivity = false;
  std::vector<WallEmissionParams> walls;
  std::optional<SourceParams> source;
  std::string loss;
  static void describe(deck::Describe<SpeciesParams>& d);
};

/// Fit of growth or damping to the field energy.
struct GrowthParams {
  double from = 0.0, to = 1e300;
  bool oscillating = false;
  static void describe(deck::Describe<GrowthParams>& d);
};

struct ObservableParams {
  std::optional<GrowthParams> growth_rate;
  bool entropy = false, balance = false;
  static void describe(deck::Describe<ObservableParams>& d);
};

/// Settings of every kinetic physics.
struct CommonParams {
  DomainParams domain;
  BasisParams basis;
  std::map<std::string, std::string> parameters;
  std::vector<SpeciesParams> species;
  std::vector<FluidParams> fluid_species;  ///< where there are fields
  std::vector<CrossCollisionParams> collisions;
  std::vector<ReactionParams> reactions;
  std::string start_from;
  double cfl = 0.9;
  std::optional<double> timestep, max_timestep, end_time;
  Precision precision = Precision::float64;
  enum class AccelerationFlux { penalty, upwind } acceleration_flux = AccelerationFlux::penalty;
  std::vector<int> ranks;
  ObservableParams observables;

  /// Values of the deck's parameters.
  std::map<std::string, double> values() const;

  /// Declares these keys in the description of a P that derives from CommonParams.
  template <class P>
  static void describe_common(deck::Describe<P>& d);
  /// Declares `fluid_species`.
  template <class P>
  static void describe_fluids(deck::Describe<P>& d);
};

/// Grid of a species, before decomposition over ranks. InputError for inconsistent parameters.
PhaseGrid make_grid(const CommonParams& params, const SpeciesParams& species);

/// Key of the species of this name: "species[1]".
std::string key_of(const CommonParams& params, const std::string& species);

/// Error in the names of species; "" when nothing is. They name tables, observables and groups of files.
std::string problem_of_names(const std::vector<SpeciesParams>& species, const std::vector<FluidParams>& fluids = {});

template <class P>
void CommonParams::describe_common(deck::Describe<P>& d) {
  d.check([](const P& p) { return problem_of_names(p.species, p.fluid_species); });
  d("domain", &CommonParams::domain, "configuration space");
  d("basis", &CommonParams::basis, "polynomials of a cell");
  d("parameters", &CommonParams::parameters,
    "named constants for all formulas of this stage; they may refer to each other")
      .def({});
  d("species", &CommonParams::species, "kinetic species");
  d("collisions", &CommonParams::collisions,
    "between species, of each pair once; those of a species with itself are its own key")
      .def({});
  d("reactions", &CommonParams::reactions, "ionisation and recombination of pairs of species").def({});
  d("start_from", &CommonParams::start_from,
    "restart from a checkpoint or distribution file of another run: distribution functions, and fields if the file has "
    "them, are interpolated to the cells, velocities and basis of this deck; density is conserved, f0 is ignored")
      .def("")
      .example("\"{run}/simulate/distribution.1000.h5\"");
  d("cfl", &CommonParams::cfl, "CFL number: fraction of the largest stable time step")
      .greater_than(0.0)
      .at_most(1.0)
      .def(0.9);
  d("timestep", &CommonParams::timestep, "fixed time step; an error when it is not stable").positive();
  d("max_timestep", &CommonParams::max_timestep, "longest step that is taken").positive();
  d("end_time", &CommonParams::end_time, "time at which the run ends; the last step is shortened to meet it")
      .positive();
  d("precision", &CommonParams::precision,
    "floating-point precision of the distribution functions; moments and fields are always float64")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(Precision::float64);
  d("acceleration_flux", &CommonParams::acceleration_flux,
    "numerical flux through faces of velocity space: penalty (mean of both sides and half the largest acceleration "
    "times their difference), or upwind (the side it comes from, at each node of a face; slower)")
      .options({{"penalty", AccelerationFlux::penalty}, {"upwind", AccelerationFlux::upwind}})
      .def(AccelerationFlux::penalty);
  d("ranks", &CommonParams::ranks, "number of MPI ranks along each dimension of phase space; default: automatic")
      .def({});
  d("observables", &CommonParams::observables, "quantities beyond the standard ones");
}

template <class P>
void CommonParams::describe_fluids(deck::Describe<P>& d) {
  d("fluid_species", &CommonParams::fluid_species,
    "species described by their moments alone (fluids), alongside at least one kinetic species")
      .def({});
}

}  // namespace cambium::kinetic
