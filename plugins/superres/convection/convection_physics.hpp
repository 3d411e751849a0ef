#pragma once
#include <fmt/format.h>

#include "core/plugin/check.hpp"
#include "plugins/superres/convection/convection.hpp"
#include "plugins/superres/samples/centred_fields.hpp"

namespace cambium::superres {

/// A Physics that wraps Convection. `Setup` provides Params (ConvectionKeys and more), the grid and fluid, observables,
/// and lines of the stage summary.
template <class Setup>
class ConvectionPhysics : public Physics, public Checked {
 public:
  using Params = typename Setup::Params;
  ConvectionPhysics(const Params& params, Context& context)
      : setup_(with_room(params, context.comm)), run_(params, setup_.grid(), setup_.fluid(), context) {}

  /// Some 30 arrays of the size of a field, more in three dimensions.
  void examine(Check& check) override {
    const double cells = static_cast<double>(run_.grid().cells());
    check.memory(fmt::format("{:.0f} cells", cells),
                 (run_.grid().spatial() ? 300.0 : 240.0) * cells / check.context().comm.size());
    check.effort(1e-5 * cells);
    if (const auto& file = run_.keys().initial.file)
      check.require_written_by("initial.file", *file, {{Origin::output, "fields"}, {Origin::fields_of, "reconstruct"}});
  }
  void declare(State& state, Context&) override { run_.declare(state); }
  void initialise(State& state, Context& context) override { run_.initialise(state, context); }
  void restore(State& state, Context&, const io::Group& saved, bool) override { run_.restore(state, saved); }
  void save(io::Group& group) const override { run_.save(group); }
  void schedule(Schedule& schedule) override { run_.schedule(schedule); }
  double timestep(const State&) const override { return run_.timestep(); }
  std::string time_unit() const override { return "t_ff"; }
  bool finished() const override { return run_.finished(); }
  bool ends() const override { return true; }
  Work work(const State&) const override { return run_.work(); }
  std::vector<Citation> citations() const override { return run_.citations(); }
  std::string summary() const override { return fmt::format("{}: {}", setup_.name(), run_.summary()); }
  std::vector<Observable> observables() const override { return setup_.observables(); }
  void measure(const State&, Context& context, std::span<double> values) override {
    const Flow& flow = run_.stepper.flow();
    Means means = means_of(flow, context.comm);
    find_largest(means, flow, context.comm);
    setup_.measure(means, values);
    divergence_ = run_.divergence();
    values[values.size() - 2] = divergence_;
    values[values.size() - 1] = run_.timestep();
  }
  std::optional<GridFields> grid_fields(const State& state, const Comm& comm) const override {
    return grid_fields_of(state, comm);
  }
  std::vector<Result> results() const override {
    std::vector<Result> out;
    if (run_.averages.weight() > 0.0) out = setup_.results(run_.averages.mean(), run_.averages);
    out.push_back(
        {.key = "largest_div_u", .label = "largest |div u| at the last line", .value = divergence_, .digits = 2});
    return out;
  }

  /// For tests and measurements.
  Convection& run() { return run_; }

 private:
  Setup setup_;
  Convection run_;
  double divergence_ = 0.0;
};

/// The last two observables of every convection physics.
inline void add_common_observables(std::vector<Observable>& list) {
  list.push_back({"divergence", "", "largest |div u|", false});
  list.push_back({"timestep", "t_ff", "length of the next step", true});
}

}  // namespace cambium::superres
