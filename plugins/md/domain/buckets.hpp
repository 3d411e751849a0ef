#pragma once
#include <cstddef>
#include <string>

#include "core/parallel/kokkos.hpp"

namespace cambium::md {

/// Items by bucket: those of bucket b are member(start(b)) .. member(start(b + 1) - 1).
struct Buckets {
  View<int*> start, member, filled;

  void reserve(int items, int buckets) {
    const auto grow = [](View<int*>& view, const char* label, int size) {
      if (static_cast<int>(view.extent(0)) < size)
        view = View<int*>(Kokkos::ViewAllocateWithoutInitializing(label), static_cast<std::size_t>(size + size / 8));
    };
    grow(start, "buckets: start", buckets + 1);
    grow(filled, "buckets: filled", buckets + 1);
    grow(member, "buckets: member", items);
  }
};

/// Sorts items 0..items-1 into buckets 0..buckets-1 by kernels: `key(i)` is the bucket of an item, `before(i, j)` is
/// true if item i precedes j within a bucket. The result does not depend on the order of threads. For small buckets,
/// which are sorted by insertion; both functors are called in kernels.
template <class Key, class Before>
void fill_buckets(Buckets& out, int items, int buckets, const Key& key, const Before& before) {
  out.reserve(items, buckets);
  const auto start = out.start, member = out.member, filled = out.filled;
  Kokkos::deep_copy(filled, 0);
  Kokkos::parallel_for(
      "buckets: count", Range(0, items), KOKKOS_LAMBDA(const int i) { Kokkos::atomic_fetch_add(&filled(key(i)), 1); });
  Kokkos::parallel_scan(
      "buckets: starts", Range(0, buckets + 1), KOKKOS_LAMBDA(const int b, int& sum, const bool last) {
        const int mine = filled(b);
        if (last) {
          start(b) = sum;
          filled(b) = 0;
        }
        sum += mine;
      });
  Kokkos::parallel_for(
      "buckets: place", Range(0, items), KOKKOS_LAMBDA(const int i) {
        const int b = key(i);
        member(start(b) + Kokkos::atomic_fetch_add(&filled(b), 1)) = i;
      });
  Kokkos::parallel_for(
      "buckets: sort", Range(0, buckets), KOKKOS_LAMBDA(const int b) {
        for (int k = start(b) + 1; k < start(b + 1); ++k) {
          const int item = member(k);
          int at = k;
          for (; at > start(b) && before(item, member(at - 1)); --at) member(at) = member(at - 1);
          member(at) = item;
        }
      });
}

/// Order by item index, for fill_buckets().
struct ByNumber {
  KOKKOS_INLINE_FUNCTION bool operator()(int i, int j) const { return i < j; }
};

}  // namespace cambium::md
