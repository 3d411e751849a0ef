#include "core/train/reduce/shared_sum.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/parallel/spin_wait.hpp"
#include "core/train/reduce/add_in_order.hpp"

namespace cambium::train {

constexpr std::int64_t line = 64;  // bytes of a cache line

std::int64_t SharedSum::counters_bytes(const FlatLayout& layout) {
  const auto bytes = static_cast<std::int64_t>((1 + 2 * layout.tensors().size()) * sizeof(Counter));
  return (bytes + line - 1) / line * line;
}

std::unique_ptr<SharedSum> SharedSum::make(const Comm& comm, const FlatLayout& layout, DType dtype) {
  auto memory = SharedMemory::make(comm, counters_bytes(layout) + layout.size() * size_of(dtype));
  if (!memory) return nullptr;
  return std::unique_ptr<SharedSum>(new SharedSum(comm, layout, dtype, std::move(memory)));
}

SharedSum::SharedSum(const Comm& comm, const FlatLayout& layout, DType dtype, std::unique_ptr<SharedMemory> memory)
    : comm_(comm), layout_(layout), dtype_(dtype), memory_(std::move(memory)) {
  static_assert(Counter::is_always_lock_free);
  for (std::size_t k = 0; k < 1 + 2 * layout.tensors().size(); ++k) new (counters(comm.rank()) + k) Counter(0);
  comm.barrier();
}

FlatBuffer SharedSum::buffer() const { return FlatBuffer::on(layout_, dtype_, values(comm_.rank())); }

bool SharedSum::holds(const FlatBuffer& gradients) const {
  bool same = false;
  with_real(dtype_, [&]<class T>() {
    same = gradients.dtype() == dtype_ &&
           reinterpret_cast<const std::byte*>(gradients.values<T>().data()) == values(comm_.rank());
  });
  return same;
}

/// True if counter(rank) has reached this sum on every other rank; their previous writes are then visible here.
template <class F>
bool SharedSum::everyone(F&& counter) const {
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (rank != comm_.rank() && counter(rank).load(std::memory_order_acquire) < number_) return false;
  return true;
}

void SharedSum::begin() {
  spin_wait([&] { return everyone([&](int rank) -> Counter& { return done(rank); }); });
  ++number_;
  adding_.clear();
  taking_.clear();
}

void SharedSum::tensor_final(int tensor) {
  ready(comm_.rank(), tensor).store(number_, std::memory_order_release);
  adding_.push_back(tensor);
  taking_.push_back(tensor);
}

/// Chunks of complete cache lines, as equal as possible.
SharedSum::Part SharedSum::share(int tensor, int rank) const {
  const auto& t = layout_.tensors()[tensor];
  constexpr std::int64_t unit = 16;  // tensors begin at multiples of it
  const std::int64_t units = (t.elements + unit - 1) / unit;
  return {t.offset + units * rank / comm_.size() * unit, t.offset + units * (rank + 1) / comm_.size() * unit};
}

void SharedSum::add_share(int tensor) {
  const Part mine = share(tensor, comm_.rank());
  with_real(dtype_, [&]<class T>() {
    const auto part = [&](int rank) { return reinterpret_cast<T*>(values(rank)) + mine.begin; };
    add_in_order<T>(comm_.size(), mine.end - mine.begin, part, part(comm_.rank()));
  });
}

void SharedSum::take_shares(int tensor) {
  const std::int64_t size = size_of(dtype_);
  for (int rank = 0; rank < comm_.size(); ++rank) {
    if (rank == comm_.rank()) continue;
    const Part part = share(tensor, rank);
    std::memcpy(values(comm_.rank()) + part.begin * size, values(rank) + part.begin * size,
                static_cast<std::size_t>((part.end - part.begin) * size));
  }
}

void SharedSum::advance() {
  std::erase_if(adding_, [&](int k) {
    if (!everyone([&](int rank) -> Counter& { return ready(rank, k); })) return false;
    add_share(k);
    added(comm_.rank(), k).store(number_, std::memory_order_release);
    return true;
  });
  std::erase_if(taking_, [&](int k) {
    // No other rank needs this rank's own values of a chunk once its sum is complete, so they may be overwritten.
    if (std::find(adding_.begin(), adding_.end(), k) != adding_.end()) return false;
    if (!everyone([&](int rank) -> Counter& { return added(rank, k); })) return false;
    take_shares(k);
    return true;
  });
}

void SharedSum::finish() {
  spin_wait([&] {
    advance();
    return taking_.empty();
  });
  done(comm_.rank()).store(number_, std::memory_order_release);
}

}  // namespace cambium::train
