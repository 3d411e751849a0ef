#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// What a checkpoint must agree with.
struct CheckpointKey {
  std::string model, optimizer;              ///< names of their types
  std::vector<Optimizer::StateInfo> states;  ///< in order
  std::string reduce;                        ///< "fast" or "ordered"
  std::int64_t slices = 1;                   ///< of the global batch in ordered mode
  std::int64_t batch = 1;                    ///< 0 where steps bring as many samples as they like
  std::uint64_t seed = 1;
};

}  // namespace cambium::train
