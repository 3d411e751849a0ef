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

/// Time integration of positions and velocities: velocity Verlet and related schemes. One step is before_forces(), new
/// neighbours and forces, after_forces().
class Integrator {
 public:
  using Kind = Integrator;
  static constexpr std::string_view kind = "integrator";
  virtual ~Integrator() = default;

  virtual void before_forces(Dynamics&, const StepInfo&) = 0;
  virtual void after_forces(Dynamics&, const StepInfo&) = 0;
  /// Called at a fresh start, when the atoms, their neighbours and first forces exist.
  virtual void start(Dynamics&) {}
  /// Called instead of start() after a restart, following load().
  virtual void resume(Dynamics&) {}
  /// True if energy and virial are read after the forces of this step.
  virtual bool needs_totals(std::int64_t /*step*/) const { return false; }
  /// True if total momentum is conserved (then three degrees of freedom carry no heat).
  virtual bool conserves_momentum() const { return true; }
  /// Collective: eV transferred from the atoms to the thermostat and the piston since step 0, accumulated on rank 0 so
  /// that a restart finds the same sums. The conserved energy is kinetic + potential + this.
  virtual double reservoir_energy(const Comm&) { return 0.0; }
  /// True if that energy is constant up to the integration error; false for a minimiser.
  virtual bool conserves_energy() const { return true; }
  /// True for a thermostat that rescales velocities, which has no effect on atoms at rest.
  virtual bool multiplies_velocities() const { return false; }
  /// True when a minimiser has converged.
  virtual bool finished() const { return false; }
  /// Reductions over all ranks in each step, in addition to those of the neighbour list, for `cambium plan`.
  virtual double sums_per_step() const { return 0.0; }
  virtual std::string summary() const { return {}; }
  virtual std::vector<Result> results() const { return {}; }
  virtual std::vector<Citation> citations() const { return {}; }
  virtual void save(io::Group&) const {}
  virtual void load(const io::Group&) {}
};

}  // namespace cambium::md
