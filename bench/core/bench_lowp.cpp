#include "bench/core/bench_lowp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {
namespace bench {

static double core_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::pair<double, double> least_seconds(int repeats, const std::function<void()>& one,
                                        const std::function<void()>& other) {
  double a = 1e300, b = 1e300;
  for (int k = 0; k < repeats; ++k) {
    const double begin = core_seconds();
    one();
    const double middle = core_seconds();
    other();
    a = std::min(a, middle - begin);
    b = std::min(b, core_seconds() - middle);
  }
  return {a, b};
}

double least_seconds(int repeats, const std::function<void()>& call) {
  return least_seconds(repeats, call, [] {}).first;
}

}  // namespace bench

static nlohmann::json measure_lowp(const BenchOptions& options, Context& context) {
  const int size = options.integer("size");
  const std::string& part = options.text("part");
  std::string file = options.text("fields");
  if (const char* data = std::getenv("CAMBIUM_DATA"); data && file.empty())
    file = std::string(data) + "/fields/fields.h5";
  if (size < 64 || size > 16384) throw InputError(fmt::format("bench lowp: size is {}; give 64 to 16384", size));
  nlohmann::json out;
  std::vector<std::string> faults;
  auto run = [&](const char* name, const std::function<std::string(nlohmann::json&)>& measure) {
    if (part != "all" && part != name) return;
    context.log.info(fmt::format("measuring {}", name));
    if (auto fault = measure(out); !fault.empty()) faults.push_back(fault);
  };
  run("infer", [&](auto& json) { return bench::infer(size, json); });
  run("wire", [&](auto& json) { return bench::wire(json); });
  run("lossy", [&](auto& json) { return bench::lossy(file, json); });
  out["check"] = faults.empty() ? "ok: products agree with double precision, every bound holds"
                                : fmt::format("FAILED: {}", fmt::join(faults, "; "));
  return out;
}

Bench bench_lowp() {
  return {
      "lowp",
      "low-precision kernels: lossy codec, few-bit products beside their peers, codecs of messages",
      measure_lowp,
      {{"part", "what is measured", "all", {"all", "infer", "lossy", "wire"}},
       {"size", "rows and columns of the few-bit matrices", 4096},
       {"fields", "HDF5 file of fields for the lossy codec; fields/fields.h5 in CAMBIUM_DATA when none is given", ""}}};
}

}  // namespace cambium
