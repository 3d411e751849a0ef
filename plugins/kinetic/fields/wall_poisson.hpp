#pragma once
#include "plugins/kinetic/fields/element.hpp"
#include "plugins/kinetic/fields/field_model.hpp"
#include "plugins/kinetic/fields/strip_solver.hpp"

namespace cambium::kinetic {

/// Condition of the potential at a wall.
struct PotentialWall {
  enum class Kind {
    fixed,     ///< it has a given value
    symmetry,  ///< its normal derivative vanishes: mirror symmetry
    floating   ///< a conductor that is connected to nothing: its value follows from the charge that it has absorbed
  };
  Kind kind = Kind::fixed;
  double potential = 0.0;  ///< of a fixed one
};

/// Walls at both ends of each dimension; ignored if it is periodic.
struct PotentialWalls {
  std::array<PotentialWall, 3> lower{}, upper{};
};

/// Unknowns of the walls.
struct WallUnknowns {
  std::vector<WallSide> floating;  ///< walls that float, in the order of their charges and potentials
  bool neutral = true;             ///< no wall has a fixed potential: charges must add up to nothing
  bool constant_is_free = true;    ///< no wall has any potential: the solution is free up to a constant
  WallUnknowns(const ConfGrid& grid, const PotentialWalls& walls);
};

/// -div grad phi = r with walls in one dimension or in both: nodes are numbered line by line, and one banded matrix
/// serves all steps.
///
/// A floating wall w has one potential V_w and the charge Q_w. With phi = phi_0 + sum_w V_w g_w, where g_w is the
/// discrete solution without charge that is one at w and zero at the other walls with a potential, Gauss's law in the
/// weak form that belongs to the elements reads   sum_u a(g_w, g_u) V_u = (Q_w + integral(rho g_w)) / epsilon0 - a(g_w,
/// h), with a(u, v) = integral(grad u . grad v) and h the solution of the fixed potentials.
///
/// Ranks may have strips of the grid, cut along lines(): each has the nodes of its cells, the line between two strips
/// is in both, and of the loads there each has what its own cells give.
class WallPoisson {
 public:
  /// Collective over `strips`, ranks in the order of their strips, which outlive it; `grid` is then this rank's strip.
  WallPoisson(const ConfGrid& grid, const Element& element, const PotentialWalls& walls, const Comm* strips = nullptr);

  /// The dimension along which lines of nodes follow each other: one with walls, so that a periodic one only couples
  /// nodes of neighbouring lines.
  static int lines(const ConfGrid& grid) { return grid.dimensions == 1 || grid.low_wall[0] != Wall::periodic ? 0 : 1; }

  int size() const { return static_cast<int>(pinned_.size()); }
  /// Number of node i of a cell.
  int number(int cell, int i) const { return number_[static_cast<std::size_t>(cell) * local_ + i]; }
  const WallUnknowns& unknowns() const { return unknowns_; }

  /// Collective. New potentials of walls whose potential is given.
  void set_potentials(const Element& element, const PotentialWalls& walls);

  /// Collective. `right`, by number of node, becomes the potential; `wall_charge` over epsilon0 and the charge between
  /// them give the floating walls their potentials.
  void solve(std::vector<double>& right, const std::vector<double>& wall_charge, double epsilon0,
             std::vector<double>& wall_potential) const;

 private:
  /// A wall whose nodes have one potential.
  struct Conductor {
    int dimension;
    bool high;
    PotentialWall wall;
    std::vector<double> share;  ///< of each node in its potential: 1 on the wall, 1/2 where it meets another, else 0
  };

  void number_nodes(const Element& element);
  void find_conductors(const Element& element, const PotentialWalls& walls);
  void take_fixed(const Element& element);
  void make_capacitance(const Element& element);
  std::vector<double> lift(const Element& element, const std::vector<double>& on_walls) const;
  double stiffness_product(const Element& element, const std::vector<double>& a, const std::vector<double>& b) const;
  double total(double of_strip) const { return strips_ ? strips_->sum(of_strip) : of_strip; }

  ConfGrid grid_;
  const Comm* strips_;
  WallUnknowns unknowns_;
  int local_;                       ///< nodes of a cell
  int line_ = 0;                    ///< and of the first line
  std::vector<int> number_;         ///< [cell][node]
  std::vector<bool> pinned_;        ///< nodes on walls that have a potential,
  std::vector<double> from_walls_;  ///< and what those of the fixed ones put on the right-hand side
  StripSolver solver_;
  std::vector<Conductor> conductors_;
  std::vector<std::vector<double>> unit_;    ///< g_w at the nodes
  std::vector<double> capacitance_, fixed_;  ///< inverse of a(g_w, g_u), and a(g_w, h)
};

}  // namespace cambium::kinetic
