#pragma once
#include <vector>

#include "plugins/kinetic/collisions/packs.hpp"
#include "plugins/kinetic/deck/projection.hpp"

namespace cambium::kinetic {

/// Integrals of the modes of one velocity cell over velocities, for kernels outside of the solver. Index iv counts this
/// rank's velocity cells (PhaseGrid::local_velocity order), k modes.
class VelocityTables {
 public:
  explicit VelocityTables(const Solver& solver);

  const PhaseGrid& grid() const { return grid_; }
  const BasisInfo& basis() const { return *basis_; }
  int modes() const { return basis_->modes; }
  int components() const { return grid_.vdim + 2; }
  /// Mode of configuration space of mode k.
  const std::vector<int>& conf_mode() const { return conf_mode_; }

  /// Weights [iv][component][k] of the moments M0, M1 and M2 (Solver's layout): those of conf mode a are the sums over
  /// the modes k with conf_mode a.
  std::vector<double> moment_weights() const;
  /// Weights [iv][component][k] of the outflow through a wall per time and face of a cell: the integrals over the face
  /// and the velocities towards the wall of |v_d| f, |v_d| v f and |v_d| v^2 f; zero in cells that move inwards.
  std::vector<double> outflow_weights(int d, bool high) const;
  /// Changes [iv][k] of a cell at the wall by particles that enter there with the half of a Maxwellian of width `vt`
  /// that leaves the wall: of one particle per time in all, where sum() adds over the ranks with other velocities.
  std::vector<double> emission(int d, bool high, double vt, const std::function<double(double)>& sum) const;
  /// A Maxwellian of width `vt` at rest, of density one: [iv][k], for a constant times the conf mode of k.
  std::vector<double> maxwellian(double vt, const std::function<double(double)>& sum) const;

 private:
  double integral(int dimension, int cell, int power, int n) const;
  std::array<int, 3> global(int iv) const;

  const BasisInfo* basis_;
  PhaseGrid grid_;
  std::vector<int> conf_mode_;
};

}  // namespace cambium::kinetic
