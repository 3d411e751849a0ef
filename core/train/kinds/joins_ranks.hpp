#pragma once

namespace cambium::train {

/// A network whose loss compares the samples of a step with each other over all ranks: its gradient() sends messages.
/// Every rank then calls it exactly once in a step, with at least one sample; the stage `train` refuses what would not.
class JoinsRanks {
 public:
  virtual ~JoinsRanks() = default;
};

}  // namespace cambium::train
