#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Properties that must match between a checkpoint and a run.
struct CheckpointKey {
  std::string model, optimizer;              ///< names of their types
  std::vector<Optimizer::StateInfo> states;  ///< in order
  std::string reduce;                        ///< "fast" or "ordered"
  std::int64_t slices = 1;                   ///< of the global batch in ordered mode
  std::int64_t batch = 1;                    ///< 0 if the number of samples varies between steps
  std::uint64_t seed = 1;
  std::string permutation = "stored";  ///< or "computed": the order of samples
};

}  // namespace cambium::train
