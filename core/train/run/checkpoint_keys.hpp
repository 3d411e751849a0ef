#pragma once
#include "core/io/checkpoint_keys.hpp"

namespace cambium::train {

/// The keys `checkpoint` of the stage `train`.
struct TrainCheckpointKeys : io::CheckpointKeys {
  enum class Transfer {
    gather,      ///< rank 0 writes one file; a divided model is whole on every rank meanwhile
    collective,  ///< all ranks write their shares into one file
    per_rank     ///< each rank writes a file of its own, listed in one file
  };
  Transfer transfer = Transfer::gather;
  bool asynchronous = false;
  static void describe(deck::Describe<TrainCheckpointKeys>& d);
};

}  // namespace cambium::train
