#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/h5_image.hpp"
#include "core/io/share_files.hpp"
#include "core/train/run/checkpoint_head.hpp"
#include "core/train/run/checkpoint_keys.hpp"
#include "core/train/weights/pieces.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Writes checkpoints of a running training as the deck specifies. Checkpoints beyond the number to keep are removed
/// once a new one is complete. With `asynchronous`, at most one is being written.
class CheckpointWriter {
 public:
  /// KeyError if the keys are incompatible. Keys and context must outlive this.
  CheckpointWriter(const TrainCheckpointKeys& keys, const Context& context);

  /// Collective: waits for the previous checkpoint, then writes `path`, all or nothing. InputError, on every rank, if
  /// writing fails.
  void write(const std::string& path, Weights& weights, const CheckpointParts& parts);
  /// True if copies in node memory are due after this step: in a run started by a supervisor.
  bool copies_after(std::int64_t step) const { return copies_every_ > 0 && step % copies_every_ == 0; }
  /// Collective: writes the same per-rank files to node memory (core/run/node_memory.hpp).
  void copy_to_memory(Weights& weights, const CheckpointParts& parts);
  /// Collective, after each step: renames the pending checkpoint to its final name once all files are on disk.
  /// InputError, on every rank, if a file could not be written.
  void look();
  /// Collective: waits until that is done.
  void wait();

 private:
  /// A checkpoint that is being written in the background.
  struct Behind {
    std::string path;
    io::ShareWriter shares;
    std::optional<io::FileInMemory> manifest;  ///< rank 0: all but the list of shares
  };
  void write_collectively(const std::string& path, InPieces& pieces, const CheckpointParts& parts,
                          const HeadOfWeights& head);
  std::unique_ptr<Behind> with_shares(const std::string& path, std::optional<std::vector<char>> behind,
                                      InPieces& pieces, const CheckpointParts& parts, const HeadOfWeights& head) const;
  void with_pieces(Weights& weights, const CheckpointParts& parts,
                   const std::function<void(InPieces&, const HeadOfWeights&)>& use) const;
  void finish(Behind& behind) const;
  void prune(const std::string& path) const;

  const TrainCheckpointKeys& keys_;
  const Context& context_;
  std::string memory_;             ///< folder of copies; empty for none
  std::int64_t copies_every_ = 0;  ///< steps; 0: never
  std::unique_ptr<Behind> behind_;
  std::vector<char> share_memory_;  ///< of the last asynchronous checkpoint: pages of its own would be slow to get anew
  Counted share_memory_bytes_;
};

}  // namespace cambium::train
