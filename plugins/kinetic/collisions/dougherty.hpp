#pragma once
#include <array>
#include <vector>

#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// The collision operator of Lenard and Bernstein (Phys. Rev. 112, 1456 (1958)) and Dougherty (Phys. Fluids 7, 1788
/// (1964)),
///   C[f] = nu d/dv . [ (v - u) f + vt^2 df/dv ],
/// at every Gauss node of configuration space: upwind drift and symmetric interior penalty diffusion along each
/// velocity dimension, without flux through the ends of velocity space. u and vt^2 are not the plain moments but what
/// the discrete operator needs to conserve momentum and energy, boundary terms included (as Hakim, Francisquez, Juno
/// and Hammett, J. Plasma Phys. 86, 905860403 (2020), do for their scheme). SSP-RK3 in as many sub-steps as stability
/// asks for. Density and momentum are conserved as expansions, energy in every configuration-space cell, all to
/// rounding.
class Dougherty {
 public:
  /// `frequency` per cell of this rank's configuration space. Velocity space must not be cut among ranks.
  Dougherty(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency);

  /// Collisions during dt act on slot 0. NumericalError where density or temperature is not positive.
  void act(Solver& solver, double dt);
  int substeps() const { return substeps_; }  ///< most of any cell, in the last call

  // The operator at one node of configuration space, for collisions that involve more than one species. There f is an
  // array [velocity cell][group], a group being the modes of equal velocity exponents.

  /// Velocity moments in units of one common factor (see moment_unit), and what the ends of velocity space contribute.
  struct Moments {
    double m0 = 0.0, m2 = 0.0, ends = 0.0;
    std::array<double, 3> m1{}, jump{};
  };
  /// Drift speed and squared thermal speed that the operator relaxes to.
  struct State {
    std::array<double, 3> u{};
    double vt2 = 0.0;
  };
  Moments moments_of(const double* f) const;
  /// The state with which nu^-1 d/dt m1 = push and nu^-1 d/dt m2/2 = heat, in the discrete operator; nothing given:
  /// both are conserved. NumericalError, naming the configuration-space cell, where density or vt^2 is not positive.
  State state_for(const Moments& m, int cell, const std::array<double, 3>& push = {}, double heat = 0.0) const;
  /// Sub-steps of SSP-RK3 that `rate` = nu dt stiffness() asks for. NumericalError where they are so many that a step
  /// would take minutes.
  static int substeps_for(double rate, int cell);
  /// out = the operator applied to f, per unit of nu.
  void rate(const double* f, double* out, const State& s) const;
  /// Bound of the operator's eigenvalues per unit of nu.
  double stiffness(const State& s) const;
  /// Turns moments into physical units.
  double moment_unit() const;

  int nodes() const { return conf_rule_.nodes(); }
  std::size_t node_size() const { return static_cast<std::size_t>(cells_) * groups_.size(); }
  std::size_t cell_size() const { return static_cast<std::size_t>(cells_) * modes_; }
  /// All coefficients of a local configuration-space cell, [velocity cell][mode], from and to slot 0's host copy.
  void read(const Solver& solver, int conf_cell, std::vector<double>& f) const;
  void write(Solver& solver, int conf_cell, const std::vector<double>& f) const;
  /// Values at a node; and what a change there (after - before) contributes to the coefficients.
  void at_node(const std::vector<double>& f, int node, std::vector<double>& values) const;
  void add_change(const std::vector<double>& before, const std::vector<double>& after, int node,
                  std::vector<double>& change) const;

 private:
  /// One dimension's lines of modes: for each set of the other exponents, the groups with exponent 0, 1, 2 along it.
  struct Line {
    std::array<int, 3> group{-1, -1, -1};
    int modes = 0;
    bool counts = false;  ///< no other exponent: it takes part in the moments
  };

  void make_lines();
  void make_matrices();
  void add_line(const double* f, double* out, int d, const Line& line, int first, const State& s) const;
  void advance(std::vector<double>& f, double nu, double dt, int cell);
  double value(const double* f, int iv, const Line& line, int n) const {
    return n < line.modes ? f[static_cast<std::size_t>(iv) * groups_.size() + line.group[n]] : 0.0;
  }

  PhaseGrid grid_;
  ConfGrid conf_;
  int modes_, cells_;
  std::vector<double> frequency_;
  Projection conf_rule_;
  std::vector<std::vector<int>> groups_;  ///< velocity exponents
  std::vector<std::array<int, 2>> mode_;  ///< group and conf mode of each mode
  std::vector<Line> lines_[3];
  double drift_[3][3] = {}, drift_xi_[3][3] = {}, diffusion_[3][3] = {}, edge_[3] = {}, slope_[3] = {};
  double largest_ = 0.0;  ///< eigenvalue of the diffusion matrix, times h^2
  int substeps_ = 0;
};

}  // namespace cambium::kinetic
