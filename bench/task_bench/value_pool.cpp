#include "bench/task_bench/value_pool.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace cambium::tasks {

static std::size_t size_class(std::size_t bytes) {
  constexpr std::size_t least = 64;
  return static_cast<std::size_t>(std::bit_width(std::max(bytes, least) - 1));
}

std::byte* ValuePool::take(std::size_t bytes) {
  const std::size_t size = size_class(bytes), rounded = std::size_t{1} << size;
  auto& unused = unused_[size];
  if (!unused.empty()) {
    std::byte* const value = unused.back();
    unused.pop_back();
    return value;
  }
  if (left_ < rounded) {
    if (fixed_) return nullptr;
    constexpr std::size_t chunk = std::size_t{1} << 18;
    left_ = std::max(chunk, rounded);
    next_ = static_cast<std::byte*>(std::aligned_alloc(64, left_));
    if (!next_) throw std::bad_alloc();
    chunks_.emplace_back(next_);
  }
  std::byte* const value = next_;
  next_ += rounded;
  left_ -= rounded;
  return value;
}

void ValuePool::give(std::byte* value, std::size_t bytes) { unused_[size_class(bytes)].push_back(value); }

}  // namespace cambium::tasks
