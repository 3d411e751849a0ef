#pragma once
#include <algorithm>
#include <cstdint>

namespace cambium::train {

/// out = ((part(0) + part(1)) + part(2)) + ... of n values each, block by block; a part may be `out`.
template <class T, class F>
void add_in_order(int parts, std::int64_t n, F&& part, T* out) {
  constexpr std::int64_t block = 1024;
  T sum[block];
  for (std::int64_t from = 0; from < n; from += block) {
    const std::int64_t count = std::min(block, n - from);
    std::copy_n(part(0) + from, count, sum);
    for (int k = 1; k < parts; ++k) {
      const T* other = part(k) + from;
      for (std::int64_t i = 0; i < count; ++i) sum[i] += other[i];
    }
    std::copy_n(sum, count, out + from);
  }
}

}  // namespace cambium::train
