#pragma once
#include <string>

#include "core/train/run/checkpoint_head.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Collective: one HDF5 file, complete or not at all, from rank 0 (weights are the same on every rank):
///   /cambium                provenance and the resolved deck
///   /train                  step, key, best step and metric (attributes), network_state (text), window,
///                           best_errors; with `direct` grids
///   /weights, /average, /best, /states/<name>   tensors one after the other, without padding
///   /tensors                their names in order
///   /rows                   rows of tables of embeddings (Tables), where the network has any
///   /tables                 what the tables held (io::table_mark), where there are any
///   /kept/<name>            what a network with KeepsNumbers keeps beside its weights
/// with a checksum behind the end (core/io/hdf5/seal.hpp). InputError, on every rank, when the disk refuses; an older
/// file of that name then stays.
void write_train_checkpoint(const std::string& path, const Snapshot& weights, const CheckpointParts& parts);

/// The network's state in a checkpoint, needed before buffers can be made.
std::string network_state_in(const std::string& path);

/// Collective: the network's state, and what it keeps beside its weights, from a file that is looked at first:
/// InputError when its bytes, or those of its shares, are not those that were written, or the state is not one of this
/// network.
void restore_network(Network& network, const std::string& path, const Context& context);

/// Fills progress and weights; each rank reads what it holds, from the file itself or from shares
/// (core/io/share_files.hpp). InputError says what the deck changed that cannot be resumed. Returns the number of ranks
/// that wrote it.
std::int64_t read_train_checkpoint(const std::string& path, Progress& progress, Weights& weights,
                                   const CheckpointKey& key);

}  // namespace cambium::train
