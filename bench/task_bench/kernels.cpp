#include "bench/task_bench/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/pack.hpp"
#include "core/numerics/gemm.hpp"
#include "core/parallel/random.hpp"

namespace cambium::task_bench {

std::span<const KernelName> kernel_names() {
  static constexpr std::array<KernelName, 7> names{{{"empty", KernelKind::empty},
                                                    {"busy_wait", KernelKind::busy_wait},
                                                    {"compute_bound", KernelKind::compute_bound},
                                                    {"memory_bound", KernelKind::memory_bound},
                                                    {"load_imbalance", KernelKind::load_imbalance},
                                                    {"dgemm", KernelKind::dgemm},
                                                    {"daxpy", KernelKind::daxpy}}};
  return names;
}

std::int64_t Kernel::iterations_of(std::int64_t graph, std::int64_t step, std::int64_t point) const {
  if (kind != KernelKind::load_imbalance) return iterations;
  const Random4 random(static_cast<std::uint64_t>(graph), Stream::test, static_cast<std::uint64_t>(point),
                       static_cast<std::uint64_t>(step));
  return std::llround(static_cast<double>(iterations) * (1.0 + (random.uniform(1) - 0.5) * imbalance));
}

static int edge_of(const Kernel& kernel) {
  return static_cast<int>(std::sqrt(static_cast<double>(kernel.scratch) / (3 * sizeof(double))));
}

double Kernel::flops_of(std::int64_t n) const {
  const auto count = static_cast<double>(n);
  if (kind == KernelKind::compute_bound || kind == KernelKind::load_imbalance) return 128.0 * count + 64.0;
  if (kind == KernelKind::dgemm) return 2.0 * std::pow(edge_of(*this), 3.0) * count;
  if (kind == KernelKind::daxpy) return static_cast<double>(scratch / 16) * 2.0 * count;
  return 0.0;
}

double Kernel::bytes_of(std::int64_t n) const {
  if (kind != KernelKind::memory_bound) return 0.0;
  return static_cast<double>(scratch) * static_cast<double>(n) / static_cast<double>(samples);
}

namespace {

/// 64 values in registers, A = A A + A, then their sum.
double compute(std::int64_t iterations) {
  using P = Pack<double, native_width<double>>;
  constexpr int packs = 64 / P::width;
  P a[packs];
  for (int k = 0; k < packs; ++k) a[k] = P(1e-3 * (k + 1));
  for (std::int64_t i = 0; i < iterations; ++i)
    for (int k = 0; k < packs; ++k) a[k] = a[k] * a[k] + a[k];
  P sum = a[0];
  for (int k = 1; k < packs; ++k) sum += a[k];
  double out = 0.0;
  for (int k = 0; k < P::width; ++k) out += sum[k];
  return out;
}

double wait_busily(std::int64_t iterations) {
  std::uint64_t value = 113;
  for (std::int64_t i = 0; i < iterations; ++i) value = value * 139 % 2147483647;  // each waits for the one before
  return static_cast<double>(value);
}

/// Copies a part of the first half of the scratch to the second in each iteration, the parts in turn.
double copy(const Kernel& kernel, std::int64_t iterations, Scratch& scratch) {
  const std::size_t half = scratch.values.size() / 2;
  const std::size_t part = std::max<std::size_t>(1, half / static_cast<std::size_t>(kernel.samples));
  for (std::int64_t i = 0; i < iterations && half > 0; ++i) {
    const std::size_t first = static_cast<std::size_t>(i % kernel.samples) * part % (half - part + 1);
    std::memcpy(scratch.values.data() + half + first, scratch.values.data() + first, part * sizeof(double));
  }
  return half > 0 ? scratch.values[half] : 0.0;
}

double multiply(const Kernel& kernel, std::int64_t iterations, Scratch& scratch) {
  const int n = edge_of(kernel);
  double* const a = scratch.values.data();
  const std::ptrdiff_t square = static_cast<std::ptrdiff_t>(n) * n;
  for (std::int64_t i = 0; i < iterations && n > 0; ++i)
    host_gemm(false, false, n, n, n, 1.0, a, n, a + square, n, 0.0, a + 2 * square, n);
  return n > 0 ? a[2 * square] : 0.0;
}

double scale_and_add(std::int64_t iterations, Scratch& scratch) {
  const std::size_t half = scratch.values.size() / 2;
  const double* const x = scratch.values.data();
  double* const y = scratch.values.data() + half;
  for (std::int64_t i = 0; i < iterations; ++i)
    for (std::size_t k = 0; k < half; ++k) y[k] += 1e-9 * x[k];
  return half > 0 ? y[0] : 0.0;
}

}  // namespace

double execute(const Kernel& kernel, std::int64_t iterations, Scratch& scratch) {
  const auto numbers = static_cast<std::size_t>(kernel.scratch) / sizeof(double);
  if (scratch.values.size() < numbers) scratch.values.assign(numbers, 1.0);
  switch (kernel.kind) {
    case KernelKind::empty:
      return 0.0;
    case KernelKind::busy_wait:
      return wait_busily(iterations);
    case KernelKind::compute_bound:
    case KernelKind::load_imbalance:
      return compute(iterations);
    case KernelKind::memory_bound:
      return copy(kernel, iterations, scratch);
    case KernelKind::dgemm:
      return multiply(kernel, iterations, scratch);
    case KernelKind::daxpy:
      return scale_and_add(iterations, scratch);
  }
  return 0.0;
}

}  // namespace cambium::task_bench
