#include "bench/core/bench_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/core/bench_lowp.hpp"
#include "bench/core/codec_fields.hpp"
#include "core/base/error.hpp"
#include "core/codec/fields/enhanced.hpp"
#include "core/codec/zfp_codec.hpp"

namespace cambium {
namespace bench {
namespace {

using lowp::LossyBound;
using lowp::LossyPredictor;
using Network = lowp::FitSettings::Network;

/// One stream and its decoded values.
struct Coded {
  double ratio = 0.0, psnr = 0.0, worst = 0.0;  ///< worst: largest error over the bound
  lowp::EnhancedReport report;
  double encode_mbs = 0.0, decode_mbs = 0.0;
};

Coded judged(const MeasuredField& f, const std::vector<std::byte>& stream, const std::vector<float>& back,
             double bound) {
  Coded out;
  for (std::size_t k = 0; k < back.size(); ++k)
    out.worst = std::max(out.worst, std::abs(static_cast<double>(f.values[k]) - back[k]) / bound);
  out.ratio = 4.0 * static_cast<double>(back.size()) / static_cast<double>(stream.size());
  out.psnr = lowp::psnr<float>(f.values, back);
  return out;
}

Coded plain(const MeasuredField& f, LossyBound bound, LossyPredictor predictor, int repeats) {
  const double megabytes = 4e-6 * static_cast<double>(f.values.size());
  std::vector<std::byte> stream;
  std::vector<float> back(f.values.size());
  const double in =
      least_seconds(repeats, [&] { stream = lowp::lossy_encode<float>(f.values, f.shape, bound, predictor); });
  const double from = least_seconds(repeats, [&] { lowp::lossy_decode<float>(stream, back); });
  auto out = judged(f, stream, back, lowp::lossy_info(stream).bound);
  out.encode_mbs = megabytes / in;
  out.decode_mbs = megabytes / from;
  return out;
}

Coded learned(const MeasuredField& f, LossyBound bound, Network network, double seconds, int repeats) {
  const double megabytes = 4e-6 * static_cast<double>(f.values.size());
  lowp::EnhancedCoding coding;
  coding.fit.network = network;
  coding.fit.seconds = seconds;
  lowp::EnhancedReport report;
  std::vector<float> back(f.values.size());
  std::vector<std::byte> stream;
  const double in = least_seconds(1, [&] {
    stream = lowp::enhanced_encode<float>(f.values, f.shape, bound, LossyPredictor::automatic, coding, {}, report);
  });
  const bool enhanced = lowp::is_enhanced(stream);
  const double from = least_seconds(repeats, [&] {
    enhanced ? lowp::enhanced_decode<float>(stream, back) : lowp::lossy_decode<float>(stream, back);
  });
  auto out =
      judged(f, stream, back, enhanced ? lowp::enhanced_info(stream).plain.bound : lowp::lossy_info(stream).bound);
  out.report = report;
  out.encode_mbs = megabytes / in;
  out.decode_mbs = megabytes / from;
  return out;
}

/// The best PSNR of a corrected stream that is not longer than the one with this ratio.
double psnr_at_ratio(const MeasuredField& f, double bound, double ratio) {
  double low = 0.5 * bound, high = 2.0 * bound, best = 0.0;
  constexpr int trials = 8;
  for (int k = 0; k < trials; ++k) {
    const double middle = std::sqrt(low * high);
    const auto c = learned(f, {LossyBound::Kind::relative, middle}, Network::linear, 10.0, 1);
    if (c.ratio < ratio) {
      low = middle;
      continue;
    }
    high = middle;
    best = std::max(best, c.psnr);
  }
  return best;
}

/// Sums over all cells: logarithms of ratios over those of baselines.
struct Totals {
  double over_sz3 = 1e300, log_zfp = 0.0, least_zfp = 1e300;
  int cells = 0;
  std::vector<std::string> faults;
};

void cell(const MeasuredField& f, const Baseline& baseline, double seconds, int repeats, nlohmann::json& out,
          Totals& totals, Log& log) {
  const LossyBound bound{LossyBound::Kind::relative, baseline.bound}, as_good{LossyBound::Kind::psnr, baseline.psnr};
  const auto key = fmt::format("{}_1e-{:.0f}", f.key(), -std::log10(baseline.bound));
  const auto p = plain(f, bound, LossyPredictor::automatic, repeats);
  const auto l = learned(f, bound, Network::linear, seconds, repeats);
  const auto n = learned(f, bound, Network::convolution, seconds, 1);
  if (std::max({p.worst, l.worst, n.worst}) > 1.0) totals.faults.push_back(key + " misses its bound");
  out[key + "_ratio"] = p.ratio;
  out[key + "_psnr"] = p.psnr;
  out[key + "_sz3_ratio"] = baseline.ratio;
  out[key + "_sz3_psnr"] = baseline.psnr;
  totals.over_sz3 = std::min(totals.over_sz3, p.ratio / baseline.ratio);
  // In decibels: linear corrections, then networks; as a ratio: the plain stream with an error as small.
  out[key + "_linear_gain_db"] = l.report.kept ? l.report.gain : 0.0;
  out[key + "_network_gain_db"] = n.report.kept ? n.report.gain : 0.0;
  out[key + "_network_kept"] = n.report.kept && n.report.fit.kept_hidden;
  out[key + "_plain_over_learned_bytes"] =
      l.report.kept ? static_cast<double>(l.report.rival_bytes) / static_cast<double>(l.report.bytes) : 1.0;
  out[key + "_learned_ratio"] = l.ratio;
  out[key + "_encode_mbs"] = p.encode_mbs;
  out[key + "_decode_mbs"] = p.decode_mbs;
  out[key + "_learned_encode_mbs"] = l.encode_mbs;
  out[key + "_learned_decode_mbs"] = l.decode_mbs;
  const double same_size = psnr_at_ratio(f, baseline.bound, baseline.ratio) - baseline.psnr;
  out[key + "_over_sz3_at_its_size_db"] = same_size;
  double at_psnr = 0.0, zfp = 0.0, tuned = 0.0;
  if (lowp::has_zfp()) {
    at_psnr = plain(f, as_good, LossyPredictor::automatic, 1).ratio;
    tuned = learned(f, as_good, Network::linear, seconds, 1).ratio;
    zfp = plain(f, as_good, LossyPredictor::zfp, 1).ratio;
    out[key + "_ratio_at_sz3_psnr"] = at_psnr;
    out[key + "_learned_ratio_at_sz3_psnr"] = tuned;
    out[key + "_zfp_ratio_at_sz3_psnr"] = zfp;
    totals.log_zfp += std::log(at_psnr / zfp);
    totals.least_zfp = std::min(totals.least_zfp, at_psnr / zfp);
  }
  ++totals.cells;
  log.info(fmt::format("{:<28}{:>7.0e}{:>9.4g}{:>8.1f}{:>9.4g}{:>8.1f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.4g}{:>9.4g}{:>9.4g}",
                       f.name, baseline.bound, p.ratio, p.psnr, baseline.ratio, baseline.psnr,
                       l.report.kept ? l.report.gain : 0.0, n.report.kept ? n.report.gain : 0.0, same_size, at_psnr,
                       tuned, zfp));
}

nlohmann::json measure(const BenchOptions& options, Context& context) {
  const double seconds = options.number("budget");
  if (!(seconds > 0.0)) throw InputError(fmt::format("bench codec: budget is {}; give seconds above 0", seconds));
  const auto fields = measured_fields();
  if (fields.empty())
    throw InputError("bench codec: there is no fields/fields.h5 in the folder that CAMBIUM_DATA names; set it");
  nlohmann::json out;
  Totals totals;
  auto& log = context.log;
  log.info(
      "dB: of linear corrections, of networks behind them, and over SZ3 with a stream as long; then ratios at SZ3's "
      "PSNR");
  log.info(fmt::format("{:<28}{:>7}{:>9}{:>8}{:>9}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}", "field", "bound", "ratio",
                       "PSNR", "SZ3", "PSNR", "linear", "network", "its size", "ours", "learned", "ZFP"));
  for (const auto& field : fields)
    for (const auto& baseline : field.baselines)
      if (options.text("field") == "all" || field.key() == options.text("field"))
        cell(field, baseline, seconds, options.integer("repeats"), out, totals, log);
  if (totals.cells == 0)
    throw InputError(fmt::format("bench codec: there is no field '{}'; give all or, for example, field={}",
                                 options.text("field"), fields[0].key()));
  out["least_ratio_over_sz3"] = totals.over_sz3;
  if (lowp::has_zfp()) {
    out["mean_ratio_over_zfp_at_equal_psnr"] = std::exp(totals.log_zfp / totals.cells);
    out["least_ratio_over_zfp_at_equal_psnr"] = totals.least_zfp;
  }
  out["check"] = totals.faults.empty() ? "ok: every bound holds" : "FAILED: " + totals.faults[0];
  return out;
}

}  // namespace
}  // namespace bench

Bench bench_codec() {
  return {"codec",
          "error-bounded compression of measured fields, plain and with learned corrections, beside SZ3 and ZFP",
          bench::measure,
          {{"budget", "seconds for fitting the corrections of one field", 10.0},
           {"repeats", "of each timed call; the least counts", 5},
           {"field", "one of them, such as isabel_wind_speed_30, or all", "all"}}};
}

}  // namespace cambium
