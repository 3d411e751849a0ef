#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/sparse/row_exchange.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/graph/trajectories/steps_on_nodes.hpp"
#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// A trained network that advances a rank's own nodes by time steps. It works on the part of the graph in the receptive
/// field of the own outputs; values of the other nodes there are fetched from their ranks in every step.
class NetworkSteps {
 public:
  /// Collective. `whole`: nodes and edges, the same on every rank, used only here; `number`: their indices of the nodes
  /// of the ranks, those of rank 0 first; `first`: offset of each rank's nodes, and their number; `run`: nodes of this
  /// rank if ranks have ranges of nodes, for comparison; `fields`: values per node; `codec`: of fetched values.
  /// InputError for a file whose network makes no such steps.
  NetworkSteps(const std::string& path, const Trajectory& whole, std::span<const std::int32_t> number,
               const std::vector<std::int64_t>& first, std::span<const std::int32_t> run, std::int64_t fields,
               lowp::WireCodec codec, Context& context);

  double interval() const { return kind_->interval(); }
  /// Collective. `own` (own, fields): current values on input, those one interval later on output. `number`: index of
  /// the step, for the stochastic rounding of a codec.
  void step(std::span<double> own, std::int64_t number);
  /// Number of nodes computed on this rank: own ones and those within reach.
  std::int64_t computed() const { return std::ssize(place_); }
  /// Rows received in a step, summed over ranks, here and with ranges of nodes.
  std::int64_t halo() const { return halo_; }
  std::int64_t halo_of_ranges() const { return halo_of_ranges_; }
  /// Data that this rank has received from others so far, in bytes.
  const sparse::Words& words() const { return exchange_->words(); }
  /// Memory of the part of the graph and of message buffers, without the network.
  std::int64_t bytes() const;
  std::vector<Citation> citations() const { return model_.network->citations(); }

 private:
  train::LoadedModel model_;
  const StepsOnNodes* kind_ = nullptr;
  std::int64_t fields_ = 1;
  std::uint64_t seed_ = 0;
  std::shared_ptr<const Trajectory> part_;
  std::vector<std::int32_t> place_;  ///< of each node of the part: own ones first, then the fetched ones
  std::vector<std::int32_t> row_;    ///< of each own node in the part
  std::unique_ptr<sparse::RowExchange<double>> exchange_;
  std::vector<double> fetched_;
  std::int64_t halo_ = 0, halo_of_ranges_ = 0;
};

/// The step network in a loaded model. InputError, naming `path`, for any other kind of network.
const StepsOnNodes& require_steps(const train::LoadedModel& model, const std::string& path);

}  // namespace cambium::graph
