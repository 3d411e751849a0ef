#include "apps/cambium/profile/bench_peaks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/cambium/profile/kernels.hpp"
#include "apps/cambium/profile/peaks.hpp"
#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium {

namespace {

/// oneDNN's product of float matrices, through its C interface (dnnl.h), loaded at run time on request: not a build
/// dependency.
class OneDnn {
 public:
  OneDnn() {
    for (const char* name : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"})
      if (!library_) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library_) return;
    product_ = reinterpret_cast<Product>(dlsym(library_, "dnnl_sgemm"));
    const auto version = reinterpret_cast<const Version* (*)()>(dlsym(library_, "dnnl_version"));
    if (version) name_ = fmt::format("oneDNN {}.{}.{}", version()->major, version()->minor, version()->patch);
  }
  explicit operator bool() const { return product_ != nullptr; }
  const std::string& name() const { return name_; }

  /// c = a b, row-major, n x n.
  bool multiply(std::int64_t n, const float* a, const float* b, float* c) const {
    return product_('N', 'N', n, n, n, 1.0F, a, n, b, n, 0.0F, c, n) == 0;
  }

 private:
  struct Version {
    int major, minor, patch;
  };
  using Product = int (*)(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t,
                          const float*, std::int64_t, float, float*, std::int64_t);
  void* library_ = nullptr;
  Product product_ = nullptr;
  std::string name_ = "oneDNN";
};

struct Turns {
  double own = 0.0, other = 0.0;  ///< flops/s, the best of the turns
  double difference = 0.0;        ///< of the results, over their largest
};

Turns in_turns(const OneDnn& peer, int n, int turns) {
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<float> a(size), b(size), c(size), d(size);
  for (std::size_t k = 0; k < size; ++k) {
    a[k] = std::sin(static_cast<float>(k));
    b[k] = std::cos(0.7F * static_cast<float>(k));
  }
  const double flops = 2.0 * n * n * n;
  Turns out;
  for (int turn = 0; turn < turns; ++turn) {
    double start = wall_seconds();
    host_gemm<float>(false, false, n, n, n, 1.0F, a.data(), n, b.data(), n, 0.0F, c.data(), n);
    out.own = std::max(out.own, flops / (wall_seconds() - start));
    if (!peer) continue;
    start = wall_seconds();
    if (!peer.multiply(n, a.data(), b.data(), d.data())) continue;
    out.other = std::max(out.other, flops / (wall_seconds() - start));
  }
  float largest = 0.0F, worst = 0.0F;
  for (std::size_t k = 0; k < size; ++k) {
    largest = std::max(largest, std::abs(c[k]));
    worst = std::max(worst, std::abs(c[k] - d[k]));
  }
  out.difference = static_cast<double>(worst / largest);
  return out;
}

int within(const BenchOptions& options, const char* name, int least, int most) {
  const int value = options.integer(name);
  if (value < least || value > most)
    throw InputError(fmt::format("bench peaks: {} is {}; give a number from {} to {}", name, value, least, most));
  return value;
}

nlohmann::json measure(const BenchOptions& options, Context& context) {
  const int n = within(options, "rows", 16, 16384), turns = within(options, "turns", 1, 1000);
  const OneDnn peer;
  const Turns found = in_turns(peer, n, turns);
  nlohmann::json out{{"matrix_float_peak_gflops", 1e-9 * found.own},
                     {"matrix_double_peak_gflops", 1e-9 * gemm_rate<double>(n, turns)},
                     {"vector_double_peak_gflops", 1e-9 * vector_rate<double>()},
                     {"vector_float_peak_gflops", 1e-9 * vector_rate<float>()},
                     {"memory_peak_gbs", 1e-9 * triad_rate(turns)},
                     {"rows", n},
                     {"turns", turns}};
  if (!peer || found.other == 0.0) {
    out["check"] =
        peer ? "no reference: oneDNN would not multiply" : "no reference: oneDNN is not installed (Debian: libdnnl2)";
    return out;
  }
  out["peer_gflops"] = 1e-9 * found.other;
  out["peer"] = peer.name();
  out["over_peer_ratio"] = found.own / found.other;
  out["check"] = fmt::format("{}: the products differ by {:.1e} of their largest value",
                             found.difference < 1e-5 ? "ok" : "failed", found.difference);
  context.log.info(
      fmt::format("matrix peak {:.1f} Gflop/s, {} {:.1f}", 1e-9 * found.own, peer.name(), 1e-9 * found.other));
  return out;
}

}  // namespace

Bench bench_peaks() {
  return {
      "peaks",
      "the roofline peaks that a profile compares with (products, multiply-adds, memory), and oneDNN's product",
      measure,
      {{"rows", "of the square matrices", std::int64_t{1024}}, {"turns", "of each; the best counts", std::int64_t{8}}}};
}

}  // namespace cambium
