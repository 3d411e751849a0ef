#pragma once
#include <vector>

namespace cambium::kinetic {

/// Symmetric positive definite matrix with entries within `band` of the diagonal, and its Cholesky factor.
class Banded {
 public:
  Banded() = default;
  Banded(int n, int band) : n_(n), band_(band), a_(static_cast<std::size_t>(n) * (band + 1), 0.0) {}
  int size() const { return n_; }
  /// Entry with |i - j| <= band.
  double& at(int i, int j) { return i >= j ? entry(i, j) : entry(j, i); }
  /// Replaces the matrix by its factor; solve() needs it.
  void factorize();
  /// Solves in place.
  void solve(std::vector<double>& right) const;

 private:
  double& entry(int i, int j) { return a_[static_cast<std::size_t>(i) * (band_ + 1) + band_ - (i - j)]; }
  const double* row(int i) const {
    return &a_[static_cast<std::size_t>(i) * (band_ + 1) + band_ - i];
  }  ///< to be indexed by column

  int n_ = 0, band_ = 0;
  std::vector<double> a_;
};

}  // namespace cambium::kinetic
