#pragma once
#include <array>
#include <span>
#include <vector>

#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// Linear interpolation of nodal values within triangles, at other positions of the plane; outside the mesh, at the
/// closest position of the triangle that is nearest by its barycentric coordinates.
class Interpolation {
 public:
  /// `places` (n, 3). InputError if `from` has no triangles.
  Interpolation(const Trajectory& from, std::span<const double> places);
  /// (n, fields) of `value` (nodes of `from`, fields).
  std::vector<double> operator()(std::span<const double> value, std::size_t fields) const;

 private:
  struct Corners {
    std::array<std::int32_t, 3> node{};
    std::array<double, 3> weight{};  ///< each 0 or more, their sum 1
  };
  std::vector<Corners> at_;
};

}  // namespace cambium::graph
