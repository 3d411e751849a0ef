#pragma once
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace cambium::tasks {

/// Memory pool for short-lived values: returned memory is reused for the next value of the same size, rounded up to a
/// power of two. Aligned to 64 bytes.
class ValuePool {
 public:
  ValuePool() = default;  ///< grows as it must
  /// Within this memory, aligned to 64 bytes.
  ValuePool(std::byte* memory, std::size_t bytes) : next_(memory), left_(bytes), fixed_(true) {}

  /// Null when the memory that it was given is used up.
  std::byte* take(std::size_t bytes);
  void give(std::byte* value, std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::array<std::vector<std::byte*>, 64> unused_;  ///< by the logarithm of their size
  std::vector<std::unique_ptr<std::byte, Free>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  bool fixed_ = false;
};

}  // namespace cambium::tasks
