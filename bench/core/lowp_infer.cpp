#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/core/bench_lowp.hpp"
#include "core/lowp/binary_coding.hpp"
#include "core/parallel/random.hpp"

extern "C" {
void sgemv_(const char* trans, const int* m, const int* n, const float* alpha, const float* a, const int* lda,
            const float* x, const int* incx, const float* beta, float* y, const int* incy);
void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc);
}

namespace cambium::bench {
namespace {

std::vector<float> numbers(std::size_t n, std::uint64_t id, double width) {
  std::vector<float> x(n);
  for (std::size_t k = 0; k < n; k += 4) {
    const Random4 r(17, Stream::test, k, id);
    for (std::size_t j = k; j < std::min(n, k + 4); ++j)
      x[j] = static_cast<float>(width * (2 * r.uniform(static_cast<int>(j - k)) - 1));
  }
  return x;
}

/// y = W x for every input of the batch by the faster way of the BLAS: one by one, or as a matrix.
struct Dense {
  const std::vector<float>& w;
  int n;
  void one_by_one(const float* x, int batch, float* y) const {
    const float one = 1, zero = 0;
    const int step = 1;
    for (int k = 0; k < batch; ++k)
      sgemv_("T", &n, &n, &one, w.data(), &n, x + std::size_t(k) * n, &step, &zero, y + std::size_t(k) * n, &step);
  }
  void as_matrix(const float* x, int batch, float* y) const {
    const float one = 1, zero = 0;
    sgemm_("T", "N", &n, &batch, &n, &one, w.data(), &n, x, &n, &zero, y, &n);
  }
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b, std::size_t n) {
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < n; ++k) {
    difference = std::max<double>(difference, std::abs(a[k] - b[k]));
    size = std::max<double>(size, std::abs(b[k]));
  }
  return difference / size;
}

/// One matrix of `bits`, batches 1, 2, 4, ... up to 128: times, ratios and the first batch at which the BLAS is faster.
std::string products(const lowp::BinaryCodedMatrix& m, const std::string& name, int n, nlohmann::json& out) {
  constexpr int most = 128;
  const auto dense = m.dense();
  const Dense blas{dense, n};
  const auto x = numbers(std::size_t(most) * n, 2, 1.0);
  std::vector<float> y(x.size()), z(x.size());
  std::string fault;
  int crossover = 0;
  for (int batch = 1; batch <= most; batch *= 2) {
    const int repeats = std::max(3, 24 / batch);
    const auto [ours, single] = least_seconds(
        repeats, [&] { lowp::multiply(m, x.data(), batch, y.data()); },
        [&] { blas.one_by_one(x.data(), std::min(batch, 8), z.data()); });
    double peer = single * batch / std::min(batch, 8);
    if (batch > 1) peer = std::min(peer, least_seconds(repeats, [&] { blas.as_matrix(x.data(), batch, z.data()); }));
    const auto compared = static_cast<std::size_t>(n) * (batch > 1 ? batch : 1);
    if (const double error = largest_difference(y, z, compared); error > 1e-5)
      fault = fmt::format("{} differs from the BLAS by {:.1e}", name, error);
    out[fmt::format("{}_ratio_b{}", name, batch)] = peer / ours;
    if (batch == 1) {
      out[name + "_ms"] = 1e3 * ours;
      out[name + "_sgemv_ms"] = 1e3 * peer;
    }
    if (crossover == 0 && peer < ours) crossover = batch;
  }
  out[name + "_crossover_batch"] = crossover ? fmt::format("{}", crossover) : fmt::format("above {}", most);
  out[name + "_bits_per_weight"] = 8.0 * static_cast<double>(m.bytes()) / (static_cast<double>(n) * n);
  return fault;
}

}  // namespace

std::string infer(int size, nlohmann::json& out) {
  const auto count = static_cast<std::size_t>(size) * size;
  const auto w = numbers(count, 1, 1.0);
  std::string fault;
  auto note = [&](std::string found) {
    if (!found.empty()) fault += fault.empty() ? found : "; " + found;
  };
  for (int bits : {1, 2, 3})
    note(products(lowp::binary_coded(w, size, size, bits, 0), fmt::format("biqgemm_{}_q{}", size, bits), size, out));
  note(products(lowp::ternary_coded(w, size, size), fmt::format("ternary_{}", size), size, out));
  out[fmt::format("biqgemm_ratio_{}", size)] = out[fmt::format("biqgemm_{}_q1_ratio_b1", size)];
  return fault;
}

}  // namespace cambium::bench
