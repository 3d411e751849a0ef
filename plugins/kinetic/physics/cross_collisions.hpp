#pragma once
#include "plugins/kinetic/collisions/between_species.hpp"
#include "plugins/kinetic/physics/plasma.hpp"

namespace cambium::kinetic {

/// Collisions between species, pair by pair.
class CrossCollisions {
 public:
  /// InputError for a pair that is given twice, or whose species do not exist or are incompatible.
  CrossCollisions(const std::vector<CrossCollisionParams>& pairs, const Plasma& plasma);

  bool any() const { return !pairs_.empty(); }
  /// Collective: collisions during dt act on slot 0, whose moments change.
  void act(double dt, const Comm& comm);

 private:
  struct Pair {
    Species *a, *b;
    BetweenSpecies op;
    CollisionFrequency frequency;
    CollisionScheme scheme;
  };
  static void act(Pair& pair, double dt, const Comm& comm);
  void add(const CrossCollisionParams& params, const Plasma& plasma);

  std::vector<Pair> pairs_;
};

}  // namespace cambium::kinetic
