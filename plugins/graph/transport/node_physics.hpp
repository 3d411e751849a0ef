#pragma once
#include <numeric>
#include <string>
#include <vector>

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
  /// Memory of what this rank holds of the graph or the mesh and of values on it, once the run has begun.
  virtual std::int64_t bytes() const = 0;

 protected:
  /// Of the partition, for the summary; empty on one rank.
  std::string ranks_text() const {
    const auto& range = run().stepper().range();
    return range.comm().size() > 1 ? " (" + range.text() + ")" : std::string();
  }
  std::vector<std::int32_t> every_node() const {
    std::vector<std::int32_t> out(static_cast<std::size_t>(run().stepper().range().nodes()));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  /// From now on a rank holds its share alone: the graph or the mesh as it was read or made goes.
  virtual void forget_whole() = 0;
  /// Shows all nodes; until forget_whole().
  virtual ShownNodes all_shown() const = 0;
  /// Collective: the longest stable step at a time; 0: nothing limits it.
  virtual double stable_step(double t) = 0;
};

}  // namespace cambium::graph
