#pragma once
#include <memory>

#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Positivity limiter of a distribution function at the corners and Gauss points of each cell: f becomes m + theta (f -
/// m) with the cell mean m and the largest theta <= 1 that suffices (Zhang and Shu, J. Comput. Phys. 229, 3091 (2010)).
/// Density is conserved cell by cell; momentum and energy are not. A cell whose mean is negative is left as it is and
/// counted.
class Positivity {
 public:
  explicit Positivity(const Solver& solver);
  /// Acts on slot 0 where it is (Solver::changed is left to the caller); returns the cells of this rank that it
  /// changed.
  std::int64_t act(Solver& solver);

  std::int64_t changed() const { return changed_; }    ///< cells of this rank, over all calls
  std::int64_t negative() const { return negative_; }  ///< cells of this rank with a negative mean, over all calls

 private:
  struct Points;
  std::shared_ptr<const Points> points_;
  std::int64_t changed_ = 0, negative_ = 0;
};

}  // namespace cambium::kinetic
