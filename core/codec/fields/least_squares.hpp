#pragma once
#include <cstdint>
#include <vector>

namespace cambium::lowp {

/// Sums for a linear least-squares problem with `n` unknowns: the lower triangle of A^T A, and A^T b.
class NormalEquations {
 public:
  explicit NormalEquations(std::size_t n) : n_(n), matrix_(n * n, 0.0), right_(n, 0.0) {}
  /// Adds one row of A, of n values, and its entry of b.
  void add(const float* row, float b);
  std::int64_t rows() const { return rows_; }

  /// Solution in integer steps from -127 to 127 of one scale, which is returned, too: entries are rounded from the
  /// largest to the smallest, and those not yet rounded compensate (Hassibi and Stork's surgeon, NIPS 1992, as used for
  /// rounding by Frantar et al., ICLR 2023). Regularised by 1e-6 of the mean diagonal. All zero if there is nothing to
  /// solve.
  struct Rounded {
    float scale = 0.0f;
    std::vector<std::int8_t> steps;
  };
  Rounded solve_in_steps() const;

 private:
  std::size_t n_;
  std::vector<double> matrix_, right_;
  std::int64_t rows_ = 0;
};

}  // namespace cambium::lowp
