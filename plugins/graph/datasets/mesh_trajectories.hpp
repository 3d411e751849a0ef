#pragma once
#include <memory>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// Steps of simulated fields on graphs or meshes: a sample is a moment and the one after it. With noise, what the
/// network sees is disturbed and where it has to arrive is not, so that it learns to come back from its own errors;
/// each moment is then seen in several disturbances, all of them functions of (seed, sample).
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
  /// place (nodes, 3), edge (edges, 2), weight (edges), boundary (nodes), value and next (nodes, fields), interval.
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  train::SamplePtr sample(std::int64_t id) const;

  Params params_;
  std::vector<std::shared_ptr<const Trajectory>> trajectories_;
  std::vector<std::pair<std::size_t, std::int64_t>> steps_;  ///< trajectory, moment
  std::vector<double> deviation_;                            ///< of each field
};

}  // namespace cambium::graph
