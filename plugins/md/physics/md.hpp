#pragma once
#include <memory>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/io/structures/structure_input.hpp"
#include "core/particles/groups.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/md/dynamics/dynamics.hpp"
#include "plugins/md/dynamics/integrator.hpp"
#include "plugins/md/dynamics/load_balance.hpp"
#include "plugins/md/physics/line_averages.hpp"

namespace cambium::md {

/// Molecular dynamics of particles in a periodic cell. Units metal: Å, ps, eV, g/mol, K, bar.
class Md : public Physics, public Checked {
 public:
  struct Params {
    StructureInput structure;
    std::map<std::string, double> masses;
    std::optional<double> initial_temperature;
    deck::Choice<Potential> potential;
    deck::Choice<Integrator> integrator;
    double timestep = 0.001;
    double skin = 1.0;
    std::map<std::string, GroupSpec> groups;
    std::vector<std::string> frozen;
    std::optional<std::array<int, 3>> ranks;
    std::optional<BalanceKeys> balance;
    std::optional<double> max_force_error;  ///< eV/Å
    static void describe(deck::Describe<Params>& d);
  };

  Md(const Params& params, Context& context);

  void examine(Check&) override;
  void declare(State&, Context&) override;
  void initialise(State&, Context&) override;
  void restore(State&, Context&, const io::Group& saved, bool same_ranks) override;
  void prepare_checkpoint(State&, Context&) override;
  void save(io::Group&) const override;
  void resize(State&, std::int64_t rows) override;
  void schedule(Schedule&) override;
  double timestep(const State&) const override { return params_.timestep; }
  std::vector<Observable> observables() const override;
  void complete(State&, Context&) override;
  void measure(const State&, Context&, std::span<double> values) override;
  bool finished() const override { return integrator_->finished() || beyond_trust_; }
  Work work(const State& state) const override { return {state.particles.nglobal, "atom"}; }
  std::vector<Result> results() const override;
  std::vector<std::string> report() const override;
  std::vector<Citation> citations() const override;
  std::string summary() const override;

 private:
  void make_dynamics(State&, Context&);
  void heed_force_error(const State&, Context&);
  void add_energies(std::vector<Result>& out) const;
  void warn_of_units(const State&, Context&) const;
  void warn_of_rest(Context&) const;
  void rebalance(std::int64_t step, bool begins);

  Params params_;
  GivenAxes axes_;
  Groups groups_;
  void bind_potential(std::span<const Species> species);

  std::unique_ptr<Potential> potential_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<Dynamics> dynamics_;
  std::unique_ptr<LoadBalance> balance_;
  std::unique_ptr<State> looked_at_;  ///< atoms built by examine(), for checks by writers
  LineAverages averages_;
  std::int64_t atoms_ = 0;
  bool beyond_trust_ = false;  ///< a force error may exceed max_force_error
};

}  // namespace cambium::md
