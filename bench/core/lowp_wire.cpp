#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "bench/core/bench_lowp.hpp"
#include "core/lowp/bfloat16.hpp"
#include "core/lowp/groups.hpp"
#include "core/lowp/hadamard.hpp"
#include "core/parallel/random.hpp"

namespace cambium::bench {
namespace {

constexpr std::size_t count = std::size_t{1} << 20;

/// Speeds in GB of float32 per second, and the bandwidth of a link below which sending the shorter message and coding
/// it takes less time than sending float32.
void report(const std::string& name, double bits, double encode, double decode, nlohmann::json& out) {
  const double bytes = 4.0 * count;
  out[name + "_encode_gbs"] = 1e-9 * bytes / encode;
  out[name + "_decode_gbs"] = 1e-9 * bytes / decode;
  out[name + "_gbs"] = 1e-9 * bytes / (encode + decode);
  out[name + "_bits"] = bits;
  out[name + "_pays_below_gbs"] = 1e-9 * bytes * (1 - bits / 32) / (encode + decode);
}

}  // namespace

std::string wire(nlohmann::json& out) {
  std::vector<float> x(count), y(count);
  for (std::size_t k = 0; k < count; ++k) x[k] = static_cast<float>(Random4(18, Stream::test, k, 0).normal(0));
  std::string fault;
  for (const auto& [name, format, hadamard] : {std::tuple{"int8", lowp::int8_groups, false},
                                               {"int4_hadamard", lowp::int4_groups, true},
                                               {"int4", lowp::int4_differences, false}}) {
    std::vector<std::byte> message(format.bytes(count));
    auto work = x;
    const double in = least_seconds(20, [&, format = format, hadamard = hadamard] {
      std::memcpy(work.data(), x.data(), 4 * count);
      if (hadamard) lowp::randomised_hadamard(work);
      lowp::encode_groups(format, work, {1, 2, 3, 0}, message);
    });
    const double from = least_seconds(20, [&, format = format, hadamard = hadamard] {
      lowp::decode_groups(format, message, y);
      if (hadamard) lowp::inverse_randomised_hadamard(y);
    });
    double error = 0, size = 0;
    for (std::size_t k = 0; k < count; ++k) {
      error += std::pow(double(x[k]) - y[k], 2);
      size += std::pow(x[k], 2);
    }
    out[std::string(name) + "_relative_error"] = std::sqrt(error / size);
    if (std::sqrt(error / size) > (format.bits == 8 ? 0.01 : 0.22))
      fault = fmt::format("{} loses {:.2g}", name, std::sqrt(error / size));
    report(name, format.bits_per_number(), in, from, out);
  }
  std::vector<std::uint16_t> half(count);
  report("bf16", 16, least_seconds(20, [&] { lowp::encode_bfloat16(x, half); }),
         least_seconds(20, [&] { lowp::decode_bfloat16(half, y); }), out);
  return fault;
}

}  // namespace cambium::bench
