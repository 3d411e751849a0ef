#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/potential.hpp"
#include "core/plugin/result.hpp"
#include "core/plugin/schedule.hpp"
#include "plugins/md/dynamics/dynamics.hpp"

namespace cambium::io {
class Group;
}

namespace cambium::md {

/// How positions and velocities advance: velocity Verlet and its relatives. One step is before_forces(), new
/// neighbours and forces, after_forces().
class Integrator {
 public:
  using Kind = Integrator;
  static constexpr std::string_view kind = "integrator";
  virtual ~Integrator() = default;

  virtual void before_forces(Dynamics&, const StepInfo&) = 0;
  virtual void after_forces(Dynamics&, const StepInfo&) = 0;
  /// Called at a fresh start, once the atoms, their neighbours and first forces exist.
  virtual void start(Dynamics&) {}
  /// Called instead after a restart, when load() has been.
  virtual void resume(Dynamics&) {}
  /// True when energy and virial are read after the forces of this step.
  virtual bool needs_totals(std::int64_t /*step*/) const { return false; }
  /// True if total momentum stays constant (then three degrees of freedom carry no heat).
  virtual bool conserves_momentum() const { return true; }
  /// Collective: eV that have left the atoms for the heat bath and the piston since step 0, moved to rank 0's account
  /// so that a restart finds the same sums. The conserved energy is kinetic + potential + this.
  virtual double reservoir_energy(const Comm&) { return 0.0; }
  /// True if that energy is constant but for the error of the steps; not so for a minimiser.
  virtual bool conserves_energy() const { return true; }
  /// True for a heat bath that multiplies velocities, which atoms at rest do not feel.
  virtual bool multiplies_velocities() const { return false; }
  /// A minimiser has converged.
  virtual bool finished() const { return false; }
  /// Sums over all ranks in each step, beside those of the neighbour list, for `cambium plan`.
  virtual double sums_per_step() const { return 0.0; }
  virtual std::string summary() const { return {}; }
  virtual std::vector<Result> results() const { return {}; }
  virtual std::vector<Citation> citations() const { return {}; }
  virtual void save(io::Group&) const {}
  virtual void load(const io::Group&) {}
};

}  // namespace cambium::md
