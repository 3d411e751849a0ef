#pragma once
#include <vector>

#include "core/deck/describe.hpp"
#include "core/deck/expression.hpp"
#include "plugins/md/dynamics/integrator.hpp"

namespace cambium::md {

/// Nosé-Hoover chain: G. J. Martyna, M. L. Klein and M. Tuckerman, J. Chem. Phys. 97, 2635 (1992), integrated as in G.
/// J. Martyna et al., Mol. Phys. 87, 1117 (1996), with fourth-order Yoshida weights. Masses are dof kT tau^2 for the
/// first thermostat and kT tau^2 for the others, with the initial temperature of the run.
class NoseHooverChain {
 public:
  NoseHooverChain(int length, double damping) : damping_(damping), velocity_(static_cast<std::size_t>(length), 0.0) {}

  /// Advances the chain by `dt`, coupled to atoms of kinetic energy K (eV); returns the factor for their velocities.
  double advance(double kinetic, double dof, double temperature, double dt);
  /// eV: kinetic and potential energy of the chain, the latter accumulated over its trajectory.
  double energy() const;
  /// Velocities (1/ps), potential energy (eV) and the kT of the masses (eV), for checkpoints.
  std::vector<double> state() const;
  void restore(const std::vector<double>& state);

 private:
  double mass(std::size_t k) const { return (k == 0 ? dof_ : 1.0) * kt_of_masses_ * damping_ * damping_; }

  double damping_, dof_ = 0.0, kt_of_masses_ = 0.0, potential_ = 0.0;
  std::vector<double> velocity_;
};

/// Constant volume and temperature: velocity Verlet with a Nosé-Hoover chain before and after each step.
class NoseHoover : public Integrator {
 public:
  struct Params {
    deck::Expression temperature;
    double damping = 0.1;
    int chain = 3;
    static void describe(deck::Describe<Params>& d) {
      d("temperature", &Params::temperature, "temperature of the thermostat; may depend on time t and on step")
          .unit("K");
      d("damping", &Params::damping, "relaxation time of the thermostat, some hundred time steps")
          .unit("ps")
          .positive()
          .def(0.1);
      d("chain", &Params::chain, "thermostats of the chain").at_least(1).def(3);
    }
  };
  NoseHoover(const Params& params, Context&) : params_(params), chain_(params.chain, params.damping) {}

  void before_forces(Dynamics&, const StepInfo&) override;
  void after_forces(Dynamics&, const StepInfo&) override;
  double reservoir_energy(const Comm&) override { return chain_.energy(); }
  double sums_per_step() const override { return 2.0; }
  bool multiplies_velocities() const override { return true; }
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  void save(io::Group&) const override;
  void load(const io::Group&) override;

 private:
  void rescale(Dynamics&, const StepInfo&);

  Params params_;
  NoseHooverChain chain_;
};

}  // namespace cambium::md
