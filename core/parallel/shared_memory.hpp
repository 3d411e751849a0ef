#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium {

/// Memory shared by the ranks of a communicator on one node: one array per rank. Its name is unlinked once it is
/// created, so nothing remains if a program is killed.
class SharedMemory {
 public:
  /// Collective: `bytes` per rank, zeroed. Null, on every rank, if the ranks do not share a node or the system has no
  /// room.
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
