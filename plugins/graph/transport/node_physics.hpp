#pragma once
#include <numeric>
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "plugins/graph/transport/node_run.hpp"

namespace cambium::graph {

/// A Physics around a NodeRun. Derived classes provide the equations, the initial values and the observables.
class NodePhysics : public Physics, public Checked {
 public:
  virtual NodeRun& run() = 0;
  virtual const NodeRun& run() const = 0;

  void declare(State& state, Context&) override { run().declare(state); }
  void restore(State& state, Context&, const io::Group&, bool) override {
    run().restore(
        state, [this](double t) { return stable_step(t); }, [this] { return all_shown(); });
    forget_whole();
  }
  void prepare_checkpoint(State&, Context&) override { run().prepare_checkpoint(); }
  void schedule(Schedule& schedule) override { run().schedule(schedule); }
  double timestep(const State&) const override { return run().timestep(); }
  std::string time_unit() const override { return ""; }
  std::optional<NodeFields> node_fields(const State&, const Comm&) const override { return run().node_fields(); }
  bool finished() const override { return run().finished(); }
  bool ends() const override { return true; }
  double progress(const State&) const override { return run().progress(); }
  Work work(const State&) const override { return {run().stepper().range().nodes(), "node"}; }
  std::vector<Result> results() const override { return run().results(); }
  std::vector<std::string> report() const override { return run().report(); }
  /// Memory of the graph or mesh and of the values on it on this rank, once the run has begun.
  virtual std::int64_t bytes() const = 0;

 protected:
  /// Properties of the partition, for the summary; empty on one rank.
  std::string ranks_text() const {
    const auto& range = run().stepper().range();
    return range.comm().size() > 1 ? " (" + range.text() + ")" : std::string();
  }
  std::vector<std::int32_t> every_node() const {
    std::vector<std::int32_t> out(static_cast<std::size_t>(run().stepper().range().nodes()));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  /// Frees the global graph or mesh; only the local part of this rank remains.
  virtual void forget_whole() = 0;
  /// All nodes for outputs; only before forget_whole().
  virtual ShownNodes all_shown() const = 0;
  /// Collective: the longest stable step at a time; 0: no limit.
  virtual double stable_step(double t) = 0;
};

}  // namespace cambium::graph
