#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cambium/plan/machine.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/reduce/reducer.hpp"
#include "core/train/weights/divided/partition.hpp"

namespace cambium::train {

/// Properties of a network and its optimizer in a plan; nothing is allocated.
struct PlannedModel {
  std::vector<ParameterInfo> parameters;
  std::vector<int> modules;
  DType dtype = DType::f32;
  std::vector<Optimizer::StateInfo> states;
  bool elementwise = true;
  std::int64_t terms = 1;  ///< of the loss
  std::int64_t count() const;
};

/// Settings of a step, as in the train stage. Without a partition, gradients of replicated models are reduced.
struct StepSettings {
  ReduceParams reduce;
  int accumulate = 1;
  std::optional<Partition> partition;
  int ranks = 1;
};

/// Bits per value in messages; 0 for the stored precision. For published schemes whose codecs are not among those of
/// Partition::codecs.
struct WireBits {
  double weights = 0.0;              ///< gathered forward and backward
  double update = 0.0;               ///< new weights
  std::vector<double> gradients;     ///< by level
  Pattern reduce = Pattern::direct;  ///< of the reduce-scatter; direct: every rank sends each other one its part
};

enum class Phase {
  forward,
  backward,
  reduce,
  after
};  ///< reduce: concurrent with the backward pass; after: when it is done

/// One kind of message of a step.
struct Exchange {
  std::string collective, level;
  Phase phase = Phase::after;
  Pattern pattern = Pattern::ring_or_tree;
  std::int64_t calls = 0;
  double bytes = 0.0;  ///< as Traffic counts them, per rank and step
  double sent = 0.0;   ///< sent by a rank
  std::int64_t ranks = 1, stride = 1;
  std::int64_t coded = 0;  ///< values that a rank encodes or decodes for it
};

/// One step of one rank.
struct StepPlan {
  std::vector<Exchange> exchanges;
  std::int64_t weights = 0, gradients = 0, states = 0;  ///< B held for the entire run
  std::int64_t in_use = 0;                              ///< B of modules in use and of messages, at most
  std::int64_t own_elements = 0;                        ///< that this rank's optimizer steps
  std::int64_t update_bytes = 0;                        ///< B that the optimizer moves between memory and CPU or device
  int slices = 1;                                       ///< passes per step
  bool prefetch = false;                                ///< weights are gathered while the module before computes
  std::int64_t held() const { return weights + gradients + states; }
};

StepPlan plan_step(const PlannedModel& model, const StepSettings& settings, const WireBits& bits = {});

}  // namespace cambium::train
