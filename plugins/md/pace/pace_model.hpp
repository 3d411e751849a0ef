#pragma once
#include <vector>

#include "plugins/md/pace/pace_file.hpp"
#include "plugins/md/pace/pace_products.hpp"

namespace cambium::md {

/// A file, and its tables in the order in which kernels read them.
struct PaceModel {
  PaceModel() = default;
  explicit PaceModel(PaceFile read);

  /// Number of harmonics of all degrees, rounded up to a multiple of 8.
  int row() const { return row_; }
  /// Coefficients (function, basis function, harmonic) of a bond, times the norms of the harmonics; rows of `row()`.
  const double* table(int type, int other) const { return tables_[type * file.types() + other].data(); }
  /// Basis functions that a bond needs: those of its radial functions, and of functions of rank 1.
  int basis_of(int type, int other) const { return basis_[type * file.types() + other]; }

  PaceFile file;
  std::vector<PaceProducts> products;  ///< by type
  std::vector<int> charges;            ///< of nuclei, by type

 private:
  int row_ = 0;
  std::vector<std::vector<double>> tables_;
  std::vector<int> basis_;
};

}  // namespace cambium::md
