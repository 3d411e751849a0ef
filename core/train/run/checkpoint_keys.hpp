#pragma once
#include "core/io/checkpoint_keys.hpp"

namespace cambium::train {

/// The keys `checkpoint` of the stage `train`.
struct TrainCheckpointKeys : io::CheckpointKeys {
  enum class Transfer {
    gather,      ///< rank 0 writes one file; a sharded model is gathered on every rank for it
    collective,  ///< all ranks write their shards into one file
    per_rank     ///< each rank writes its own file; one file lists them
  };
  Transfer transfer = Transfer::gather;
  bool asynchronous = false;
  static void describe(deck::Describe<TrainCheckpointKeys>& d);
};

}  // namespace cambium::train
