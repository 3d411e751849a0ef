#pragma once
#include <complex>

#include "plugins/kinetic/fields/banded.hpp"
#include "plugins/kinetic/fields/field_model.hpp"

namespace cambium::kinetic {

/// Potentials of the walls of each dimension that has some.
struct WallPotential {
  std::array<double, 3> lower{}, upper{};
};

/// Electrostatics: -div grad phi = rho / epsilon0 with a continuous phi from finite elements of the basis' order, so that
/// the Hamiltonian of the particles is continuous and their energy is conserved (Hakim, Hammett, Shi and Mandell,
/// arXiv:1908.01814). Periodic in one or two dimensions (solved by Fourier transform, the mean charge is the neutralising
/// background); with walls in one of them or in both, of given potentials, by a banded factorization.
class Poisson : public FieldModel {
 public:
  /// InputError for three dimensions.
  Poisson(const ConfGrid& grid, double epsilon0, const WallPotential& walls = {});

  void initialise(const Sources& sources) override { solve(sources.charge, 0); }
  void refresh(const Sources& sources) override { solve(sources.charge, 0); }
  void stage(const Stage& stage, const Sources&, const Sources& after) override { solve(after.charge, stage.out); }
  const double* electric(int slot, int c) const override { return c < grid_.dimensions ? e_[slot][c].data() : nullptr; }
  const double* magnetic(int, int) const override { return nullptr; }
  double electric_energy(int slot) const override;
  std::vector<Named> output() const override;
  void load(const io::Group&, const Sources& sources) override { solve(sources.charge, 0); }

  /// phi and E = -grad phi of a charge density.
  void solve(const std::vector<double>& charge, int slot);
  const std::vector<double>& potential() const { return phi_; }

 private:
  using Complex = std::complex<double>;
  /// A node of the element: which of the grid's classes of nodes, and how many cells away.
  struct Node {
    int kind;
    std::array<int, 2> shift;
    std::array<int, 2> steps;  ///< from the cell's corner, as many a cell as the order
  };

  void make_element();
  void make_symbols();
  void make_banded(const WallPotential& walls);
  void number_nodes();
  void pin_walls(const WallPotential& walls);
  void solve_periodic(std::vector<std::vector<Complex>>& right) const;
  void solve_walls(std::vector<double>& right) const;
  void transform(std::vector<Complex>& field, int sign) const;

  ConfGrid grid_;
  double epsilon0_;
  bool periodic_ = true;  ///< in every dimension
  int kinds_ = 1;
  std::vector<Node> nodes_;
  std::vector<double> shape_;      ///< [node][mode]: expansion of each shape function
  std::vector<double> stiffness_;  ///< [node][node]
  std::vector<std::vector<Complex>> inverse_;  ///< per wave vector, kinds x kinds
  Banded band_;                    ///< between walls
  std::vector<int> number_;        ///< [cell][node]
  std::vector<bool> pinned_;       ///< nodes on walls,
  std::vector<double> pinned_to_;  ///< their potential,
  std::vector<double> from_walls_; ///< and what it adds to the right-hand side of the others
  SparseMatrix slope_[3];          ///< d/dx of an expansion
  std::vector<double> phi_, e_[3][3];
};

}  // namespace cambium::kinetic
