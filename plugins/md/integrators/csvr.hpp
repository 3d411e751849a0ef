#pragma once
#include "core/deck/describe.hpp"
#include "core/deck/expression.hpp"
#include "plugins/md/dynamics/integrator.hpp"

namespace cambium::md {

/// Canonical sampling through velocity rescaling: the kinetic energy K of `dof` degrees of freedom follows its own
/// stochastic equation over the time dt with relaxation time tau (G. Bussi, D. Donadio, M. Parrinello, J. Chem. Phys.
/// 126, 014101 (2007), eq. A7). Returns the factor for all velocities; a pure function of (seed, step).
double csvr_factor(double kinetic_energy, double dof, double temperature, double dt_over_tau, std::uint64_t seed,
                   std::int64_t step);

/// Constant volume and temperature: velocity Verlet with stochastic velocity rescaling after every step.
class Csvr : public Integrator {
 public:
  struct Params {
    deck::Expression temperature;
    double damping = 0.1;
    static void describe(deck::Describe<Params>& d) {
      d("temperature", &Params::temperature, "temperature of the thermostat; may depend on time t and on step")
          .unit("K");
      d("damping", &Params::damping, "relaxation time of the kinetic energy")
          .unit("ps")
          .positive()
          .def(0.1)
          .formerly("relaxation_time");
    }
  };
  Csvr(const Params& params, Context& context) : params_(params), seed_(context.seed) {}

  void before_forces(Dynamics& d, const StepInfo& step) override { d.kick_and_drift(0.5 * step.dt, step.dt); }
  void after_forces(Dynamics&, const StepInfo&) override;
  double reservoir_energy(const Comm&) override { return reservoir_; }
  double sums_per_step() const override { return 1.0; }
  bool multiplies_velocities() const override { return true; }
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  void save(io::Group&) const override;
  void load(const io::Group&) override;

 private:
  Params params_;
  std::uint64_t seed_;
  double reservoir_ = 0.0;  ///< eV, the same on every rank
};

}  // namespace cambium::md
