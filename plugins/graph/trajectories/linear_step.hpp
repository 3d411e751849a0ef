#pragma once
#include <span>

#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// A time step that is linear in the values, fitted by least squares to the steps of trajectories; a baseline for
/// networks.
class LinearStep {
 public:
  virtual ~LinearStep() = default;
  virtual std::string name() const = 0;
  /// The values (nodes, fields) one step later.
  virtual std::vector<double> step(const Trajectory& on, std::span<const double> value) const = 0;
  /// True if it is applicable to these nodes.
  virtual bool fits(const Trajectory&) const { return true; }
};

/// A general linear map of all values of one mesh, plus a constant, after subtracting the mean state: in the space of
/// the `modes` leading modes of the training states (dynamic mode decomposition, Schmid, J. Fluid Mech. 656, 5 (2010)).
/// Their number minimises the error of a rollout over the last fifth of the training trajectories. Only for the mesh
/// that it was fitted on.
class ModeStep : public LinearStep {
 public:
  explicit ModeStep(std::span<const Trajectory> training);
  std::string name() const override { return "modes"; }
  std::vector<double> step(const Trajectory& on, std::span<const double> value) const override;
  bool fits(const Trajectory& on) const override { return on.place == place_; }

 private:
  std::vector<double> place_;  ///< of the nodes, to recognise another mesh with as many
  std::vector<double> mean_;
  std::vector<double> mode_;  ///< (modes, values)
  std::vector<double> map_;   ///< (modes, modes + 1), the constant last
};

/// The same stencil at every node, on any mesh: the increment of a field is a coefficient for each field times its
/// value, plus, over the neighbours, the sum of coefficients times the difference to them. Each coefficient is a
/// quadratic polynomial of the neighbour's relative position, in units of the mean length of an edge.
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
