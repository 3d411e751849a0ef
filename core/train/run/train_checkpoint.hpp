#pragma once
#include <string>

#include "core/train/run/checkpoint_head.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Collective: writes one HDF5 file atomically from rank 0 (weights are the same on every rank):
///   /cambium                provenance and the resolved deck
///   /train                  step, key, best step and metric (attributes), network_state (text), window,
///                           best_errors; with `direct` grids
///   /weights, /average, /best, /states/<name>   concatenated tensors, without padding
///   /tensors                their names in order
///   /rows                   rows of embedding tables (Tables), if the network has any
///   /tables                 positions in output tables (io::table_mark), if there are any
///   /kept/<name>            extra state of a network with KeepsNumbers
/// with a checksum after the end (core/io/hdf5/seal.hpp). InputError, on every rank, if writing fails; an existing file
/// of that name is then kept.
void write_train_checkpoint(const std::string& path, const Snapshot& weights, const CheckpointParts& parts);

/// Reads the network's state from a checkpoint, needed before buffers can be allocated.
std::string network_state_in(const std::string& path);

/// Collective: restores the network's state and extra state from a file that is verified first. InputError if the bytes
/// of the file, or of its per-rank files, have changed, or the state does not belong to this network.
void restore_network(Network& network, const std::string& path, const Context& context);

/// Restores progress and weights; each rank reads its part, from the file itself or from per-rank files
/// (core/io/share_files.hpp). InputError names the changes of the deck that prevent a restart. Returns the number of
/// ranks that wrote the file.
std::int64_t read_train_checkpoint(const std::string& path, Progress& progress, Weights& weights,
                                   const CheckpointKey& key);

}  // namespace cambium::train
