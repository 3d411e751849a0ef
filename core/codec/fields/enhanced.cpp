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

// Stream: magic, version, flags, number of helpers (one byte each after the magic), from version 2 on the length of the
// plain stream that was compared, the plain stream, the weights (empty if they are not part of it), each after its
// length, indices of values that stay as the plain codec gave them; the checksum of all preceding bytes.
constexpr std::array<char, 4> enhanced_magic{'C', 'L', 'S', 'E'};
constexpr std::uint8_t enhanced_version = 2, flag_strict = 1, flag_own_weights = 2;
constexpr double least_gain = 0.1;    // dB, below which no plain stream is made for comparison
constexpr double least_worth = 1.01;  // plain stream over corrected one, at the same mean error

struct Parts {
  EnhancedInfo info;
  std::span<const std::byte> plain, weights;
  ByteReader rest{{}};
};

Parts parts_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  Parts p;
  if (in.get<std::array<char, 4>>() != enhanced_magic) throw DamagedStream{};
  const auto version = in.get<std::uint8_t>();
  if (version < 1 || version > enhanced_version) throw DamagedStream{};
  const auto flags = in.get<std::uint8_t>();
  p.info.strict = flags & flag_strict;
  p.info.own_weights = flags & flag_own_weights;
  p.info.helpers = in.get<std::uint8_t>();
  if (version > 1) p.info.rival_bytes = in.get<std::uint64_t>();
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

/// Exceptions of a strict stream: indices where the correction broke the bound, or moved a value that is exact.
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
  stream.put<std::uint64_t>(0);  // until the plain stream was made
  for (const auto piece : {plain, std::span<const std::byte>(weights)}) {
    stream.put<std::uint64_t>(piece.size());
    stream.put(piece);
  }
  stream.put(std::span<const std::byte>(listed.bytes()));
  stream.put(checksum(stream.bytes()));
  out.stream = stream.take();
  report.bytes = out.stream.size();
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

/// A plain stream, and the excess of its PSNR over the requested one, dB.
struct Rival {
  std::size_t bytes = 0;
  double over = 0.0;
};

/// Length of the shortest plain stream found whose PSNR is at least that of `trial`, to two hundredths of a decibel:
/// the bound is searched, then some finer ones are tried, because lengths are not monotonic in it. Stops at a stream so
/// short that `trial` is not worth it; 0 if none was found.
template <class T>
std::size_t rival_bytes_of(const Trial<T>& trial, std::span<const T> values, const LossyInfo& info, double decibel,
                           double gain, LossyPredictor predictor, bool mean) {
  constexpr int most_trials = 8;
  constexpr double near = 0.02, finer[] = {0.98, 0.96, 0.93, 0.9};
  std::vector<T> back(values.size());
  const auto made = [&](double bound) {
    const auto plain = lossy_encode<T>(values, info.shape, {LossyBound::Kind::absolute, bound, mean}, predictor);
    lossy_decode<T>(plain, back);
    return Rival{plain.size(), psnr<T>(values, back) - decibel};
  };
  std::size_t least = 0;
  const auto good_enough = [&](const Rival& rival) {
    if (rival.over < -near) return false;
    if (least == 0 || rival.bytes < least) least = rival.bytes;
    return static_cast<double>(least) < least_worth * static_cast<double>(trial.stream.size());
  };
  double bound = info.bound * std::pow(10.0, -gain / 20.0);
  for (int k = 0; k < most_trials; ++k) {
    const auto rival = made(bound);
    if (good_enough(rival)) return least;
    if (std::abs(rival.over) < near || !std::isfinite(rival.over)) break;
    bound *= std::pow(10.0, std::clamp(rival.over / 20.0, -0.5, 0.5));
  }
  for (const double factor : finer)
    if (good_enough(made(factor * bound))) break;
  return least;
}

/// True if the corrected stream is shorter than every plain one of the same quality: with the level bounds that
/// minimise the stream at its bound, and with the usual ones.
template <class T>
bool judge(Trial<T>& trial, std::span<const T> values, std::span<const T> decoded, const LossyInfo& info,
           LossyPredictor predictor, EnhancedReport& report) {
  const double decibel = psnr<T>(values, trial.values);
  report.gain = decibel - psnr<T>(values, decoded);
  if (!(report.gain >= least_gain) || !std::isfinite(decibel)) return false;
  for (const bool mean : {false, true}) {
    const auto bytes = rival_bytes_of<T>(trial, values, info, decibel, report.gain, predictor, mean);
    if (report.rival_bytes == 0 || bytes < report.rival_bytes) report.rival_bytes = bytes;
    if (static_cast<double>(bytes) < least_worth * static_cast<double>(trial.stream.size())) return false;
  }
  // Both were longer: the size of the shorter one is stored with the stream, which gives the saving.
  constexpr std::size_t at = enhanced_magic.size() + 3;
  const std::uint64_t rival = report.rival_bytes;
  std::memcpy(trial.stream.data() + at, &rival, sizeof rival);
  const auto content = std::span(trial.stream).first(trial.stream.size() - sizeof(std::uint64_t));
  const auto sum = checksum(content);
  std::memcpy(trial.stream.data() + content.size(), &sum, sizeof sum);
  return true;
}

/// The stream at one bound of the plain codec, and its decoded values.
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
  Enhancer fitted;
  if (coding.weights) {
    fitted = *coding.weights;
  } else {
    report.gain = probed_gain<T>(values, decoded, field, info.bound, helping, coding.fit.groups, report.fit);
    report.stopped_early = report.gain < least_gain;
    if (report.stopped_early) return {std::move(plain), std::move(decoded)};
    const double slope = plain_slope<T>(values, decoded, plain.size(), info, predictor);
    fitted = fit_enhancer<T>(values, decoded, field, info.bound, helping, coding.fit, plain.size(), slope, report.fit);
  }
  auto trial = with<T>(fitted, values, decoded, plain, info, coding, helping, report);
  report.kept = judge<T>(trial, values, decoded, info, predictor, report);
  if (!report.kept) return {std::move(plain), std::move(decoded)};
  return trial;
}

/// The shortest stream found whose PSNR is at least `decibel`: the gain of the corrections permits a larger bound of
/// the plain codec.
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
    auto other =
        at_bound<T>(values, shape, {LossyBound::Kind::absolute, bound, true}, predictor, coding, helping, next);
    over = psnr<T>(values, other.values) - decibel;
    if (!std::isfinite(over)) break;
    if (over >= 0.0 && other.stream.size() < best.stream.size()) {
      best = std::move(other);
      report = next;
    }
  }
  if (!report.kept) return std::move(best.stream);
  auto plain = lossy_encode(values, shape, {LossyBound::Kind::psnr, decibel}, predictor);
  if (plain.size() > best.stream.size()) return std::move(best.stream);
  report.kept = false;
  report.rival_bytes = plain.size();
  return plain;
}

}  // namespace

std::string EnhancedReport::text() const {
  if (plain_bytes == 0 || !std::isfinite(gain)) return "stored exactly; there is nothing to enhance";
  const std::string network =
      !fit.tried_hidden ? ""
      : fit.kept_hidden
          ? fmt::format(", of them {:.2f} by networks", fit.gain - fit.linear_gain)
          : fmt::format("; networks gained {:.2f} dB more, less than 1, and were left out", fit.gain - fit.linear_gain);
  if (stopped_early)
    return fmt::format("stored without enhancers: fitted to a few values, nearest neighbours gain {:.2f} dB", gain);
  if (!kept)
    return rival_bytes == 0
               ? fmt::format("stored without enhancers: they would gain {:.2f} dB", gain)
               : fmt::format(
                     "stored without enhancers: with {} bytes they would gain {:.2f} dB, the plain codec does "
                     "as well with {}",
                     bytes, gain, rival_bytes);
  return fmt::format(
      "enhanced by {:.2f} dB{}: {} bytes, the plain codec needs {} for the same error ({} of weights, {} for {:.3f} % "
      "of the values, which stay as they were)",
      gain, network, bytes, rival_bytes, weight_bytes, exception_bytes, 100 * exceptions);
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
  const FieldShape field(info.shape);
  report.gain = probed_gain<T>(values, decoded, field, info.bound, helping, settings.groups, report.fit);
  report.stopped_early = report.gain < least_gain;
  if (report.stopped_early) return std::nullopt;
  const double slope = plain_slope<T>(values, decoded, plain.size(), info, predictor);
  auto fitted = fit_enhancer<T>(values, decoded, field, info.bound, helping, settings, plain.size(), slope, report.fit);
  EnhancedCoding coding;
  coding.weights = &fitted;
  auto trial = with<T>(fitted, values, decoded, plain, info, coding, helping, report);
  report.kept = judge<T>(trial, values, decoded, info, predictor, report);
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
        "the weights of a compressed array are stored elsewhere, in the data set it came from; read it from there");
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
