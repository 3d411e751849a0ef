#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "plugins/md/dynamics/integrator.hpp"

namespace cambium::md {

/// Structure minimisation by the fast inertial relaxation engine (E. Bitzek et al., Phys. Rev. Lett. 97, 170201 (2006))
/// in semi-implicit Euler form (J. Guenole et al., Comput. Mater. Sci. 175, 109584 (2020)). The cell is fixed, or keeps
/// its shape and relaxes its volume to a pressure: its length is then an additional coordinate, ln L times 3 sqrt(N)
/// (V/N)^(1/3), with the mean mass of the atoms, so that it moves about as fast as they do.
class Fire : public Integrator {
 public:
  struct Params {
    double force_tolerance = 1e-4;
    double largest_timestep = 0.01;
    double largest_move = 0.1;
    std::optional<double> pressure;   ///< bar
    double pressure_tolerance = 1.0;  ///< bar
    static void describe(deck::Describe<Params>& d) {
      d("force_tolerance", &Params::force_tolerance, "convergence tolerance: largest force on an atom")
          .unit("eV/angstrom")
          .positive()
          .def(1e-4);
      d("max_timestep", &Params::largest_timestep, "upper bound of the adaptive step")
          .formerly("largest_timestep")
          .unit("ps")
          .positive()
          .def(0.01);
      d("max_displacement", &Params::largest_move, "largest displacement of an atom in one step")
          .formerly("largest_move")
          .unit("angstrom")
          .positive()
          .def(0.1);
      d("pressure", &Params::pressure, "pressure of the relaxed cell, which keeps its shape; a fixed cell when absent")
          .unit("bar");
      d("pressure_tolerance", &Params::pressure_tolerance, "convergence tolerance of the pressure")
          .unit("bar")
          .positive()
          .def(1.0);
    }
  };
  Fire(const Params& params, Context&) : params_(params) {}

  void start(Dynamics&) override;
  void resume(Dynamics&) override;
  bool needs_totals(std::int64_t) const override { return params_.pressure.has_value(); }
  void before_forces(Dynamics&, const StepInfo&) override;
  void after_forces(Dynamics&, const StepInfo&) override;
  bool conserves_energy() const override { return false; }
  bool finished() const override;
  double sums_per_step() const override { return params_.pressure ? 5.0 : 3.0; }
  std::string summary() const override;
  std::vector<Result> results() const override;
  std::vector<Citation> citations() const override;
  void save(io::Group&) const override;
  void load(const io::Group&) override;

 private:
  void look_at_forces(Dynamics&);
  void look_at_cell(Dynamics&);
  void move(Dynamics&, double dt);

  Params params_;
  double dt_ = 0.0;
  double mixing_ = 0.1;
  int downhill_ = 0;  ///< steps since the power was last negative
  double largest_force_ = 1e300;
  double power_ = 0.0, force2_ = 0.0, velocity2_ = 0.0, largest_velocity_ = 0.0;
  // Of the cell coordinate:
  double mass_ = 0.0;                              ///< g/mol
  double cell_force_ = 0.0, cell_velocity_ = 0.0;  ///< eV/Å, Å/ps
  double pressure_ = 0.0;                          ///< bar
};

}  // namespace cambium::md
