#pragma once
#include "core/deck/describe.hpp"
#include "plugins/md/dynamics/integrator.hpp"

namespace cambium::md {

/// Velocity Verlet at constant energy (Swope et al., J. Chem. Phys. 76, 637 (1982)).
class Nve : public Integrator {
 public:
  struct Params {
    static void describe(deck::Describe<Params>&) {}
  };
  Nve(const Params&, Context&) {}

  void before_forces(Dynamics& d, const StepInfo& step) override { d.kick_and_drift(0.5 * step.dt, step.dt); }
  void after_forces(Dynamics& d, const StepInfo& step) override { d.kick(0.5 * step.dt); }
  std::string summary() const override { return "velocity Verlet, constant energy"; }
};

}  // namespace cambium::md
