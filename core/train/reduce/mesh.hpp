#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::train {

/// Ranks as a grid of levels, the innermost first: {pair 2, node 4, world 8} are 64 ranks, of which neighbours by
/// number share the inner levels. Weights, gradients and optimizer states can each be partitioned over levels.
class Mesh {
 public:
  struct Level {
    std::string name;
    int ranks = 1;
  };

  /// Every rank in one level, "world".
  explicit Mesh(const Comm& world);
  /// Collective. InputError when the levels' product is not the number of ranks.
  Mesh(const Comm& world, std::vector<Level> levels);

  const Comm& world() const { return world_; }
  const std::vector<Level>& levels() const { return levels_; }
  /// This rank's place in level k.
  int coordinate(std::size_t k) const { return comms_[k]->rank(); }
  /// The ranks that differ from this one in level k alone, in the order of their coordinate.
  const Comm& along(std::size_t k) const { return *comms_[k]; }

 private:
  const Comm& world_;
  std::vector<Level> levels_;
  std::vector<std::unique_ptr<Comm>> comms_;
};

}  // namespace cambium::train
