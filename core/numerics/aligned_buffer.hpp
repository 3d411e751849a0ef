#pragma once
#include <cstddef>
#include <memory>
#include <new>

namespace cambium {

/// Host memory for kernels that load full registers: aligned to a cache line; only ever grows.
template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t n) { reserve(n); }

  /// Room for n entries; the content is lost when it grows.
  T* reserve(std::size_t n) {
    if (n > size_) {
      data_.reset();
      data_.reset(static_cast<T*>(::operator new(n * sizeof(T), alignment)));
      size_ = n;
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::size_t k) { return data_.get()[k]; }
  const T& operator[](std::size_t k) const { return data_.get()[k]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace cambium
