#pragma once
#include <algorithm>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/deck/expression.hpp"
#include "plugins/md/dynamics/integrator.hpp"
#include "plugins/md/integrators/csvr.hpp"

namespace cambium::md {

/// Constant pressure and temperature: stochastic cell rescaling of an isotropic cell (M. Bernetti and G. Bussi, J.
/// Chem. Phys. 153, 114107 (2020)) with stochastic velocity rescaling. The logarithm of the volume follows
///   d ln V = -beta/tau_p (P0 - P) dt + sqrt(2 kT beta / (V tau_p)) dW,
/// positions scale with V^(1/3) and velocities inversely. Without `temperature` the atoms have no thermostat and only
/// the piston is stochastic, at the instantaneous temperature (a quasi-isenthalpic run, for coexistence).
class Npt : public Integrator {
 public:
  struct Params {
    std::optional<deck::Expression> temperature;
    deck::Expression pressure;
    double damping = 0.1;
    double pressure_damping = 1.0;
    double compressibility = 1e-6;
    int interval = 10;
    static void describe(deck::Describe<Params>& d) {
      d("temperature", &Params::temperature,
        "temperature of the thermostat; may depend on time t and on step; without it no heat is exchanged")
          .unit("K");
      d("pressure", &Params::pressure, "external pressure; may depend on time t and on step").unit("bar");
      d("damping", &Params::damping, "relaxation time of the kinetic energy")
          .unit("ps")
          .positive()
          .def(0.1)
          .formerly("relaxation_time");
      d("pressure_damping", &Params::pressure_damping, "relaxation time of the volume")
          .unit("ps")
          .positive()
          .def(1.0)
          .formerly("pressure_relaxation_time");
      d("compressibility", &Params::compressibility,
        "compressibility of the material; only scales the relaxation of the volume, its order of magnitude is enough")
          .unit("1/bar")
          .positive()
          .def(1e-6);
      d("interval", &Params::interval, "steps between two changes of the cell").at_least(1).def(10);
    }
  };
  Npt(const Params& params, Context& context) : params_(params), seed_(context.seed) {}

  void start(Dynamics&) override;
  void before_forces(Dynamics&, const StepInfo&) override;
  void after_forces(Dynamics&, const StepInfo&) override;
  bool needs_totals(std::int64_t step) const override { return step % params_.interval <= 1; }
  /// One for the thermostat, and per interval those of one or two steps with totals and of the piston.
  double sums_per_step() const override {
    return (params_.temperature ? 1.0 : 0.0) + (2.0 * std::min(2, params_.interval) + 1.0) / params_.interval;
  }
  double reservoir_energy(const Comm&) override { return reservoir_; }
  bool multiplies_velocities() const override { return params_.temperature.has_value(); }
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  void save(io::Group&) const override;
  void load(const io::Group&) override;

 private:
  /// Draws a new volume and scales the cell, the positions and the velocities.
  void move_piston(Dynamics&, const StepInfo&);
  /// Stores the current totals for the next move of the piston.
  void remember(Dynamics&);

  Params params_;
  std::uint64_t seed_;
  double reservoir_ = 0.0;    ///< eV, the same on every rank
  double pressure_ = 0.0;     ///< bar, of the last step whose totals were computed
  double temperature_ = 0.0;  ///< K
  double virial_ = 0.0;       ///< eV, a third of the trace, of the same step: -dU/dlnV
  double scaled_by_ = 0.0;    ///< change of ln V in this step, 0 if the cell did not change
};

}  // namespace cambium::md
