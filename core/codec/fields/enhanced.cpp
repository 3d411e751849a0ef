#include "core/codec/fields/enhanced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"
#include "core/codec/fields/places.hpp"
#include "core/codec/packed.hpp"
#include "core/codec/quantizer.hpp"

namespace cambium::lowp {
namespace {

// Stream: magic, version, flags, number of helpers (one byte each after the magic), the plain stream, the weights
// (empty where they are not part of it), each after its length, places of values that stay as the plain codec gave
// them; the checksum of all before.
constexpr std::array<char, 4> enhanced_magic{'C', 'L', 'S', 'E'};
constexpr std::uint8_t enhanced_version = 1, flag_strict = 1, flag_own_weights = 2;
constexpr double least_worth = 0.1;  // dB

struct Parts {
  EnhancedInfo info;
  std::span<const std::byte> plain, weights;
  ByteReader rest{{}};
};

Parts parts_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  Parts p;
  if (in.get<std::array<char, 4>>() != enhanced_magic || in.get<std::uint8_t>() != enhanced_version)
    throw DamagedStream{};
  const auto flags = in.get<std::uint8_t>();
  p.info.strict = flags & flag_strict;
  p.info.own_weights = flags & flag_own_weights;
  p.info.helpers = in.get<std::uint8_t>();
  auto piece = [&] {
    const auto n = in.get<std::uint64_t>();
    if (n > in.rest().size()) throw DamagedStream{};
    return in.next(n);
  };
  p.plain = piece();
  p.weights = piece();
  p.info.plain = lossy_info(p.plain);
  p.rest = in;
  return p;
}

/// Properties that a strict stream keeps: places where the correction broke the bound, or moved a value that is exact.
template <class T>
std::vector<std::uint64_t> beyond(std::span<const T> values, std::span<const T> decoded, std::span<T> corrected,
                                  double bound) {
  const T limit = Quantizer<T>(bound).bound;
  std::vector<std::uint64_t> places;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::abs(values[k] - corrected[k]) < limit || !std::isfinite(values[k])) continue;
    if (corrected[k] == decoded[k]) continue;
    places.push_back(k);
    corrected[k] = decoded[k];
  }
  return places;
}

template <class T>
struct Trial {
  std::vector<std::byte> stream;
  std::vector<T> values;
};

template <class T>
Trial<T> with(const Enhancer& enhancer, std::span<const T> values, std::span<const T> decoded,
              std::span<const std::byte> plain, const LossyInfo& info, const EnhancedCoding& coding,
              std::span<const HelpingField<T>> helping, EnhancedReport& report) {
  Trial<T> out{{}, {decoded.begin(), decoded.end()}};
  enhancer.apply<T>(out.values, FieldShape(info.shape), info.bound, helping);
  std::vector<std::uint64_t> places;
  if (coding.strict) places = beyond<T>(values, decoded, out.values, info.bound);
  const auto weights = coding.weights ? std::vector<std::byte>{} : enhancer.bytes();
  ByteWriter stream, listed;
  put_places(places, listed);
  stream.put(enhanced_magic);
  const auto flags =
      static_cast<std::uint8_t>((coding.strict ? flag_strict : 0) | (coding.weights ? 0 : flag_own_weights));
  for (std::uint8_t byte : {enhanced_version, flags, static_cast<std::uint8_t>(helping.size())}) stream.put(byte);
  for (const auto piece : {plain, std::span<const std::byte>(weights)}) {
    stream.put<std::uint64_t>(piece.size());
    stream.put(piece);
  }
  stream.put(std::span<const std::byte>(listed.bytes()));
  stream.put(checksum(stream.bytes()));
  out.stream = stream.take();
  report.exceptions = static_cast<double>(places.size()) / static_cast<double>(values.size());
  report.weight_bytes = weights.size();
  report.exception_bytes = listed.bytes().size();
  return out;
}

/// dB for a stream e times as long, of the plain codec on this field.
template <class T>
double plain_slope(std::span<const T> values, std::span<const T> decoded, std::size_t bytes, const LossyInfo& info,
                   LossyPredictor predictor) {
  const auto finer = lossy_encode<T>(values, info.shape, {LossyBound::Kind::absolute, 0.8 * info.bound}, predictor);
  std::vector<T> back(values.size());
  lossy_decode<T>(finer, back);
  const double longer = std::log(static_cast<double>(finer.size()) / static_cast<double>(bytes));
  const double better = psnr<T>(values, back) - psnr<T>(values, decoded);
  constexpr double usual = 12.0, least = 4.0, most = 30.0;
  return longer > 0.01 && std::isfinite(better) ? std::clamp(better / longer, least, most) : usual;
}

/// Strict streams of a plain codec that stores each value exactly leave nothing to learn.
bool can_learn(const LossyInfo& info) { return info.bound > 0.0 && info.elements() > 0; }

template <class T>
bool judge(const Trial<T>& trial, std::span<const T> values, std::span<const T> decoded, double slope,
           EnhancedReport& report) {
  report.gain = psnr<T>(values, trial.values) - psnr<T>(values, decoded);
  report.plain_gain =
      slope * std::log(static_cast<double>(trial.stream.size()) / static_cast<double>(report.plain_bytes));
  return report.gain - report.plain_gain >= least_worth;
}

/// The stream at one bound of the plain codec, and what it decodes to.
template <class T>
Trial<T> at_bound(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                  LossyPredictor predictor, const EnhancedCoding& coding, std::span<const HelpingField<T>> helping,
                  EnhancedReport& report) {
  report = {};
  auto plain = lossy_encode(values, shape, bound, predictor);
  const auto info = lossy_info(plain);
  if (!can_learn(info)) return {std::move(plain), {values.begin(), values.end()}};
  report.plain_bytes = plain.size();
  std::vector<T> decoded(values.size());
  lossy_decode<T>(plain, decoded);
  const FieldShape field(info.shape);
  const double slope = coding.weights ? static_cast<double>(coding.weights->slope)
                                      : plain_slope<T>(values, decoded, plain.size(), info, predictor);
  const Enhancer fitted = coding.weights ? *coding.weights
                                         : fit_enhancer<T>(values, decoded, field, info.bound, helping, coding.fit,
                                                           plain.size(), slope, report.fit);
  auto trial = with<T>(fitted, values, decoded, plain, info, coding, helping, report);
  report.kept = judge<T>(trial, values, decoded, slope, report);
  if (!report.kept) return {std::move(plain), std::move(decoded)};
  return trial;
}

/// The shortest stream that was met whose PSNR is at least `decibel`: what corrections gain lets the plain codec have a
/// larger bound.
template <class T>
std::vector<std::byte> at_psnr(std::span<const T> values, std::span<const std::int64_t> shape, double decibel,
                               LossyPredictor predictor, const EnhancedCoding& coding,
                               std::span<const HelpingField<T>> helping, EnhancedReport& report) {
  constexpr int most_trials = 6;
  constexpr double near = 0.02, margin = 0.008;
  auto best = at_bound<T>(values, shape, {LossyBound::Kind::psnr, decibel}, predictor, coding, helping, report);
  double bound = lossy_info(report.kept ? parts_of(best.stream).plain : std::span<const std::byte>(best.stream)).bound;
  double over = psnr<T>(values, best.values) - decibel;
  const auto searching = [&] { return report.kept && std::isfinite(over) && !(over >= 0.0 && over < near); };
  for (int trial = 0; trial < most_trials && searching(); ++trial) {
    bound *= std::pow(10.0, (over - margin) / 20.0);
    EnhancedReport next;
    auto other = at_bound<T>(values, shape, {LossyBound::Kind::absolute, bound}, predictor, coding, helping, next);
    over = psnr<T>(values, other.values) - decibel;
    if (!std::isfinite(over)) break;
    if (over >= 0.0 && other.stream.size() < best.stream.size()) {
      best = std::move(other);
      report = next;
    }
  }
  return std::move(best.stream);
}

}  // namespace

std::string EnhancedReport::text() const {
  if (plain_bytes == 0 || !std::isfinite(gain)) return "stored exactly; there is nothing to enhance";
  const std::string network =
      !fit.tried_hidden ? ""
      : fit.kept_hidden
          ? fmt::format(", of them {:.2f} by networks", fit.gain - fit.linear_gain)
          : fmt::format("; networks gained {:.2f} dB more, less than 1, and were left out", fit.gain - fit.linear_gain);
  if (!kept)
    return fmt::format(
        "stored without enhancers: they would gain {:.2f} dB, the plain codec gains {:.2f} with as many bytes", gain,
        plain_gain);
  return fmt::format(
      "enhanced by {:.2f} dB{}, the plain codec gains {:.2f} with as many bytes ({} of weights, {} for {:.3f} % of the "
      "values, which stay as they were)",
      gain, network, plain_gain, weight_bytes, exception_bytes, 100 * exceptions);
}

template <class T>
std::vector<std::byte> enhanced_encode(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                                       LossyPredictor predictor, const EnhancedCoding& coding,
                                       std::span<const HelpingField<T>> helping, EnhancedReport& report) {
  if (bound.kind == LossyBound::Kind::psnr)
    return at_psnr<T>(values, shape, bound.value, predictor, coding, helping, report);
  return at_bound<T>(values, shape, bound, predictor, coding, helping, report).stream;
}

template <class T>
std::optional<Enhancer> enhancer_for(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                                     LossyPredictor predictor, const FitSettings& settings,
                                     std::span<const HelpingField<T>> helping, EnhancedReport& report) {
  report = {};
  const auto plain = lossy_encode(values, shape, bound, predictor);
  const auto info = lossy_info(plain);
  if (!can_learn(info)) return std::nullopt;
  report.plain_bytes = plain.size();
  std::vector<T> decoded(values.size());
  lossy_decode<T>(plain, decoded);
  const double slope = plain_slope<T>(values, decoded, plain.size(), info, predictor);
  auto fitted = fit_enhancer<T>(values, decoded, FieldShape(info.shape), info.bound, helping, settings, plain.size(),
                                slope, report.fit);
  EnhancedCoding coding;
  coding.weights = &fitted;
  const auto trial = with<T>(fitted, values, decoded, plain, info, coding, helping, report);
  report.kept = judge<T>(trial, values, decoded, slope, report);
  report.weight_bytes = fitted.bytes().size();
  if (!report.kept) return std::nullopt;
  return fitted;
}

bool is_enhanced(std::span<const std::byte> bytes) {
  return bytes.size() >= enhanced_magic.size() &&
         std::memcmp(bytes.data(), enhanced_magic.data(), enhanced_magic.size()) == 0;
}

EnhancedInfo enhanced_info(std::span<const std::byte> bytes) try {
  return parts_of(bytes).info;
} catch (const DamagedStream&) {
  throw InputError("this is not an array compressed by Cambium, or only a part of one; copy it again from its source");
}

template <class T>
void enhanced_decode(std::span<const std::byte> bytes, std::span<T> values, const Enhancer* weights,
                     std::span<const HelpingField<T>> helping) try {
  if (bytes.size() < sizeof(std::uint64_t)) throw DamagedStream{};
  const auto content = bytes.first(bytes.size() - sizeof(std::uint64_t));
  ByteReader end(bytes.subspan(content.size()));
  if (end.get<std::uint64_t>() != checksum(content)) throw DamagedStream{};
  auto parts = parts_of(content);
  lossy_decode<T>(parts.plain, values);
  if (static_cast<std::size_t>(parts.info.helpers) != helping.size())
    throw InputError(
        fmt::format("the compressed array was encoded with the help of {} other fields, {} are given; decode them "
                    "first and hand them over in the same order",
                    parts.info.helpers, helping.size()));
  if (!parts.info.own_weights && !weights)
    throw InputError(
        "the weights of a compressed array lie elsewhere, in the data set it came from; read it from there");
  const auto places = get_places(parts.rest, values.size());
  const Enhancer used = parts.info.own_weights ? Enhancer::from(parts.weights) : *weights;
  std::vector<T> kept;
  for (auto place : places) kept.push_back(values[place]);
  used.apply<T>(values, FieldShape(parts.info.plain.shape), parts.info.plain.bound, helping);
  for (std::size_t k = 0; k < places.size(); ++k) values[places[k]] = kept[k];
} catch (const DamagedStream&) {
  throw InputError("a compressed array is damaged; copy it again from its source");
}

#define CAMBIUM_ENHANCED_OF(T)                                                                                      \
  template std::vector<std::byte> enhanced_encode<T>(std::span<const T>, std::span<const std::int64_t>, LossyBound, \
                                                     LossyPredictor, const EnhancedCoding&,                         \
                                                     std::span<const HelpingField<T>>, EnhancedReport&);            \
  template std::optional<Enhancer> enhancer_for<T>(std::span<const T>, std::span<const std::int64_t>, LossyBound,   \
                                                   LossyPredictor, const FitSettings&,                              \
                                                   std::span<const HelpingField<T>>, EnhancedReport&);              \
  template void enhanced_decode<T>(std::span<const std::byte>, std::span<T>, const Enhancer*,                       \
                                   std::span<const HelpingField<T>>);
CAMBIUM_ENHANCED_OF(float)
CAMBIUM_ENHANCED_OF(double)
#undef CAMBIUM_ENHANCED_OF

}  // namespace cambium::lowp
