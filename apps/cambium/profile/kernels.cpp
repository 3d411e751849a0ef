#include "apps/cambium/profile/kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/pack.hpp"
#include "core/base/timing.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/width.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

template <class T>
double one_gemm_rate(int n) {
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<T> a(size, T(0.5)), b(size, T(0.25)), c(size);
  const double start = wall_seconds();
  host_gemm<T>(false, false, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
  return 2.0 * n * n * n / (wall_seconds() - start);
}
template double one_gemm_rate<double>(int);
template double one_gemm_rate<float>(int);

template <class T>
double vector_rate() {
  using P = Pack<T, native_width<T>>;
  constexpr int chains = 10;  // two units, each with a latency of four or five
  constexpr int rounds = 1000000;
  P sums[chains];
  for (int k = 0; k < chains; ++k) sums[k] = P(T(k));
  const P factor(T(0.999)), term(T(0.001));
  const double start = wall_seconds();
  for (int round = 0; round < rounds; ++round)
    for (int k = 0; k < chains; ++k) sums[k] = fma(sums[k], factor, term);
  const double seconds = wall_seconds() - start;
  P all = sums[0];
  for (int k = 1; k < chains; ++k) all = all + sums[k];
  volatile T kept = all[0];  // or nothing would be computed
  (void)kept;
  return 2.0 * chains * rounds * native_width<T> / seconds;
}
template double vector_rate<double>();
template double vector_rate<float>();

double triad_rate(int turns) {
  constexpr std::int64_t n = std::int64_t{1} << 23;
  using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;
  const Doubles a("triad: a", n), b("triad: b", n), c("triad: c", n);
  double* const to = a.data();
  const double *const x = b.data(), *const y = c.data();
  double most = 0.0;
  for (int turn = 0; turn < turns; ++turn) {
    const double start = wall_seconds();
    Kokkos::parallel_for("triad", Kokkos::RangePolicy<HostExec, Kokkos::IndexType<std::int64_t>>(0, n),
                         [=](const std::int64_t i) { to[i] = x[i] + 0.5 * y[i]; });
    Kokkos::fence();
    most = std::max(most, 24.0 * static_cast<double>(n) / (wall_seconds() - start));
  }
  return most;
}

}  // namespace cambium
