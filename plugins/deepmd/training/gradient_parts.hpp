#pragma once
#include <span>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/numerics/aligned_buffer.hpp"
#include "core/parallel/host_threads.hpp"

namespace cambium::deepmd {

/// Gradients computed concurrently by several threads: the first part adds to the given tensors, every other has its
/// own memory; these are added in the order of parts. Tensors are contiguous, in T.
template <class T>
class GradientParts {
 public:
  GradientParts(int parts, std::span<const TensorRef> given) : given_(given.begin(), given.end()) {
    for (const auto& tensor : given_) size_ += tensor.elements();
    others_.resize(parts - 1);
  }

  /// Tensors that part `part` adds to; called by the thread that uses this memory, which is zeroed.
  std::vector<TensorRef> begin(int part) {
    auto out = given_;
    if (part == 0) return out;
    T* next = others_[part - 1].reserve(size_);
    std::fill_n(next, size_, T(0));
    for (auto& tensor : out) {
      tensor.data = next;
      next += tensor.elements();
    }
    return out;
  }

  /// Adds the other parts to the given gradients.
  void add() {
    std::int64_t at = 0;
    for (const auto& tensor : given_) {
      T* const sum = static_cast<T*>(tensor.data);
      constexpr std::int64_t enough = 8192;
      in_shares(tensor.elements(), enough, [&](std::int64_t first, std::int64_t last) {
        for (const auto& other : others_)
          for (std::int64_t k = first; k < last; ++k) sum[k] += other[at + k];
      });
      at += tensor.elements();
    }
  }

 private:
  std::vector<TensorRef> given_;
  std::int64_t size_ = 0;
  std::vector<AlignedBuffer<T>> others_;
};

}  // namespace cambium::deepmd
