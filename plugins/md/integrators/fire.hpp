#pragma once
#include "core/deck/describe.hpp"
#include "plugins/md/dynamics/integrator.hpp"

namespace cambium::md {

/// Structure minimisation by the fast inertial relaxation engine (E. Bitzek et al., Phys. Rev. Lett. 97, 170201
/// (2006)) in semi-implicit Euler form (J. Guenole et al., Comput. Mater. Sci. 175, 109584 (2020)). The cell is fixed.
class Fire : public Integrator {
 public:
  struct Params {
    double force_tolerance = 1e-4;
    double largest_timestep = 0.01;
    double largest_move = 0.1;
    static void describe(deck::Describe<Params>& d) {
      d("force_tolerance", &Params::force_tolerance, "stop when no atom feels more")
          .unit("eV/angstrom")
          .positive()
          .def(1e-4);
      d("max_timestep", &Params::largest_timestep, "upper bound of the adaptive step")
          .formerly("largest_timestep")
          .unit("ps")
          .positive()
          .def(0.01);
      d("max_displacement", &Params::largest_move, "no atom moves farther in one step")
          .formerly("largest_move")
          .unit("angstrom")
          .positive()
          .def(0.1);
    }
  };
  Fire(const Params& params, Context&) : params_(params) {}

  void start(Dynamics&) override;
  void resume(Dynamics& d) override { look_at_forces(d); }
  void before_forces(Dynamics&, const StepInfo&) override;
  void after_forces(Dynamics&, const StepInfo&) override;
  bool conserves_energy() const override { return false; }
  bool finished() const override { return largest_force_ < params_.force_tolerance; }
  std::string summary() const override;
  std::vector<Result> results() const override;
  std::vector<Citation> citations() const override;
  void save(io::Group&) const override;
  void load(const io::Group&) override;

 private:
  void look_at_forces(Dynamics&);

  Params params_;
  double dt_ = 0.0;
  double mixing_ = 0.1;
  int downhill_ = 0;  ///< steps since the power was last negative
  double largest_force_ = 1e300;
  double power_ = 0.0, force2_ = 0.0, velocity2_ = 0.0, largest_velocity_ = 0.0;
};

}  // namespace cambium::md
