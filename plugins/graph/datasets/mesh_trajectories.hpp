#pragma once
#include <memory>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// Time steps of simulated fields on graphs or meshes: a sample is a snapshot and its successor. With noise, the input
/// is perturbed and the target is not, so that the network learns to correct its own errors; each snapshot is then used
/// with several perturbations, all of them functions of (seed, sample).
class MeshTrajectories : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> files, fields;
    std::int64_t stride = 1, draws = 1, seed = 1;
    double noise = 0.0;
    static void describe(deck::Describe<Params>& d);
  };
  MeshTrajectories(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return params_.draws * std::ssize(steps_); }
  /// Fields: place (nodes, 3), edge (edges, 2), weight (edges), boundary (nodes), value and next (nodes, fields),
  /// interval.
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  train::SamplePtr sample(std::int64_t id) const;

  Params params_;
  std::vector<std::shared_ptr<const Trajectory>> trajectories_;
  std::vector<std::pair<std::size_t, std::int64_t>> steps_;  ///< trajectory, snapshot
  std::vector<double> deviation_;                            ///< standard deviation of each field
};

}  // namespace cambium::graph
