#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/graph/meshes/formula.hpp"
#include "plugins/graph/transport/dual_cells.hpp"

namespace cambium::graph {

/// Reconstruction of the value between two cells.
enum class Advection {
  linear,   ///< from the upwind side, by a third of the edge's slope and two thirds of that node's gradient (second
            ///< order)
  limited,  ///< the same with van Albada's limiter: almost no new extrema
  upwind    ///< the value of the upwind node (first order)
};

/// The flow of a deck: its two components, or a stream function psi with u = (d psi/dy, -d psi/dx), which is
/// divergence-free on every cell to rounding.
struct Flow {
  std::vector<Formula> velocity;  ///< two, or none
  std::optional<Formula> stream;
  bool moves = false;  ///< depends on t
  bool still() const { return velocity.empty() && !stream; }
};

/// Fluxes u c between dual cells.
class AdvectionTerms {
 public:
  AdvectionTerms(const DualCells& cells, NodeRange& range, Flow flow, Advection scheme);

  /// Sets the flow through every face at this time, unless it is already known.
  void set_time(double t);
  /// Collective: adds -sum of fluxes to `out` (own nodes) of c (local, with neighbours).
  void add(std::span<const double> c, std::span<double> out);
  /// Flow out of the domain through half a side.
  std::span<const double> outflow() const { return now_.outflow; }
  /// Collective: maximum outflow of a cell over its area, which is the Courant number for a unit step.
  double courant_rate() const;
  bool moves() const { return flow_.moves; }
  std::int64_t bytes() const {
    return bytes_in(now_.flux, now_.outflow, before_.flux, before_.outflow, slope_, own_slope_[0], own_slope_[1]);
  }

 private:
  double through(Point from, Point to, double t) const;
  void set_fluxes_of_stream(double t);
  double face_value(double near, double difference, double along) const;

  const DualCells& cells_;
  NodeRange& range_;
  Flow flow_;
  Advection scheme_;
  /// Flow through every edge's face and every half side at a time.
  struct Known {
    std::optional<double> time;
    std::vector<double> flux, outflow;
  };
  Known now_, before_;
  std::vector<double> slope_, own_slope_[2];
};

}  // namespace cambium::graph
