#pragma once
#include <functional>

#include "core/deck/describe.hpp"
#include "plugins/deepmd/tasks/single_point.hpp"

namespace cambium::deepmd {

/// Crystals (or whatever the structure is) with random cells and displaced atoms.
struct Perturbed {
  int frames = 0;
  double strain = 0.03;       ///< largest component of the random strain
  double volume = 0.0;        ///< largest random change of the cell's lengths in addition
  double displacement = 0.1;  ///< Å, standard deviation of each component
  static void describe(deck::Describe<Perturbed>& d);
};

/// Configurations from short Langevin dynamics, one trajectory for each pair of a temperature and a strain.
struct Trajectories {
  std::vector<double> temperature;   ///< K
  std::vector<double> strain = {0};  ///< of the cell's lengths
  double melt_at = 0.0;              ///< K; positive: the first half of the equilibration is at this temperature
  int frames = 20, every = 25, equilibrate = 200;
  double timestep = 0.002, damping = 0.1;  ///< ps
  static void describe(deck::Describe<Trajectories>& d);
};

/// The perturbed configuration with index `k`, a function of (seed, k).
Configuration perturbed(const Configuration& start, const Perturbed& spec, std::uint64_t seed, std::int64_t k);

/// The configurations of one trajectory, a function of (seed, number). `breathe` is called after each step.
std::vector<Configuration> trajectory(
    const Configuration& start, const Trajectories& spec, double temperature, double strain, Potential& potential,
    std::uint64_t seed, std::int64_t number, Context& context, const std::function<void()>& breathe = [] {});

}  // namespace cambium::deepmd
