#pragma once
#include <cstdint>
#include <vector>

#include "core/train/data/holder_table.hpp"

namespace cambium::train {

/// Buffers of several ranks without data: which of them holds a sample, and which sample of each is evicted first. A
/// sample is in at most one. Each is a binary heap: 16 bytes per held sample, besides its entry in the table.
class PlannedBuffers {
 public:
  using Key = std::uint64_t;
  PlannedBuffers() = default;
  /// Of `samples` samples, about `held` are in the buffers at the same time.
  PlannedBuffers(std::int64_t samples, std::int64_t buffers, std::int64_t held);

  /// The buffer that holds a sample, or -1.
  int holder_of(std::int64_t id) const;
  std::int64_t size(int buffer) const { return std::ssize(heaps_[buffer]); }
  /// Adds a sample that no buffer holds, or changes the key of one that this buffer holds.
  void put(int buffer, std::int64_t id, Key key);
  /// Removes a sample that some buffer holds.
  void erase(std::int64_t id);
  /// Removes and returns the sample with the largest key; of equal keys, the largest index.
  std::int64_t evict(int buffer);
  std::int64_t bytes() const;

 private:
  struct Node {
    Key key;
    std::int64_t id;
    bool operator<(const Node& other) const { return key != other.key ? key < other.key : id < other.id; }
  };
  using Heap = std::vector<Node>;
  void set(Heap& heap, std::size_t place, Node node);
  void raise(Heap& heap, std::size_t place);
  void lower(Heap& heap, std::size_t place);
  void remove(int buffer, std::size_t place);

  HolderTable table_;
  std::vector<Heap> heaps_;
};

}  // namespace cambium::train
