// Products of the dense helpers: against plain loops, shared out among threads, counted in a profile.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/recorder.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/random.hpp"
#include "plugins/podlstm/pod/dense.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::podlstm;

static std::vector<float> some_numbers(std::int64_t n, std::uint64_t which) {
  std::vector<float> out;
  for (std::int64_t k = 0; k < n; ++k)
    out.push_back(static_cast<float>(Random4(which, Stream::test, 0, static_cast<std::uint64_t>(k)).normal(0)));
  return out;
}

TEST_CASE("products are those of plain loops on any number of threads, and a profile counts them") {
  constexpr std::int64_t m = 150, n = 96, k = 64;  // enough for three threads
  const auto a = some_numbers(m * k, 1), b = some_numbers(k * n, 2), before = some_numbers(m * n, 3);
  for (const Op op_a : {Op::none, Op::transposed})
    for (const Op op_b : {Op::none, Op::transposed})
      for (const int threads : {1, 3}) {
        const AsIfThreads as_if(threads);
        auto c = before;
        Recorder profile(0);
        profile.begin();
        multiply(op_a, op_b, m, n, k, a.data(), op_a == Op::none ? k : m, b.data(), op_b == Op::none ? n : k, 0.5f,
                 c.data(), n);
        profile.end();
        double flops = 0.0, worst = 0.0;
        for (const auto& row : profile.rows()) flops += row.flops;
        CHECK(flops == 2.0 * m * n * k);
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0.5 * static_cast<double>(before[i * n + j]);
            for (std::int64_t p = 0; p < k; ++p)
              sum += static_cast<double>(a[static_cast<std::size_t>(op_a == Op::none ? i * k + p : p * m + i)]) *
                     static_cast<double>(b[static_cast<std::size_t>(op_b == Op::none ? p * n + j : j * k + p)]);
            worst = std::max(worst, std::abs(sum - static_cast<double>(c[i * n + j])));
          }
        CHECK(worst < 1e-4);
      }
}
