#pragma once
#include <mpi.h>

#include <span>
#include <vector>

#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/fields/element.hpp"
#include "plugins/kinetic/fields/wall_poisson.hpp"

namespace cambium::kinetic {

/// -phi'' = r on a line that is decomposed over ranks, each with its own cells only. Nodes inside cells are eliminated;
/// the remaining unknowns are differences between the ends of cells, whose sums along the line give the field and the
/// potential. A rank receives four values about the other ranks' cells, by a scan.
class LinePoisson {
 public:
  LinePoisson(const ConfGrid& grid, const Element& element, const PotentialWalls& walls, const ConfRanks& ranks);

  /// As those of WallPoisson.
  const std::vector<WallSide>& floating() const { return floating_; }
  bool neutral() const { return neutral_; }
  /// Sets the potential of a wall where it is given.
  void set_potential(bool high, double potential) { (high ? high_ : low_).potential = potential; }
  bool constant_is_free() const { return !periodic_ && neutral_ && floating_.empty(); }

  /// Collective. `values`, [own cell][node of the element], the contribution of each cell to the load, becomes the
  /// potential. On a periodic line the mean over the ends of cells is zero; otherwise as WallPoisson::solve().
  void solve(std::span<double> values, const std::vector<double>& wall_charge, double epsilon0,
             std::vector<double>& wall_potential) const;

 private:
  /// Consecutive cells: their number; their load; the sums over cells of the load up to a cell's lower end, inclusive,
  /// and of these sums up to the cell.
  struct Stretch {
    double cells = 0.0, load = 0.0, field = 0.0, potential = 0.0;
    Stretch then(const Stretch& next) const;
  };
  /// Field and potential at the lower end of the line, and by how much the potential falls up to the upper one.
  struct Ends {
    double field, potential, fall;
  };
  static void join(void* before, void* after, int* count, MPI_Datatype*);
  Stretch own_stretch(std::span<const double> values) const;
  void eliminate(std::span<double> values) const;
  Ends ends(const Stretch& all, const std::vector<double>& wall_charge, double epsilon0) const;
  /// Fluxes out of floating walls; zero elsewhere.
  double flux(bool high, const std::vector<double>& wall_charge, double epsilon0) const;

  const ConfRanks& ranks_;
  int nodes_;
  bool periodic_, neutral_ = true;
  double width_;
  PotentialWall low_, high_;
  std::vector<WallSide> floating_;
  /// Stiffness of the node inside with itself and with each end; 0 where there is none.
  double inside_ = 0.0, coupling_[2] = {0.0, 0.0};
};

}  // namespace cambium::kinetic
