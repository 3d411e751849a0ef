#include "core/parallel/shared_pieces.hpp"

#include <new>

#include "core/parallel/spin_wait.hpp"

namespace cambium {

constexpr std::int64_t line = 64;  // bytes of a cache line

static std::int64_t bytes_of(std::int64_t count) {
  return (count * static_cast<std::int64_t>(sizeof(double)) + line - 1) / line * line;
}

std::unique_ptr<SharedPieces> SharedPieces::make(const Comm& comm, std::int64_t count) {
  auto memory = SharedMemory::make(comm, line + 2 * bytes_of(count));
  if (!memory) return nullptr;
  std::unique_ptr<SharedPieces> out(new SharedPieces(comm, count, std::move(memory)));
  comm.barrier();  // all counters exist before any is read
  return out;
}

SharedPieces::SharedPieces(const Comm& comm, std::int64_t count, std::unique_ptr<SharedMemory> memory)
    : rank_(comm.rank()), ranks_(comm.size()), count_(count), memory_(std::move(memory)) {
  static_assert(Counter::is_always_lock_free);
  new (memory_->of(rank_)) Counter(0);
}

double* SharedPieces::piece(int rank) const {
  return reinterpret_cast<double*>(memory_->of(rank) + line + number_ % 2 * bytes_of(count_));
}

double* SharedPieces::mine() {
  // A rank that has started the last exchange has read all of the one before it, whose buffer is reused here.
  for (int rank = 0; rank < ranks_; ++rank)
    spin_wait([&] { return started(rank).load(std::memory_order_acquire) >= number_; });
  ++number_;
  return piece(rank_);
}

void SharedPieces::start() { started(rank_).store(number_, std::memory_order_release); }

const double* SharedPieces::of(int rank) const {
  spin_wait([&] { return started(rank).load(std::memory_order_acquire) >= number_; });
  return piece(rank);
}

}  // namespace cambium
