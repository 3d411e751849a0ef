#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plugin/physics.hpp"
#include "plugins/kinetic/collisions/between_species.hpp"
#include "plugins/kinetic/fields/field_model.hpp"
#include "plugins/kinetic/vlasov/end_time.hpp"
#include "plugins/kinetic/vlasov/external_field.hpp"
#include "plugins/kinetic/vlasov/growth.hpp"
#include "plugins/kinetic/vlasov/rank_sums.hpp"
#include "plugins/kinetic/vlasov/species.hpp"

namespace cambium::kinetic {

/// Kinetic equations of one or several species,
///   df/dt + v . grad f + (q/m)(E + v x B) . df/dv = C[f],
/// on a phase-space grid with discontinuous Galerkin in space and SSP-RK3 in time (Juno et al., J. Comput. Phys. 353,
/// 110 (2018); Hakim and Juno, SC20). What makes the fields is the derived class' business. Units: normalised, lengths
/// in Debye lengths or skin depths and times in 1/omega_pe when charges, masses, densities and constants are of order
/// one.
class Vlasov : public Physics {
 public:
  Vlasov(const CommonParams& params, Context& context);

  void declare(State&, Context&) override;
  void initialise(State&, Context&) override;
  void restore(State&, Context&, const io::Group& saved, bool same_ranks) override;
  void save(io::Group&) const override;
  void schedule(Schedule&) override;
  double timestep(const State&) const override;
  std::string time_unit() const override { return "1/omega"; }
  std::vector<Observable> observables() const override;
  void measure(const State&, Context&, std::span<double> values) override;
  /// Moments and fields, for the output `vtkhdf`.
  std::optional<GridFields> grid_fields(const State&, const Comm& comm) const override;
  bool finished() const override { return EndTime{common_.end_time}.reached(time_); }
  bool ends() const override { return common_.end_time.has_value(); }
  double progress(const State& state) const override { return EndTime{common_.end_time}.progress(state.time); }
  Work work(const State&) const override;
  std::vector<std::string> report() const override;
  std::vector<Citation> citations() const override;
  std::string summary() const override;

  const std::vector<std::unique_ptr<Species>>& species() const { return species_; }
  /// The deck's parameters, for formulas of outputs.
  std::map<std::string, double> values() const { return common_.values(); }
  const FieldModel* fields() const { return fields_.get(); }
  /// Whether the first two stages of a step share a pass here: see Solver::stages.
  bool fuses() const;
  const GrowthFit* growth() const { return growth_ ? &*growth_ : nullptr; }

 protected:
  /// Made once the configuration-space grid is known; null for neutral particles.
  void set_fields(std::unique_ptr<FieldModel> fields) { fields_ = std::move(fields); }
  /// InputError for a component that no species can feel; warns where only some do.
  void set_external(const FieldFormulas& formulas);
  void set_background(const std::string& charge_density);
  const ConfGrid& conf() const { return species_.front()->conf(); }
  virtual std::string name() const = 0;
  double epsilon0_ = 1.0;

  CommonParams common_;
  Context& context_;

 private:
  /// Two species that collide with each other.
  struct Colliding {
    Species *a, *b;
    BetweenSpecies op;
  };
  void make_collisions(const CrossCollisionParams& params);
  void start_from(const std::string& path);
  using Tasks = std::vector<Schedule::Task>;
  /// Names of declared fields in these slots.
  std::vector<std::string> of_species(const std::string& what, std::initializer_list<int> slots) const;
  std::vector<std::string> of_fields(std::initializer_list<int> slots) const;
  std::int64_t components_of_fields(int slot) const;
  /// Tasks of stage k: cells, sums over ranks, fields.
  void add_stage(int k, Tasks& tasks);
  /// Those of the first two stages where they share a pass: the fields of the second come before the cells of the
  /// first.
  void add_shared_pass(Tasks& tasks);
  void add_fields(int k, Tasks& tasks);
  void add_corrections(Tasks& tasks);
  /// One stage of all species; fresh_[k] and fastest_[k] are this rank's then.
  void sweep(int k, const Stage& stage, double time);
  /// The first two stages in one pass over the cells.
  void sweep_twice(double dt);
  void advance_fields(const Stage& stage);
  /// Whether the first two stages need a shorter step; that is in `info` then.
  bool too_long(StepInfo& info);
  /// Moments of species after stages that led to these slots, and largest frequencies: over ranks. A frequency is
  /// infinite where a moment is not finite.
  void gather(std::span<const int> slots, std::span<std::vector<std::vector<double>>> fresh, std::span<double> fastest);
  /// Values point into fields or into `total_[which]`.
  ForceField force_on(const Species& species, int slot, double time, int which);
  Sources sources(int slot) const;
  Sources sources_and_walls(int slot) const;  ///< with what walls collect, where the fields ask for it; collective
  void require_finite(double frequency, std::int64_t step) const;  ///< NumericalError when a stage was not
  void require_stable(double dt, double frequency) const;
  void warn_about_debye_length() const;
  void record(double time);
  double field_energy() const;

  std::vector<std::unique_ptr<Species>> species_;
  std::vector<Colliding> colliding_;
  std::unique_ptr<FieldModel> fields_;
  ExternalField external_;
  std::vector<double> background_;
  std::vector<double> total_[2][6];  ///< own and external fields together, where there are external ones
  std::optional<GrowthFit> growth_;
  double frequency_ = 0.0, time_ = 0.0, last_step_ = 0.0;
  std::int64_t repeated_ = 0;
  bool measured_ = false;
  /// Of each stage: moments of every species before they are summed over ranks, and the largest sum of frequencies of
  /// the state that it starts from.
  std::array<std::vector<std::vector<double>>, 3> fresh_;
  std::array<double, 3> fastest_{};
  RankSums rank_sums_;
  double first_energy_ = 0.0, last_energy_ = 0.0, first_particles_ = 0.0, last_particles_ = 0.0;
};

}  // namespace cambium::kinetic
