#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::train {

/// Hierarchical mesh of ranks, the innermost level first: {pair 2, node 4, world 8} are 64 ranks, of which consecutive
/// ones are in the same inner levels. Weights, gradients and optimizer states can each be sharded over levels.
class Mesh {
 public:
  struct Level {
    std::string name;
    int ranks = 1;
  };

  /// All ranks in one level, "world".
  explicit Mesh(const Comm& world);
  /// Collective. InputError if the product of the levels is not the number of ranks.
  Mesh(const Comm& world, std::vector<Level> levels);

  const Comm& world() const { return world_; }
  const std::vector<Level>& levels() const { return levels_; }
  /// Coordinate of this rank in level k.
  int coordinate(std::size_t k) const { return comms_[k]->rank(); }
  /// Ranks that differ from this one only in level k, in the order of their coordinate.
  const Comm& along(std::size_t k) const { return *comms_[k]; }

 private:
  const Comm& world_;
  std::vector<Level> levels_;
  std::vector<std::unique_ptr<Comm>> comms_;
};

}  // namespace cambium::train
