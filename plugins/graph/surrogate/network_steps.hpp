#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/train/networks/artifact/artifact.hpp"
#include "plugins/graph/trajectories/steps_on_nodes.hpp"
#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// A trained network that makes steps of own nodes of a rank. It is given the values of all nodes, and works on the
/// part of the graph that own answers depend on.
class NetworkSteps {
 public:
  /// Collective. `whole`: nodes and edges, the same on every rank; `own`: the nodes whose answers are wanted, in the
  /// order in which they are wanted; `fields`: how many values a node has. InputError for a file whose network makes no
  /// such steps.
  NetworkSteps(const std::string& path, const Trajectory& whole, std::span<const std::int32_t> own, std::int64_t fields,
               Context& context);

  double interval() const { return kind_->interval(); }
  /// `all` (nodes, fields) of the whole graph now; `own` (own, fields) one interval later.
  void step(std::span<const double> all, std::span<double> own);
  /// Nodes that this rank computes, own ones and those within reach.
  std::int64_t computed() const { return std::ssize(nodes_); }
  std::vector<Citation> citations() const { return model_.network->citations(); }

 private:
  train::LoadedModel model_;
  const StepsOnNodes* kind_ = nullptr;
  std::int64_t fields_ = 1;
  std::vector<std::int32_t> nodes_;  ///< of the part, rising
  std::shared_ptr<const Trajectory> part_;
  std::vector<std::int32_t> row_;  ///< of each own node in the part
};

/// The step network in a loaded model. InputError, naming `path`, where it is another kind of network.
const StepsOnNodes& require_steps(const train::LoadedModel& model, const std::string& path);

}  // namespace cambium::graph
