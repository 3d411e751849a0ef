#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/io/share_files.hpp"
#include "core/train/run/checkpoint_head.hpp"
#include "core/train/run/checkpoint_keys.hpp"
#include "core/train/weights/pieces.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Checkpoints of a training under way, written as the deck's keys ask. Older ones than it keeps are removed when a
/// new one has its name. With `asynchronous` one is on its way to the disk at most.
class CheckpointWriter {
 public:
  /// KeyError when the keys do not go together. Keys and context outlive this.
  CheckpointWriter(const TrainCheckpointKeys& keys, const Context& context);

  /// Collective: waits for the one before, then writes `path`, whole or not at all. InputError, on every rank, when the
  /// disk refuses.
  void write(const std::string& path, Weights& weights, const CheckpointParts& parts);
  /// Copies in the memory of the node are due after this step: in a run that a supervisor started.
  bool copies_after(std::int64_t step) const { return copies_every_ > 0 && step % copies_every_ == 0; }
  /// Collective: shares like those on disk, there (core/run/node_memory.hpp).
  void copy_to_memory(Weights& weights, const CheckpointParts& parts);
  /// Collective, after each step: gives the checkpoint under way its name once all shares are on the disk. InputError,
  /// on every rank, when a share could not be written.
  void look();
  /// Collective: the same, to its end.
  void wait();

 private:
  /// A checkpoint whose shares are on their way.
  struct Behind {
    std::string path;
    io::ShareWriter shares;
    std::vector<char> manifest;  ///< rank 0
    Counted copy;
  };
  void write_collectively(const std::string& path, InPieces& pieces, const CheckpointParts& parts,
                          const HeadOfWeights& head);
  std::unique_ptr<Behind> with_shares(const std::string& path, bool behind, InPieces& pieces,
                                      const CheckpointParts& parts, const HeadOfWeights& head) const;
  void with_pieces(Weights& weights, const CheckpointParts& parts,
                   const std::function<void(InPieces&, const HeadOfWeights&)>& use) const;
  void finish(Behind& behind) const;
  void prune(const std::string& path) const;

  const TrainCheckpointKeys& keys_;
  const Context& context_;
  std::string memory_;             ///< folder of copies; empty for none
  std::int64_t copies_every_ = 0;  ///< steps; 0: never
  std::unique_ptr<Behind> behind_;
};

}  // namespace cambium::train
