#pragma once
#include <cstddef>
#include <functional>

namespace cambium::lowp {

/// work(0), ..., work(n - 1), on up to `threads` threads; the first exception that one of them throws is thrown here
/// when all have ended.
void at_once(int threads, std::size_t n, const std::function<void(std::size_t)>& work);

}  // namespace cambium::lowp
