#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "core/parallel/shared_memory.hpp"
#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// Sum of gradients over the ranks of one node, which read each other's gradients where they lie: no messages and no
/// copies to send. Of every tensor a rank adds one share over all ranks, in the order of ranks, as soon as all have it;
/// the sums of the other shares it copies from the ranks that made them. Counters in the shared memory say how far
/// everyone is.
class SharedSum {
 public:
  /// Collective. Null where the ranks share no memory.
  static std::unique_ptr<SharedSum> make(const Comm& comm, const FlatLayout& layout, DType dtype);

  /// This rank's gradients; they live as long as this object.
  FlatBuffer buffer() const;
  bool holds(const FlatBuffer& gradients) const;

  /// Before gradients are written: waits until the others have read the last ones.
  void begin();
  /// This rank's gradient of a tensor is final. Each tensor once between begin() and finish().
  void tensor_final(int tensor);
  /// Goes on with what the others have ready.
  void advance();
  /// To the end: the sums stand in the buffer.
  void finish();

 private:
  using Counter = std::atomic<std::int64_t>;
  SharedSum(const Comm& comm, const FlatLayout& layout, DType dtype, std::unique_ptr<SharedMemory> memory);
  static std::int64_t counters_bytes(const FlatLayout& layout);
  /// The number of the last sum in which a rank had tensor k ready, or its share added; and of the last that it is done
  /// with.
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
  std::int64_t number_ = 0;  ///< of this sum
  std::vector<int> adding_,
      taking_;  ///< tensors whose share of this rank is not added; whose other shares are not here
};

}  // namespace cambium::train
