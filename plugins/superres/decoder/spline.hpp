#pragma once
#include <array>
#include <vector>

#include "plugins/superres/decoder/jet_basis.hpp"

namespace cambium::superres {

/// Cubic B-splines over the nodes of one axis, one per node: two continuous derivatives everywhere, exact for cubics.
/// There are no knots at the second node and the last but one ("not a knot"); with up to three nodes the degree is
/// lower. de Boor 1978.
class SplineAxis {
 public:
  static constexpr int most = 4;  ///< splines that are not zero at a position
  /// `wraps`: the last node is the first one, one period further, and the splines are periodic.
  SplineAxis(const std::vector<double>& nodes, bool wraps);

  int count() const { return count_; }
  struct At {
    int spline[most];
    double weight[most][JetBasis::highest_order + 1];  ///< derivatives with respect to the coordinate
  };
  /// Beyond the nodes the outermost piece is extrapolated.
  At at(double x) const;
  /// (count, count), row-major: coefficients from values at the nodes.
  std::vector<double> interpolation() const;

 private:
  std::vector<double> nodes_, knots_;
  int degree_ = 3, count_ = 0;
  bool wraps_ = false;
};

/// Coefficients of the tensor-product splines through `values` (t, x, z), z fastest.
std::vector<double> spline_coefficients(const std::array<SplineAxis, 3>& axes, std::vector<double> values);

}  // namespace cambium::superres
