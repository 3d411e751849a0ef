#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium {

/// Memory that the ranks of a communicator on one node all see: one array of every rank. It has no name left in the
/// system once it is made, so that nothing stays behind when a program is killed.
class SharedMemory {
 public:
  /// Collective: `bytes` for every rank, zeroed. Null, on every rank, where the ranks do not share a node or the system
  /// has no room.
  static std::unique_ptr<SharedMemory> make(const Comm& comm, std::int64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* of(int rank) const { return arrays_[rank]; }  ///< aligned to pages

 private:
  SharedMemory(int ranks, std::int64_t bytes) : arrays_(static_cast<std::size_t>(ranks), nullptr), bytes_(bytes) {}
  bool open(int rank, const char* name, bool create);
  std::vector<std::byte*> arrays_;
  std::int64_t bytes_;
};

}  // namespace cambium
