#include "core/codec/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.hpp"
#include "core/codec/choose.hpp"
#include "core/codec/huffman.hpp"
#include "core/codec/packed.hpp"
#include "core/codec/zfp_codec.hpp"

namespace cambium::lowp {
namespace {

// Stream: magic, version, bytes per value, method, rank (one byte each after the magic), bound, extents, length of the
// payload, payload by Zstandard (packed.hpp). The payload of method `exact` is the array with the bytes of equal rank
// next to each other. For the others the first bytes give the chosen form (choose.hpp), except `interpolation`, which
// is only read, and `lorenzo`, the usual form of `differences`.
constexpr std::array<char, 4> magic{'C', 'L', 'S', 'Y'};
constexpr std::uint8_t version = 1;
enum Method : std::uint8_t { exact = 0, interpolation = 1, lorenzo = 2, zfp = 3, graded = 4, differences = 5 };

std::int64_t product(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (auto extent : shape) n *= extent;
  return n;
}

/// Largest minus smallest finite value; 0 if there are none, or if it overflows.
template <class T>
double range_of(std::span<const T> values) {
  T low = std::numeric_limits<T>::infinity(), high = -low;
  for (T x : values)
    if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
  const double range = low < high ? static_cast<double>(high) - static_cast<double>(low) : 0.0;
  return std::isfinite(range) ? range : 0.0;
}

/// Groups byte k of all values: exponents are alike, which Zstandard exploits.
std::vector<std::byte> by_rank(std::span<const std::byte> bytes, std::size_t width, bool back) {
  std::vector<std::byte> out(bytes.size());
  const std::size_t n = bytes.size() / width;
  for (std::size_t k = 0; k < width; ++k)
    for (std::size_t i = 0; i < n; ++i)
      back ? out[i * width + k] = bytes[k * n + i] : out[k * n + i] = bytes[i * width + k];
  return out;
}

template <class T>
std::vector<std::byte> interpolated(std::span<const T> values, const FieldShape& shape, double bound,
                                    LevelBounds levels) {
  ByteWriter out;
  out.put(levels.choice);
  std::vector<T> work(values.begin(), values.end());
  const InterpolationPlan plan(work.data(), shape, bound, levels);
  Quantized<T> quantized;
  interpolate_encode(work.data(), shape, plan, bound, quantized);
  plan.put(out);
  out.put_list(quantized.exceptions);
  huffman_encode(quantized.codes, out);
  return out.take();
}

template <class T>
std::vector<std::byte> differenced(std::span<const T> values, const FieldShape& shape, double bound,
                                   const LorenzoCoding& coding) {
  ByteWriter out;
  if (coding != LorenzoCoding{}) coding.put(out);
  lorenzo_encode(values.data(), shape, bound, coding, out);
  return out.take();
}

Method method_of(LossyPredictor predictor) {
  if (predictor == LossyPredictor::lorenzo) return lorenzo;
  return predictor == LossyPredictor::zfp ? zfp : interpolation;
}
LossyPredictor predictor_of(Method method) {
  constexpr LossyPredictor by_method[] = {LossyPredictor::automatic,     LossyPredictor::interpolation,
                                          LossyPredictor::lorenzo,       LossyPredictor::zfp,
                                          LossyPredictor::interpolation, LossyPredictor::lorenzo};
  return by_method[method];
}

/// Everything before the packed payload.
template <class T>
std::vector<std::byte> header(std::span<const std::int64_t> shape, double bound, Method method, std::size_t length) {
  ByteWriter out;
  out.put(magic);
  for (std::uint8_t byte : {version, std::uint8_t(sizeof(T)), std::uint8_t(method), std::uint8_t(shape.size())})
    out.put(byte);
  out.put(method == exact ? 0.0 : bound);
  out.put(shape);
  out.put<std::uint64_t>(length);
  return out.take();
}

/// Ratio from which almost exact anchors are tried, in fields of few values and in others.
constexpr double anchors_pay_from = 256, anchors_of_few_from = 64;
/// Bits per value below which code frequencies do not predict the stream length: Zstandard compresses runs further.
constexpr double of_runs = 0.8;
/// Below this many bits per value, a smaller gain on samples suffices: coarse levels, which samples lack, weigh more
/// there.
constexpr double few_bits = 2.5, counts_from = 0.975;
/// A field of fewer values is encoded in each form that may be the shortest.
constexpr std::int64_t few_values = 1 << 16;
/// Differences with this many times the bits of the existing stream are not encoded.
constexpr double worth_a_try = 1.25;

/// The shortest of the streams that were tried. `mean`: the bound was chosen for a mean error, which level bounds
/// change.
template <class T>
class Shortest {
 public:
  Shortest(std::span<const T> values, std::span<const std::int64_t> shape, double bound, bool mean)
      : values_(values), shape_(shape), field_(shape), bound_(bound), mean_(mean) {}

  void attempt(Method method) {
    if (method == exact) keep(exact, by_rank(std::as_bytes(values_), sizeof(T), false));
    if (method == lorenzo) attempt_differences();
    if (method == interpolation) attempt_interpolation();
    if (method == zfp) {
      ByteWriter bytes;
      zfp_encode(values_.data(), field_, bound_, bytes);
      keep(zfp, bytes.take());
    }
  }
  std::size_t size() const { return stream_.size(); }
  std::vector<std::byte> take() { return std::move(stream_); }

 private:
  void keep(Method method, const std::vector<std::byte>& payload) {
    auto made = header<T>(shape_, bound_, method, payload.size());
    const auto rest = pack(payload, made);
    made.insert(made.end(), rest.begin(), rest.end());
    if (stream_.empty() || made.size() < stream_.size()) stream_ = std::move(made);
  }
  double bits() const { return 8.0 * static_cast<double>(size()) / static_cast<double>(values_.size()); }

  void attempt_interpolation() {
    const auto choice = mean_ ? Choice<LevelBounds>{} : choose_level_bounds(values_.data(), field_, bound_);
    const bool whole = judged_whole(field_);
    const bool doubtful = choice.usual_bits < few_bits && choice.bits > counts_from * choice.usual_bits;
    const bool usual = choice.coding.choice == 0 || (doubtful && !whole && field_.elements > few_values);
    const bool both = !whole && field_.elements <= few_values, runs = !whole && choice.usual_bits < of_runs;
    if (usual || both || runs) keep(graded, interpolated(values_, field_, bound_, {}));
    if (!usual && (both || !runs)) keep(graded, interpolated(values_, field_, bound_, choice.coding));
    const double from = field_.elements <= few_values ? anchors_of_few_from : anchors_pay_from;
    if (mean_ || from * static_cast<double>(size()) > static_cast<double>(values_.size_bytes())) return;
    for (std::uint8_t k = LevelBounds::with_anchors; k < LevelBounds::choices; ++k)
      keep(graded, interpolated(values_, field_, bound_, {k}));
  }
  void attempt_differences() {
    const auto choice = choose_differences(values_.data(), field_, bound_);
    const bool whole = judged_whole(field_), usual = choice.coding == LorenzoCoding{};
    if (!whole && !stream_.empty() && choice.bits > worth_a_try * bits()) return;
    const bool both = !whole && (field_.elements <= few_values || choice.usual_bits < of_runs);
    if (usual || both) keep(lorenzo, differenced(values_, field_, bound_, {}));
    if (!usual) keep(differences, differenced(values_, field_, bound_, choice.coding));
  }

  std::span<const T> values_;
  std::span<const std::int64_t> shape_;
  FieldShape field_;
  double bound_;
  bool mean_;
  std::vector<std::byte> stream_;
};

struct Header {
  LossyInfo info;
  Method method = exact;
  std::uint64_t length = 0;
};

Header read_header(ByteReader& in) {
  Header h;
  if (in.get<std::array<char, 4>>() != magic || in.get<std::uint8_t>() != version) throw DamagedStream{};
  h.info.bytes_per_value = in.get<std::uint8_t>();
  const auto method = in.get<std::uint8_t>();
  const int rank = in.get<std::uint8_t>();
  h.info.bound = in.get<double>();
  std::int64_t n = 1;
  for (int k = 0; k < rank; ++k) {
    const auto extent = in.get<std::int64_t>();
    if (extent < 0 || (extent > 0 && n > (std::int64_t{1} << 40) / extent)) throw DamagedStream{};
    n *= extent;
    h.info.shape.push_back(extent);
  }
  if (method > differences || (h.info.bytes_per_value != 4 && h.info.bytes_per_value != 8)) throw DamagedStream{};
  h.method = static_cast<Method>(method);
  h.info.predictor = predictor_of(h.method);
  h.length = in.get<std::uint64_t>();
  return h;
}

template <class T>
void decode_payload(const Header& h, std::span<const std::byte> bytes, std::span<T> values) {
  if (h.method == exact) {
    if (bytes.size() != values.size_bytes()) throw DamagedStream{};
    const auto plain = by_rank(bytes, sizeof(T), true);
    if (!plain.empty()) std::memcpy(values.data(), plain.data(), plain.size());
    return;
  }
  ByteReader in(bytes);
  const FieldShape shape(h.info.shape);
  if (h.method == lorenzo || h.method == differences) {
    const auto coding = h.method == differences ? LorenzoCoding::from(in) : LorenzoCoding{};
    return lorenzo_decode(in, shape, h.info.bound, coding, values.data());
  }
  if (h.method == zfp) return zfp_decode(in, shape, values.data());
  LevelBounds levels;
  if (h.method == graded) levels.choice = in.get<std::uint8_t>();
  if (levels.choice >= LevelBounds::choices) throw DamagedStream{};
  const InterpolationPlan plan(in, shape, levels, h.method == interpolation);
  Quantized<T> quantized;
  quantized.exceptions = in.get_list<T>();
  quantized.codes.resize(values.size());
  huffman_decode(in, quantized.codes);
  interpolate_decode(quantized, shape, plan, h.info.bound, values.data());
}

}  // namespace

std::int64_t LossyInfo::elements() const { return product(shape); }

template <class T>
double psnr(std::span<const T> original, std::span<const T> decoded) {
  // Squared differences in units of the largest: tiny ones would underflow, huge ones overflow.
  double most = 0.0, sum = 0.0;
  std::size_t n = 0;
  const auto difference = [&](std::size_t k) {
    return std::abs(static_cast<double>(original[k]) - static_cast<double>(decoded[k]));
  };
  for (std::size_t k = 0; k < original.size(); ++k)
    if (std::isfinite(original[k])) most = std::max(most, difference(k)), ++n;
  if (most == 0.0) return std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < original.size(); ++k)
    if (std::isfinite(original[k])) sum += (difference(k) / most) * (difference(k) / most);
  return 20.0 * (std::log10(range_of(original)) - std::log10(most) - 0.5 * std::log10(sum / static_cast<double>(n)));
}

template <class T>
double bound_for_psnr(std::span<const T> values, std::span<const std::int64_t> shape, double decibel,
                      LossyPredictor predictor) {
  // Errors spread evenly within the bound have a mean square of a third of its square; prediction leaves less.
  double bound = range_of(values) * std::sqrt(3.0) * std::pow(10.0, -decibel / 20.0), best = 0.0;
  std::vector<T> decoded(values.size());
  constexpr int most_trials = 10;
  constexpr double near = 0.02, margin = 0.008;
  for (int trial = 0; trial < most_trials && bound > 0.0; ++trial) {
    lossy_decode<T>(lossy_encode<T>(values, shape, {LossyBound::Kind::absolute, bound, true}, predictor), decoded);
    const double over = psnr<T>(values, decoded) - decibel;
    if (over >= 0.0) best = std::max(best, bound);
    if ((over >= 0.0 && over < near) || !std::isfinite(over)) break;
    bound *= std::pow(10.0, std::clamp((over - margin) / 20.0, -0.5, 0.5));
  }
  return best;
}

template <class T>
double absolute_bound(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                      LossyPredictor predictor) {
  const bool decibels = bound.kind == LossyBound::Kind::psnr;
  if (!(bound.value > 0) || !std::isfinite(bound.value))
    throw InputError(
        decibels
            ? fmt::format("the PSNR of a compressed array is {} dB; give a positive number, such as 80", bound.value)
            : fmt::format("the error bound of a compressed array is {}; give a positive number, such as 1e-4",
                          bound.value));
  if (bound.kind == LossyBound::Kind::absolute) return bound.value;
  if (decibels) return bound_for_psnr(values, shape, bound.value, predictor);
  const double range = range_of(values), absolute = bound.value * range;
  if (!std::isfinite(absolute)) return 0.0;
  // The product of a few of the smallest subnormals is rounded to an integer multiple, up as well as down: 6.87 becomes
  // 7, which is beyond the requested bound.
  return range > 0.0 && absolute / range > bound.value ? std::nextafter(absolute, 0.0) : absolute;
}

template <class T>
std::vector<std::byte> lossy_encode(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound wanted,
                                    LossyPredictor predictor) {
  if (product(shape) != std::ssize(values) || shape.size() > 32)
    throw InternalError("lossy_encode: the shape does not have the number of values");
  if (wanted.kind == LossyBound::Kind::psnr && predictor == LossyPredictor::automatic) {
    // At one bound interpolation has the smaller mean error: at one mean error each predictor has a bound of its own.
    auto one = lossy_encode(values, shape, wanted, LossyPredictor::interpolation);
    auto other = lossy_encode(values, shape, wanted, LossyPredictor::lorenzo);
    return other.size() < one.size() ? other : one;
  }
  const double bound = absolute_bound(values, shape, wanted, predictor);
  const bool mean = wanted.mean || wanted.kind == LossyBound::Kind::psnr;
  Shortest<T> shortest(values, shape, bound, mean);
  const Method method = bound == 0.0 || values.empty() ? exact : method_of(predictor);
  shortest.attempt(method);
  if (method == interpolation && predictor == LossyPredictor::automatic) shortest.attempt(lorenzo);
  const auto whole_header = header<T>(shape, bound, method, 0).size();
  if (method != exact && shortest.size() > values.size_bytes() + whole_header) shortest.attempt(exact);
  return shortest.take();
}

LossyInfo lossy_info(std::span<const std::byte> bytes) try {
  ByteReader in(bytes);
  return read_header(in).info;
} catch (const DamagedStream&) {
  throw InputError("this is not an array compressed by Cambium, or only a part of one; copy it again from its source");
}

template <class T>
void lossy_decode(std::span<const std::byte> bytes, std::span<T> values) try {
  ByteReader in(bytes);
  const Header h = read_header(in);
  if (h.info.bytes_per_value != sizeof(T) || h.info.elements() != std::ssize(values))
    throw InputError(fmt::format("the compressed array has {} values of {} bytes, expected {} of {} bytes",
                                 h.info.elements(), h.info.bytes_per_value, values.size(), sizeof(T)));
  // Per value at most its index, itself, a large difference and a code; and the code lengths.
  constexpr std::uint64_t beside_a_value = 16, beside_all = 1 << 20;
  if (h.length > values.size() * (sizeof(T) + beside_a_value) + beside_all) throw DamagedStream{};
  const auto before = bytes.first(bytes.size() - in.rest().size());
  decode_payload(h, unpack(in.rest(), before, h.length), values);
} catch (const DamagedStream&) {
  throw InputError("a compressed array is damaged; copy it again from its source");
}

#define CAMBIUM_LOSSY_OF(T)                                                                                         \
  template std::vector<std::byte> lossy_encode<T>(std::span<const T>, std::span<const std::int64_t>, LossyBound,    \
                                                  LossyPredictor);                                                  \
  template double psnr<T>(std::span<const T>, std::span<const T>);                                                  \
  template double bound_for_psnr<T>(std::span<const T>, std::span<const std::int64_t>, double, LossyPredictor);     \
  template double absolute_bound<T>(std::span<const T>, std::span<const std::int64_t>, LossyBound, LossyPredictor); \
  template void lossy_decode<T>(std::span<const std::byte>, std::span<T>);
CAMBIUM_LOSSY_OF(float)
CAMBIUM_LOSSY_OF(double)
#undef CAMBIUM_LOSSY_OF

}  // namespace cambium::lowp
