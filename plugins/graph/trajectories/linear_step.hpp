#pragma once
#include <span>

#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// A step that is linear in the values, fitted by least squares to the steps of trajectories; what a network has to
/// beat.
class LinearStep {
 public:
  virtual ~LinearStep() = default;
  virtual std::string name() const = 0;
  /// The values (nodes, fields) one step later.
  virtual std::vector<double> step(const Trajectory& on, std::span<const double> value) const = 0;
  /// True if it can be used on these nodes.
  virtual bool fits(const Trajectory&) const { return true; }
};

/// Any linear map of all values of one mesh, and a constant, the mean state taken off: in the space of the `modes`
/// leading modes of the training states (dynamic mode decomposition, Schmid, J. Fluid Mech. 656, 5 (2010)), of which
/// the number is the one of least error of a roll-out over the last fifth of the training trajectories. Only for the
/// mesh that it was fitted on.
class ModeStep : public LinearStep {
 public:
  explicit ModeStep(std::span<const Trajectory> training);
  std::string name() const override { return "modes"; }
  std::vector<double> step(const Trajectory& on, std::span<const double> value) const override;
  bool fits(const Trajectory& on) const override { return on.place == place_; }

 private:
  std::vector<double> place_;  ///< of the nodes: as many others on another mesh are not these
  std::vector<double> mean_;
  std::vector<double> mode_;  ///< (modes, values)
  std::vector<double> map_;   ///< (modes, modes + 1), the constant behind
};

/// The same stencil at every node, on any mesh: a field's increment is a number for each field times its value, and
/// over the neighbours the sum of coefficients times the difference to them, each coefficient a polynomial of second
/// degree of where the neighbour lies, in units of the mean length of an edge.
class StencilStep : public LinearStep {
 public:
  explicit StencilStep(std::span<const Trajectory> training);
  std::string name() const override { return "stencil"; }
  std::vector<double> step(const Trajectory& on, std::span<const double> value) const override;

 private:
  std::vector<double> features(const Trajectory& on, std::span<const double> value) const;
  double length_ = 1.0;
  std::size_t fields_ = 1;
  std::vector<double> coefficient_;  ///< (fields, features)
};

}  // namespace cambium::graph
