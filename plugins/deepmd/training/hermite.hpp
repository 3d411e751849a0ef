#pragma once
#include <array>

namespace cambium::deepmd {

/// Polynomial of degree 7 on [-1, 1] with given values and slopes at four nodes. The nodes are the ends and +-t with
/// t^2 = 3 - 2 sqrt(2), which minimises the largest |(t^2 - 1)(t^2 - t1^2)|, and so the bound on the error, among nodes
/// that include both ends; adjacent intervals then agree in value and slope.
struct Hermite {
  static constexpr int nodes = 4, terms = 2 * nodes;
  static constexpr std::array<double, 4> node = {-1.0, -0.41421356237309504880, 0.41421356237309504880, 1.0};

  /// Coefficient of t^j = sum over i of from_data[j][i] value_i + from_data[j][nodes + i] slope_i.
  static const std::array<std::array<double, terms>, terms>& from_data();
};

}  // namespace cambium::deepmd
