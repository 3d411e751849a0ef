#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bench/core/bench_lowp.hpp"
#include "core/codec/fields/enhanced.hpp"
#include "core/codec/zfp_codec.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::bench {
namespace {

struct Field {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// A smooth field that needs no file: three waves and a front.
Field made_field() {
  Field f{"made", {96, 96, 96}, {}};
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 96; ++j)
      for (int k = 0; k < 96; ++k)
        f.values.push_back(static_cast<float>(std::sin(0.11 * i + 0.05 * j) * std::cos(0.17 * k) +
                                              0.3 * std::sin(0.6 * j + 0.1 * k) +
                                              std::tanh(0.4 * (i + 0.3 * j - 50 + 5 * std::sin(0.1 * k)))));
  return f;
}

std::vector<Field> fields_of(const std::string& path) {
  std::vector<Field> out{made_field()};
  if (path.empty() || !std::filesystem::exists(path)) return out;
  const auto file = io::File::open(path);
  for (const char* name : {"isabel/wind_speed_30", "viscous_fingers/run01_040", "era_interim/u"}) {
    if (!file.exists(name)) continue;
    const auto set = file.dataset(name);
    const std::string text = name;
    out.push_back({text.substr(0, text.find_first_of("_/")), set.shape(), set.read<std::vector<float>>()});
    auto& f = out.back();
    if (f.shape.size() < 4) continue;
    // For winds, one level of one month, as in published tables: January, 500 hPa.
    const auto plane = f.shape[2] * f.shape[3];
    f.values = std::vector<float>(f.values.begin() + plane, f.values.begin() + 2 * plane);
    f.shape = {f.shape[2], f.shape[3]};
  }
  return out;
}

/// Learned corrections at 1e-3 compared with the plain codec, and ZFP at the plain codec's PSNR.
void beside(const Field& f, double plain_psnr, const std::string& key, nlohmann::json& out) {
  const lowp::LossyBound bound{lowp::LossyBound::Kind::relative, 1e-3};
  const double megabytes = 4e-6 * static_cast<double>(f.values.size());
  lowp::EnhancedReport report;
  std::vector<std::byte> stream;
  std::vector<float> back(f.values.size());
  const double in = least_seconds(1, [&] {
    stream = lowp::enhanced_encode<float>(f.values, f.shape, bound, lowp::LossyPredictor::automatic, {}, {}, report);
  });
  out[key + "_learned"] = report.text();
  out[key + "_learned_ratio"] = 1e6 * megabytes / static_cast<double>(stream.size());
  out[key + "_learned_gain_db"] = report.kept ? report.gain : 0.0;
  out[key + "_learned_encode_mbs"] = megabytes / in;
  if (report.kept)
    out[key + "_learned_decode_mbs"] =
        megabytes / least_seconds(5, [&] { lowp::enhanced_decode<float>(stream, back); });
  if (!lowp::has_zfp()) return;
  const auto baseline = lowp::lossy_encode<float>(f.values, f.shape, {lowp::LossyBound::Kind::psnr, plain_psnr},
                                                  lowp::LossyPredictor::zfp);
  out[key + "_zfp_ratio_at_equal_psnr"] = 1e6 * megabytes / static_cast<double>(baseline.size());
}

/// MB/s that one core reads, and writes as many, in a copy too large for caches.
double memory_mbs() {
  std::vector<float> from(std::size_t{1} << 25, 1.0f), to(from.size());
  const double seconds = least_seconds(5, [&] { std::copy(from.begin(), from.end(), to.begin()); });
  return 4e-6 * static_cast<double>(from.size()) / seconds * (to.back() == 1.0f);
}

}  // namespace

std::string lossy(const std::string& path, nlohmann::json& out) {
  std::string fault;
  double bytes = 0, encode = 0, decode = 0;
  for (const auto& f : fields_of(path)) {
    double low = f.values[0], high = f.values[0];
    for (float v : f.values) {
      low = std::min<double>(low, v);
      high = std::max<double>(high, v);
    }
    for (const auto& [bound, label] : {std::pair{1e-2, "1e-2"}, {1e-3, "1e-3"}, {1e-4, "1e-4"}}) {
      std::vector<std::byte> stream;
      std::vector<float> back(f.values.size());
      const double in = least_seconds(10, [&, bound = bound] {
        stream = lowp::lossy_encode<float>(f.values, f.shape, {lowp::LossyBound::Kind::relative, bound});
      });
      const double from = least_seconds(10, [&] { lowp::lossy_decode<float>(stream, back); });
      double worst = 0, sum = 0;
      for (std::size_t k = 0; k < back.size(); ++k) {
        const double d = std::abs(static_cast<double>(back[k]) - f.values[k]);
        worst = std::max(worst, d);
        sum += d * d;
      }
      if (worst > bound * (high - low)) fault = fmt::format("{} at {} misses its bound", f.name, label);
      const auto key = fmt::format("lossy_{}_{}", f.name, label);
      out[key + "_ratio"] = 4.0 * static_cast<double>(back.size()) / static_cast<double>(stream.size());
      out[key + "_psnr"] = 20 * std::log10((high - low) / std::sqrt(sum / static_cast<double>(back.size())));
      if (bound != 1e-3) continue;
      bytes += 4.0 * static_cast<double>(back.size());
      encode += in;
      decode += from;
      out[key + "_encode_mbs"] = 4e-6 * static_cast<double>(back.size()) / in;
      out[key + "_decode_mbs"] = 4e-6 * static_cast<double>(back.size()) / from;
      beside(f, out[key + "_psnr"].get<double>(), key, out);
    }
  }
  out["lossy_mbs"] = 1e-6 * bytes / encode;
  out["lossy_decode_mbs"] = 1e-6 * bytes / decode;
  const double memory = memory_mbs();
  out["lossy_copy_mbs"] = memory;
  out["lossy_share_of_copy"] = 1e-6 * bytes / encode / memory;
  out["lossy_decode_share_of_copy"] = 1e-6 * bytes / decode / memory;
  return fault;
}

}  // namespace cambium::bench
