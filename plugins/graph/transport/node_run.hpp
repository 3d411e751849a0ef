#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/lowp/message.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/graph/trajectories/network_steps.hpp"
#include "plugins/graph/transport/shown_nodes.hpp"
#include "plugins/graph/transport/stepper.hpp"

namespace cambium::graph {

/// Common keys of both physics of this plugin.
struct NodeKeys {
  Method method = Method::explicit_steps;
  double end_time = 0.0, tolerance = 1e-10, sample_interval = 0.0;
  Partition partition = Partition::automatic;
  lowp::WireCodec codec = lowp::WireCodec::none;
  std::optional<double> courant;
  std::optional<double> timestep, start_time;
  std::string start_from, surrogate;
};

/// Declares those keys for a Params class derived from them.
template <class P>
void describe_node_keys(deck::Describe<P>& d) {
  d("method", &NodeKeys::method,
    "time integration: explicit (three stages, third order), or implicit (diffusion by conjugate gradients, two "
    "stages, second order; for steps beyond the diffusive limit)")
      .options({{"explicit", Method::explicit_steps}, {"implicit", Method::implicit}})
      .def(Method::explicit_steps);
  d("timestep", &NodeKeys::timestep, "time step; default: 'cfl' times the largest stable one").positive();
  d("cfl", &NodeKeys::courant,
    "part of the stable step that is taken; when absent 0.9 on meshes and 0.2 on graphs, whose roughest modes matter")
      .formerly("courant")
      .greater_than(0.0)
      .at_most(1.0)
      .example("0.5");
  d("end_time", &NodeKeys::end_time, "time at which the run ends; the last steps are shortened to meet it").positive();
  d("sample_interval", &NodeKeys::sample_interval,
    "steps are shortened so that every multiple of this time is met; 0: only the end")
      .non_negative()
      .def(0.0);
  d("partition", &NodeKeys::partition,
    "partition of the nodes over ranks: ranges (of nodes in an order of small bandwidth), cut (METIS, few nodes needed "
    "of other ranks), or auto: cut if ranks then receive at least a tenth less; results are bitwise identical")
      .options({{"auto", Partition::automatic}, {"ranges", Partition::ranges}, {"cut", Partition::cut}})
      .def(Partition::automatic);
  d("tolerance", &NodeKeys::tolerance, "relative residual tolerance of conjugate gradients, implicit steps only")
      .range(1e-15, 1e-2)
      .def(1e-10);
  d("start_from", &NodeKeys::start_from,
    "restart from the last snapshot of a file of the output 'node_fields' with the same nodes, at its time; initial "
    "formulas are ignored")
      .def("")
      .example("\"{run}/simulate/nodes.h5\"");
  d("start_time", &NodeKeys::start_time,
    "time of the first state, for formulas of t and for output; default: that of the snapshot of 'start_from', or 0")
      .non_negative();
  d("codec", &NodeKeys::codec,
    "codec of other ranks' nodes that a surrogate reads: bf16; int8, 8 bits in groups of 128 with a scale each; int4, "
    "4 "
    "bits after a randomised Hadamard transform; none sends them in double precision. Equations take none: their "
    "totals "
    "would not stay")
      .options({{"none", lowp::WireCodec::none},
                {"bf16", lowp::WireCodec::bf16},
                {"int8", lowp::WireCodec::int8},
                {"int4", lowp::WireCodec::int4}})
      .def(lowp::WireCodec::none);
  d("surrogate", &NodeKeys::surrogate,
    "model file of a mesh_graph_net that makes the steps instead of the equations; they have the length that it was "
    "trained on")
      .def("")
      .example("\"{run}/train/model.h5\"");
}

/// Collective: the nodes of this rank by the key `partition`.
NodeRange divided_nodes(const sparse::Csr<double>& pattern, Partition partition, Context& context);

/// Common part of the two physics: fields of the state, schedule, step size, outputs.
class NodeRun {
 public:
  /// `names`: of the columns. `keys` and `context` must outlive this.
  NodeRun(const NodeKeys& keys, Context& context, NodeRange& range, Equations equations, std::vector<std::string> names,
          ShownNodes shown);
  /// Returns all nodes for outputs; called only while a run begins or resumes.
  using AllNodesShown = std::function<ShownNodes()>;

  void declare(State& state);
  void schedule(Schedule& schedule);
  /// Collective, before a checkpoint: reorders values for checkpoints.
  void prepare_checkpoint();
  /// Collective: own values were set (or come from `start_from`); `stable` returns the longest stable step at a time, 0
  /// for no limit.
  void begin(State& state, const std::function<double(double t)>& stable, const AllNodesShown& all);
  void restore(State& state, const std::function<double(double t)>& stable, const AllNodesShown& all);

  double timestep() const { return dt_; }
  bool finished() const { return time_ >= keys_.end_time * (1.0 - 1e-12); }
  double progress() const { return (time_ - start_) / (keys_.end_time - start_); }
  /// Collective: the values of all nodes and their cells on rank 0, where they are kept from then on.
  std::optional<NodeFields> node_fields() const;
  const ShownNodes& shown() const { return shown_; }
  /// Collective: the values of a column in the order of the file, on rank 0.
  std::vector<double> column_on_root(std::int64_t column) const;
  const std::vector<std::string>& names() const { return names_; }
  Stepper& stepper() { return stepper_; }
  const Stepper& stepper() const { return stepper_; }

  /// Collective: weighted sum of values over all nodes, exact; smallest and largest value.
  double sum(std::int64_t column, const std::function<double(std::int64_t own)>& weight) const;
  std::array<double, 2> ends(std::int64_t column) const;
  std::vector<Result> results() const;
  std::vector<std::string> report() const;
  /// Of the network that makes the steps, if there is one.
  std::vector<Citation> citations() const { return network_ ? network_->citations() : std::vector<Citation>{}; }
  const NetworkSteps* network() const { return network_.get(); }
  /// Memory of nodes, cells and values on this rank, without data gathered on rank 0 for outputs.
  std::int64_t bytes() const;

 private:
  void load_network(const AllNodesShown& all);
  void network_step(std::int64_t step);
  void choose_network_step();
  void choose_timestep(std::int64_t step, double time);
  /// Sets own values; returns the time of the snapshot.
  double read_start();
  void require_later_end() const;
  void add_halo(std::vector<Result>& out) const;

  const NodeKeys& keys_;
  Context& context_;
  NodeRange& range_;
  Stepper stepper_;
  std::vector<std::string> names_;
  std::vector<double> run_values_;  ///< in the order of checkpoints, if it differs from that of own rows
  ShownNodes shown_;
  mutable std::shared_ptr<const NodeCells> cells_;  ///< rank 0, after the first request
  mutable bool asked_ = false;
  std::function<double(double)> stable_;
  std::unique_ptr<NetworkSteps> network_;
  double dt_ = 0.0, time_ = 0.0, start_ = 0.0, shortest_ = 0.0, longest_ = 0.0, last_stable_ = 0.0;
  std::int64_t steps_ = 0;
};

}  // namespace cambium::graph
