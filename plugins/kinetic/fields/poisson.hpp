#pragma once
#include <complex>

#include "plugins/kinetic/fields/banded.hpp"
#include "plugins/kinetic/fields/field_model.hpp"

namespace cambium::kinetic {

/// What the potential does at a wall.
struct PotentialWall {
  enum class Kind {
    fixed,     ///< it has a given value
    symmetry,  ///< its normal derivative vanishes: what lies beyond is the mirror image
    floating   ///< a conductor that is connected to nothing: its value follows from the charge that it has absorbed
  };
  Kind kind = Kind::fixed;
  double potential = 0.0;  ///< of a fixed one
};

/// Those at both ends of each dimension; of no meaning where it is periodic.
struct PotentialWalls {
  std::array<PotentialWall, 3> lower{}, upper{};
};

/// Electrostatics: -div grad phi = rho / epsilon0 with a continuous phi from finite elements of the basis' order, so
/// that the Hamiltonian of the particles is continuous and their energy is conserved (Hakim, Hammett, Shi and Mandell,
/// arXiv:1908.01814). Periodic in one or two dimensions (solved by Fourier transform, the mean charge is the
/// neutralising background); with walls in one of them or in both by a banded factorization.
///
/// A floating wall w has one potential V_w and the charge Q_w. With phi = phi_0 + sum_w V_w g_w, where g_w is the
/// discrete solution without charge that is one at w and zero at the other walls with a potential, Gauss's law in the
/// weak form that belongs to the elements reads   sum_u a(g_w, g_u) V_u = (Q_w + integral(rho g_w)) / epsilon0 - a(g_w,
/// h), with a(u, v) = integral(grad u . grad v) and h the solution of the fixed potentials. Where no wall has a fixed
/// potential, charge and walls together must be neutral: their mean is the background's, as in a periodic domain, and
/// the first floating wall is the zero of the potential; where none floats either, its mean is zero.
class Poisson : public FieldModel {
 public:
  /// InputError for three dimensions.
  Poisson(const ConfGrid& grid, double epsilon0, const PotentialWalls& walls = {});

  /// InputError when nothing can carry away the net charge of a plasma between floating walls: see require_neutral().
  void initialise(const Sources& sources) override;
  void refresh(const Sources& sources) override { solve(sources.charge, 0); }
  void stage(const Stage& stage, const Sources& before, const Sources& after) override;
  std::span<const WallSide> collecting() const override { return floating_; }
  std::vector<Reading> readings() const override;
  const double* electric(int slot, int c) const override { return c < grid_.dimensions ? e_[slot][c].data() : nullptr; }
  const double* magnetic(int, int) const override { return nullptr; }
  double electric_energy(int slot) const override;
  std::vector<Named> output() const override;
  void save(io::Group& group) const override;
  void load(const io::Group& group, const Sources& sources) override;
  void start_from(const io::Group& file, const Find& find, const Sources& sources) override;

  /// phi and E = -grad phi of a charge density, with the charges of a slot's floating walls.
  void solve(const std::vector<double>& charge, int slot);
  const std::vector<double>& potential() const { return phi_; }
  /// Charge of each floating wall, in the order of collecting(): per area in one dimension, per length in two. Slots as
  /// elsewhere.
  std::vector<double>& wall_charge(int slot) { return wall_charge_[slot]; }
  /// Their potentials after the last solve().
  const std::vector<double>& wall_potential() const { return wall_potential_; }

 private:
  using Complex = std::complex<double>;
  /// A node of the element: which of the grid's classes of nodes, and how many cells away.
  struct Node {
    int kind;
    std::array<int, 2> shift;
    std::array<int, 2> steps;  ///< from the cell's corner, as many a cell as the order
  };

  /// A wall whose nodes have one potential.
  struct Conductor {
    int dimension;
    bool high;
    PotentialWall wall;
    std::vector<double> share;  ///< of each node in its potential: 1 on the wall, 1/2 where it meets another, else 0
  };

  void make_element();
  void make_symbols();
  void make_banded(const PotentialWalls& walls);
  void number_nodes();
  void find_conductors(const PotentialWalls& walls);
  void make_capacitance();
  std::vector<double> lift(const std::vector<double>& on_walls) const;
  double stiffness_product(const std::vector<double>& a, const std::vector<double>& b) const;
  void solve_periodic(std::vector<std::vector<Complex>>& right) const;
  void solve_walls(std::vector<double>& right, int slot);
  void require_neutral(const Sources& sources) const;
  void centre_potential();
  void transform(std::vector<Complex>& field, int sign) const;

  ConfGrid grid_;
  double epsilon0_;
  bool periodic_ = true;  ///< in every dimension
  int kinds_ = 1;
  std::vector<Node> nodes_;
  std::vector<double> shape_;                  ///< [node][mode]: expansion of each shape function
  std::vector<double> stiffness_;              ///< [node][node]
  std::vector<std::vector<Complex>> inverse_;  ///< per wave vector, kinds x kinds
  Banded band_;                                ///< between walls
  std::vector<int> number_;                    ///< [cell][node]
  std::vector<bool> pinned_;                   ///< nodes on walls that have a potential,
  std::vector<double> from_walls_;             ///< and what those of the fixed ones put on the right-hand side
  bool neutral_ = true;                        ///< no wall has a fixed potential: charges must add up to nothing
  std::vector<Conductor> conductors_;
  std::vector<WallSide> floating_;           ///< those that float, in the order of the arrays below
  std::vector<std::vector<double>> unit_;    ///< g_w at the nodes
  std::vector<double> capacitance_, fixed_;  ///< inverse of a(g_w, g_u), and a(g_w, h)
  std::vector<double> wall_charge_[3], wall_potential_;
  SparseMatrix slope_[3];  ///< d/dx of an expansion
  std::vector<double> phi_, e_[3][3];
};

}  // namespace cambium::kinetic
