#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parallel/shared_memory.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Samples that the ranks of a node lend each other in every step, through shared memory. No MPI calls after make(), so
/// it may be used by one thread that reads ahead; all ranks take part in the same exchanges. Samples are plain
/// (Dataset::plain), or packed, each with its own shapes (Dataset::most_packed_bytes).
class NodeExchange {
 public:
  /// Collective over the ranks of a node. `samples`: places in the memory of each rank; a rank that lends more does so
  /// in several rounds. `packed`: bytes of the largest packed sample; 0: samples are plain. Null, on every rank, if the
  /// system has no room.
  static std::unique_ptr<NodeExchange> make(const Comm& node, std::vector<FieldInfo> fields, std::int64_t samples,
                                            std::int64_t packed = 0);

  /// Samples by key, ascending.
  struct Loan {
    std::int64_t key;
    SamplePtr sample;
  };
  struct Wanted {
    std::int64_t key;
    int from;  ///< rank of the node
  };
  /// Lends samples and returns the wanted ones, in their order, as copies. `most`: samples lent by one rank, the same
  /// on every rank. Waits for the other ranks until `stopped()`. InputError with the text of fail(), if another rank
  /// failed.
  std::vector<SamplePtr> exchange(const std::vector<Loan>& lent, const std::vector<Wanted>& wanted, std::int64_t most,
                                  const std::function<bool()>& stopped);
  /// Tells the other ranks that this one takes part in no further exchange.
  void fail(const std::string& text);
  std::int64_t bytes() const { return bytes_; }  ///< of shared memory for this rank
  static std::int64_t bytes_of(const std::vector<FieldInfo>& fields, std::int64_t samples, std::int64_t packed = 0);

 private:
  struct Head;
  struct Entry;
  NodeExchange(const Comm& node, std::vector<FieldInfo> fields, std::int64_t samples, std::int64_t packed,
               std::unique_ptr<SharedMemory> memory);
  Head& head(int rank) const;
  std::byte* page(int rank) const;  ///< of the current round
  void wait(int rank, std::int64_t round, bool taken, const std::function<bool()>& stopped) const;
  void lend(const Loan* first, std::int64_t count);
  SamplePtr take(int rank, std::int64_t key) const;
  void write(const Sample& sample, std::byte* at) const;
  SamplePtr sample_from(const Entry& entry, const std::byte* values) const;

  int rank_, ranks_;
  std::vector<FieldInfo> fields_;
  bool packed_;
  std::int64_t samples_, sample_bytes_, bytes_;
  std::int64_t round_ = 0;
  std::unique_ptr<SharedMemory> memory_;  ///< of a rank: a Head, then pages of even and odd rounds
};

}  // namespace cambium::train
