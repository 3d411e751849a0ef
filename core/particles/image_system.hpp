#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// One configuration on one rank, with every periodic image within `range` of the cell as an explicit ghost, for single
/// evaluations of a potential without a domain decomposition. Cells may be smaller than the range.
class ImageSystem : public GhostExchange {
 public:
  /// `positions` (Å) may be outside the cell; without a cell nothing is periodic. Types index `species`. The list
  /// contains pairs up to range + skin.
  ImageSystem(std::span<const std::array<double, 3>> positions, std::span<const int> types,
              const std::optional<Box>& box, std::vector<Species> species, double range, double skin = 0.0);

  const Particles& particles() const { return particles_; }
  const NeighborList& list() const { return list_; }

  void forward(View<double*> per_atom) override;
  void reverse_add(View<double* [3]> per_atom) override;
  void reverse_add(View<double* [9]> per_atom) override;

 private:
  struct Image {
    int owner;
    std::array<double, 3> x;
  };
  std::vector<Image> images(const std::vector<std::array<double, 3>>& x, const Box& box, double range) const;
  void fill(const std::vector<std::array<double, 3>>& x, std::span<const int> types, const std::vector<Image>& ghosts);

  Particles particles_;
  NeighborList list_;
  std::vector<int> owner_;  ///< of each ghost
};

}  // namespace cambium
