#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace cambium {

/// Allocator of arrays with random access: large ones request pages of 2 MiB, with which the TLB covers far more memory
/// than with pages of 4 KiB. Without huge pages nothing changes.
template <class T>
struct HugePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    void* p = ::operator new (bytes, std::align_val_t{alignment(bytes)});
#if defined(MADV_HUGEPAGE)
    if (bytes >= page) madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) { ::operator delete (p, std::align_val_t{alignment(n * sizeof(T))}); }
  template <class U>
  bool operator==(const HugePages<U>&) const {
    return true;
  }

 private:
  static constexpr std::size_t alignment(std::size_t bytes) { return bytes >= page ? page : 64; }
};

}  // namespace cambium
