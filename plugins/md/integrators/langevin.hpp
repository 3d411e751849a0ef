#pragma once
#include "core/deck/describe.hpp"
#include "core/deck/expression.hpp"
#include "plugins/md/dynamics/integrator.hpp"

namespace cambium::md {

/// Langevin dynamics by the BAOAB splitting: kick, half drift, Ornstein-Uhlenbeck, half drift, kick
/// (B. Leimkuhler and C. Matthews, J. Chem. Phys. 138, 174102 (2013)). Noise is addressed by atom and step, so the
/// trajectory does not depend on the number of ranks.
class Langevin : public Integrator {
 public:
  struct Params {
    deck::Expression temperature;
    double damping = 0.1;
    static void describe(deck::Describe<Params>& d) {
      d("temperature", &Params::temperature, "temperature of the thermostat; may depend on time t and on step")
          .unit("K");
      d("damping", &Params::damping, "relaxation time of velocities (inverse friction), as LAMMPS damp")
          .unit("ps")
          .positive()
          .def(0.1)
          .formerly("damping_time");
    }
  };
  Langevin(const Params& params, Context& context)
      : params_(params), seed_(context.seed), is_root_(context.comm.root()) {}

  void before_forces(Dynamics&, const StepInfo&) override;
  void after_forces(Dynamics& d, const StepInfo& step) override { d.kick(0.5 * step.dt); }
  bool conserves_momentum() const override { return false; }
  double reservoir_energy(const Comm& comm) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  void save(io::Group&) const override;
  void load(const io::Group&) override;

 private:
  Params params_;
  std::uint64_t seed_;
  bool is_root_;
  double reservoir_ = 0.0;  ///< eV transferred to the thermostat by this rank's atoms
};

}  // namespace cambium::md
