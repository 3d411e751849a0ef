#pragma once
#include <span>
#include <vector>

namespace cambium::superres {

/// Weights of values at `nodes` for the derivative of this order at `place`, exact for polynomials of a degree one less
/// than the number of nodes (Fornberg 1988).
std::vector<double> derivative_weights(double place, std::span<const double> nodes, int order);

/// Derivatives along one axis of any spacing.
class AxisStencil {
 public:
  /// Seven points (fewer if the axis has fewer) around each position. With a period, positions wrap around; otherwise
  /// the stencils become one-sided at the ends.
  AxisStencil(const std::vector<double>& places, int order, double period = 0.0, int points = 7);
  /// First point and weights at position k; points beyond the ends wrap around.
  int first(int k) const { return first_[k]; }
  std::span<const double> weights(int k) const {
    return {weights_.data() + static_cast<std::size_t>(k) * points_, static_cast<std::size_t>(points_)};
  }
  int size() const { return static_cast<int>(first_.size()); }

 private:
  int points_;
  std::vector<int> first_;
  std::vector<double> weights_;
};

}  // namespace cambium::superres
