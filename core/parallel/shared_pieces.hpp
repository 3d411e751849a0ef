#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/parallel/shared_memory.hpp"

namespace cambium {

/// Arrays that each rank of a node publishes to the others repeatedly: a gather or neighbour exchange without messages.
/// Small pieces arrive within a microsecond, whereas a message beyond MPI's eager limit takes a handshake.
///
/// Every exchange: write `mine()`, `start()`, read `of(rank)` of any ranks before the next `start()`. All ranks take
/// part in all.
class SharedPieces {
 public:
  /// Collective: `count` values per rank. Null, on every rank, if SharedMemory is.
  static std::unique_ptr<SharedPieces> make(const Comm& comm, std::int64_t count);

  /// Buffer for this rank's piece of the next exchange. Waits for ranks that have not started the last one: they may
  /// still read it.
  double* mine();
  void start();
  /// Waits for the piece of `rank`.
  const double* of(int rank) const;

 private:
  using Counter = std::atomic<std::int64_t>;
  SharedPieces(const Comm& comm, std::int64_t count, std::unique_ptr<SharedMemory> memory);
  Counter& started(int rank) const { return *reinterpret_cast<Counter*>(memory_->of(rank)); }
  double* piece(int rank) const;

  int rank_, ranks_;
  std::int64_t count_;
  std::int64_t number_ = 0;  ///< exchanges begun by this rank
  std::unique_ptr<SharedMemory>
      memory_;  ///< of a rank: a line with its counter, then pieces of odd and of even exchanges
};

}  // namespace cambium
