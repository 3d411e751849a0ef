#pragma once
#include <memory>

#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/trajectories/trajectory.hpp"

namespace cambium::graph {

/// Arrays of the sample of a step: place (nodes, 3), edge (edges, 2), weight (edges), boundary (nodes), value and next
/// (nodes, fields), interval.
std::vector<train::FieldInfo> step_fields(std::int64_t fields);

/// A step on these nodes from `value` to `next`, which is omitted if empty. The sample keeps all of them.
train::SamplePtr step_sample(std::int64_t id, std::shared_ptr<const Trajectory> on, std::vector<double> value,
                             std::vector<double> next);

}  // namespace cambium::graph
