#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace cambium {

/// Threads of this rank for host code: OMP_NUM_THREADS if Kokkos has OpenMP, else 1.
int host_threads();

/// During its lifetime host_threads() returns `threads`, so that work is split for that many, whatever the back end;
/// missing threads are run in turns. For tests.
class AsIfThreads {
 public:
  explicit AsIfThreads(int threads);
  ~AsIfThreads();
  AsIfThreads(const AsIfThreads&) = delete;
  AsIfThreads& operator=(const AsIfThreads&) = delete;

 private:
  int before_;
};

/// work(0), ..., work(parts - 1), concurrently on those threads; returns when all have ended. Sequential, in this
/// order, if there is one thread, inside a kernel, and while another call is active: calls may nest and may come from
/// any thread. `work` starts no kernel. The exception of the first part that threw one is rethrown here.
void on_threads(int parts, const std::function<void(int part)>& work);

/// How many of up to `most` parts of 0..n-1 have `least` of its members or more; 1 at least.
inline int thread_shares(std::int64_t n, std::int64_t least, int most = host_threads()) {
  return static_cast<int>(std::clamp<std::int64_t>(n / std::max<std::int64_t>(least, 1), 1, most));
}

/// f(part, first, last) for ranges that partition 0..n-1, one per thread, none shorter than `least` if there are
/// several. Ranges begin at multiples of 16, so that no two threads write to one cache line. Returns the number of
/// parts.
template <class F>
int in_parts(std::int64_t n, std::int64_t least, F&& f) {
  constexpr std::int64_t unit = 16;
  const int parts = thread_shares(n, std::max(least, unit));
  const auto begin = [&](int part) { return part == parts ? n : n * part / parts / unit * unit; };
  if (parts == 1)
    f(0, std::int64_t{0}, n);
  else
    on_threads(parts, [&](int part) { f(part, begin(part), begin(part + 1)); });
  return parts;
}

/// The same for work(first, last).
template <class F>
void in_shares(std::int64_t n, std::int64_t least, F&& work) {
  in_parts(n, least, [&](int, std::int64_t first, std::int64_t last) { work(first, last); });
}

/// Concatenation, in the order of ranges, of the lists that f(first, last, list) fills for each range.
template <class T, class F>
std::vector<T> joined_lists(std::int64_t n, std::int64_t least, F&& f) {
  std::vector<std::vector<T>> lists(host_threads());
  const int parts =
      in_parts(n, least, [&](int part, std::int64_t first, std::int64_t last) { f(first, last, lists[part]); });
  for (int part = 1; part < parts; ++part) lists[0].insert(lists[0].end(), lists[part].begin(), lists[part].end());
  return std::move(lists[0]);
}

}  // namespace cambium
