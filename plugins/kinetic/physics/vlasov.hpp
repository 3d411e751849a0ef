#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/physics.hpp"
#include "plugins/kinetic/physics/cross_collisions.hpp"
#include "plugins/kinetic/physics/end_time.hpp"
#include "plugins/kinetic/physics/growth.hpp"
#include "plugins/kinetic/physics/plasma.hpp"
#include "plugins/kinetic/physics/stages.hpp"
#include "plugins/kinetic/physics/step_size.hpp"

namespace cambium::kinetic {

/// Kinetic equations of one or several species,
///   df/dt + v . grad f + (q/m)(E + v x B) . df/dv = C[f],
/// on a phase-space grid with discontinuous Galerkin in space and SSP-RK3 in time (Juno et al., J. Comput. Phys. 353,
/// 110 (2018); Hakim and Juno, SC20). A derived class provides the fields. Units: normalised, lengths in Debye lengths
/// or skin depths and times in 1/omega_pe when charges, masses, densities and constants are of order one.
class Vlasov : public Physics {
 public:
  Vlasov(const CommonParams& params, Context& context);

  void declare(State&, Context&) override;
  void initialise(State&, Context&) override;
  void restore(State&, Context&, const io::Group& saved, bool same_ranks) override;
  void save(io::Group&) const override;
  void schedule(Schedule&) override;
  double timestep(const State& state) const override { return step_size_.next(state.time); }
  std::string time_unit() const override { return "1/omega"; }
  std::vector<Observable> observables() const override;
  void measure(const State&, Context&, std::span<double> values) override;
  /// Moments and fields, for the output `vtkhdf`.
  std::optional<GridFields> grid_fields(const State&, const Comm& comm) const override;
  bool finished() const override { return EndTime{common_.end_time}.reached(time_); }
  bool ends() const override { return common_.end_time.has_value(); }
  double progress(const State& state) const override { return EndTime{common_.end_time}.progress(state.time); }
  Work work(const State&) const override;
  std::vector<Result> results() const override;
  std::vector<std::string> report() const override;
  std::vector<Citation> citations() const override;
  std::string summary() const override;

  const std::vector<std::unique_ptr<Species>>& species() const { return plasma_.species(); }
  const std::vector<std::unique_ptr<Fluid>>& fluids() const { return plasma_.fluids(); }
  /// The deck's parameters, for formulas of outputs.
  std::map<std::string, double> values() const { return common_.values(); }
  const FieldModel* fields() const { return plasma_.fields(); }
  /// True if the first two stages of a step are fused into one pass: see Solver::stages.
  bool fuses() const { return plasma_.fuses(); }
  /// Only collisions between species, during dt: for tests. Collective.
  void collide_species(double dt) { cross_collisions_.act(dt, context_.comm); }
  const GrowthFit* growth() const { return growth_ ? &*growth_ : nullptr; }

 protected:
  virtual std::string name() const = 0;

  CommonParams common_;
  Context& context_;
  Plasma plasma_;  ///< a derived class gives it its fields

 private:
  CrossCollisions cross_collisions_;
  Stages stages_;
  StepSize step_size_;
  std::optional<GrowthFit> growth_;
  double time_ = 0.0, last_step_ = 0.0;
  bool measured_ = false;
  double first_energy_ = 0.0, last_energy_ = 0.0, first_particles_ = 0.0, last_particles_ = 0.0;
};

}  // namespace cambium::kinetic
