#pragma once
#include <functional>
#include <span>
#include <vector>

#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// psi_n(xi) = sqrt((2n+1)/2) P_n(xi).
double legendre(int n, double xi);
/// Nodes and weights of Gauss-Legendre quadrature on [-1, 1].
void gauss(int points, std::vector<double>& nodes, std::vector<double>& weights);

/// Projection of functions onto the modes of a cell, by Gauss quadrature with `points` nodes per dimension, and values
/// of expansions at those nodes.
class Projection {
 public:
  /// `exponents` [mode][dimension].
  Projection(const std::vector<std::vector<int>>& exponents, int points);

  int nodes() const { return nodes_; }
  int modes() const { return modes_; }
  /// Logical coordinate of a node.
  double xi(int node, int dimension) const { return xi_[node * dimensions_ + dimension]; }
  double weight(int node) const { return weight_[node]; }
  double basis(int node, int mode) const { return basis_[node * modes_ + mode]; }
  /// Coefficients from values at the nodes.
  void project(const double* values, double* coefficients) const;
  /// Values at the nodes from coefficients.
  void evaluate(const double* coefficients, double* values) const;

 private:
  int dimensions_ = 0, modes_ = 0, nodes_ = 0;
  std::vector<double> xi_, weight_, basis_;
};

/// f(part, z) projected onto every cell of a solver's slot; z = (x, ..., vx, ...). Cells are distributed over the
/// threads of the host: part p, which is below host_threads() and the number of parts that is returned, evaluates f at
/// the points of a range of cells in order; those of part p + 1 follow. Parts run concurrently.
int project(Solver& solver, int slot, int points, const std::function<double(int, std::span<const double>)>& f);
/// The same for an f that is thread-safe.
void project(Solver& solver, int slot, int points, const std::function<double(std::span<const double>)>& f);

}  // namespace cambium::kinetic
