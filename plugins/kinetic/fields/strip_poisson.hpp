#pragma once
#include <optional>
#include <span>
#include <vector>

#include "plugins/kinetic/fields/cell_exchange.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/fields/wall_poisson.hpp"

namespace cambium::kinetic {

/// WallPoisson in a plane that is decomposed over ranks: bricks send their loads to ranks that have strips of it, which
/// solve and send potentials back. If there are more ranks than rows of cells, some have no strip.
class StripPoisson {
 public:
  /// `ranks` must outlive it.
  StripPoisson(const ConfGrid& grid, const Element& element, const PotentialWalls& walls, const ConfRanks& ranks);

  const WallUnknowns& unknowns() const { return unknowns_; }
  /// Collective. New potentials of walls whose potential is given.
  void set_potentials(const Element& element, const PotentialWalls& walls) {
    if (own_) own_->set_potentials(element, walls);
  }
  /// Collective. `loads`, [own cell][node of the element]: the contribution of each cell. Returns the potential there;
  /// the rest as WallPoisson::solve().
  std::vector<double> solve(std::span<const double> loads, const std::vector<double>& wall_charge, double epsilon0,
                            std::vector<double>& wall_potential) const;

 private:
  /// The first ranks of a communicator.
  struct First {
    MPI_Comm comm = MPI_COMM_NULL;
    First(const Comm& all, int count);
    ~First();
  };
  ConfGrid strip(int rank) const;
  std::vector<int> cells_of(int rank) const;

  const ConfGrid grid_;
  const ConfRanks& ranks_;
  const int nodes_, count_;  ///< nodes of a cell, and strips
  WallUnknowns unknowns_;
  CellExchange to_strips_, to_bricks_;
  std::optional<Comm> strips_;
  std::optional<WallPoisson> own_;
};

}  // namespace cambium::kinetic
