#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "core/parallel/shared_memory.hpp"
#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// Sum of gradients over the ranks of one node, which read each other's gradients in shared memory: no messages and no
/// send buffers. A rank adds one chunk of every tensor over all ranks, in rank order, as soon as all have it, and
/// copies the sums of the other chunks from the ranks that computed them. Counters in shared memory record the progress
/// of all ranks.
class SharedSum {
 public:
  /// Collective. Null if the ranks have no shared memory.
  static std::unique_ptr<SharedSum> make(const Comm& comm, const FlatLayout& layout, DType dtype);

  /// This rank's gradients; valid as long as this object.
  FlatBuffer buffer() const;
  bool holds(const FlatBuffer& gradients) const;

  /// Before gradients are written: waits until the others have read the previous ones.
  void begin();
  /// Marks this rank's gradient of a tensor as final. Called once per tensor between begin() and finish().
  void tensor_final(int tensor);
  /// Processes the tensors that the other ranks have ready.
  void advance();
  /// Completes the sums, which are then in the buffer.
  void finish();

 private:
  using Counter = std::atomic<std::int64_t>;
  SharedSum(const Comm& comm, const FlatLayout& layout, DType dtype, std::unique_ptr<SharedMemory> memory);
  static std::int64_t counters_bytes(const FlatLayout& layout);
  /// Index of the last sum in which a rank had tensor k ready, or its chunk added; and of the last that it has
  /// completed.
  Counter& ready(int rank, int k) const { return counters(rank)[1 + 2 * k]; }
  Counter& added(int rank, int k) const { return counters(rank)[2 + 2 * k]; }
  Counter& done(int rank) const { return counters(rank)[0]; }
  Counter* counters(int rank) const { return reinterpret_cast<Counter*>(memory_->of(rank)); }
  template <class F>
  bool everyone(F&& counter) const;
  std::byte* values(int rank) const { return memory_->of(rank) + counters_bytes(layout_); }
  struct Part {
    std::int64_t begin, end;  ///< elements of the buffer
  };
  Part share(int tensor, int rank) const;
  void add_share(int tensor);
  void take_shares(int tensor);

  const Comm& comm_;
  const FlatLayout& layout_;
  DType dtype_;
  std::unique_ptr<SharedMemory> memory_;
  std::int64_t number_ = 0;  ///< index of this sum
  std::vector<int> adding_,
      taking_;  ///< tensors with this rank's chunk not yet added; with other chunks not yet copied
};

}  // namespace cambium::train
