#pragma once
#include "core/plugin/check.hpp"
#include "plugins/graph/transport/node_run.hpp"

namespace cambium::graph {

/// A Physics around a NodeRun. What derives says its equations, its start and its observables.
class NodePhysics : public Physics, public Checked {
 public:
  virtual NodeRun& run() = 0;
  virtual const NodeRun& run() const = 0;

  void declare(State& state, Context&) override { run().declare(state); }
  void restore(State& state, Context&, const io::Group&, bool) override {
    run().restore(state, [this](double t) { return stable_step(t); });
  }
  void schedule(Schedule& schedule) override { run().schedule(schedule); }
  double timestep(const State&) const override { return run().timestep(); }
  std::string time_unit() const override { return ""; }
  std::optional<NodeFields> node_fields(const State&, const Comm&) const override { return run().node_fields(); }
  bool finished() const override { return run().finished(); }
  bool ends() const override { return true; }
  double progress(const State&) const override { return run().progress(); }
  Work work(const State&) const override { return {run().stepper().range().nodes(), "node"}; }
  std::vector<std::string> report() const override { return run().report(); }

 protected:
  /// Collective: the longest stable step at a time; 0: nothing limits it.
  virtual double stable_step(double t) = 0;
};

}  // namespace cambium::graph
