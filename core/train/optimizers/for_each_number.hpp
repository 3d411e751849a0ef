#pragma once
#include <cstddef>

#include "core/parallel/host_threads.hpp"

namespace cambium::train::detail {

/// f(i) for 0..n-1, independent elements of one tensor, on all threads: bitwise identical for any number of threads.
template <class F>
void for_each_number(std::size_t n, F&& f) {
  constexpr std::int64_t enough = 8192;
  in_shares(static_cast<std::int64_t>(n), enough, [&](std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) f(i);
  });
}

}  // namespace cambium::train::detail
