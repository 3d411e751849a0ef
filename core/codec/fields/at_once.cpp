#include "core/codec/fields/at_once.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cambium::lowp {

void at_once(int threads, std::size_t n, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr problem;
  std::mutex guard;
  auto take = [&] {
    for (std::size_t k = next++; k < n; k = next++) try {
        work(k);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!problem) problem = std::current_exception();
      }
  };
  std::vector<std::thread> others;
  const auto helpers = std::min<std::size_t>(n, static_cast<std::size_t>(std::max(threads, 1)));
  for (std::size_t k = 1; k < helpers; ++k) others.emplace_back(take);
  take();
  for (auto& thread : others) thread.join();
  if (problem) std::rethrow_exception(problem);
}

}  // namespace cambium::lowp
