#include "core/io/hdf5/filter.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/codec/packed.hpp"
#include "core/io/hdf5/fills.hpp"

namespace cambium::io {
namespace {

// Stored values. Version 1: version, bytes per value, kind of bound, bound (two words), extents of a chunk. Version 2:
// the same up to the bound, then predictor, flags of learning, groups, seconds (as float bits), bytes of weights,
// number of extents, extents of a chunk, weights, and if flagged, fill values (how many, two words each). Version 3:
// the same, and a checksum of all words before it (two words). Streams carry their own.
constexpr unsigned plain_version = 1, unchecked_version = 2, version = 3;
constexpr std::size_t first_extent_of_plain = 5, first_extent = 11, checksum_words = 2;
constexpr unsigned learned = 1, strict = 2, convolution = 4, weights_beside = 8, has_fills = 16;  // how

struct Settings {
  lowp::FieldCoding coding;
  std::optional<lowp::Enhancer> weights;
  unsigned bytes_per_value = 4;
  std::vector<std::int64_t> chunk;
  std::vector<double> fills;

  /// -1 if they exceed the size limit of HDF5 chunks.
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (auto extent : chunk)
      if (extent < 1 || (n *= extent) > (std::int64_t{1} << 32)) return -1;
    return n;
  }
  const lowp::Enhancer* used_weights() const { return weights ? &*weights : nullptr; }
};

/// Reads the fill values from `at` on; false if they are not exactly the rest.
bool read_fills(std::size_t n, const unsigned* values, std::size_t at, Settings& out) {
  if (at >= n || values[at] > most_fills || n != at + 1 + 2 * std::size_t{values[at]}) return false;
  out.fills.resize(values[at]);
  if (!out.fills.empty()) std::memcpy(out.fills.data(), values + at + 1, out.fills.size() * sizeof(double));
  return true;
}

bool read_learning(std::size_t n, const unsigned* values, Settings& out) {
  if (values[5] > static_cast<unsigned>(lowp::LossyPredictor::zfp)) return false;
  out.coding.predictor = static_cast<lowp::LossyPredictor>(values[5]);
  const std::size_t weight_bytes = values[9], extents = values[10], words = (weight_bytes + 3) / 4;
  if (extents > 32 || n < first_extent + extents + words) return false;
  const std::size_t end = first_extent + extents + words;
  if (values[6] & has_fills ? !read_fills(n, values, end, out) : n != end) return false;
  out.chunk.assign(values + first_extent, values + first_extent + extents);
  if (!(values[6] & learned)) return true;
  auto& coding = out.coding.learned.emplace();
  coding.strict = values[6] & strict;
  using Network = lowp::FitSettings::Network;
  coding.fit.network = values[6] & convolution ? Network::convolution : Network::linear;
  coding.fit.groups = static_cast<int>(values[7]);
  coding.fit.seconds = static_cast<double>(std::bit_cast<float>(values[8]));
  if (values[6] & weights_beside)
    out.weights =
        lowp::Enhancer::from(std::as_bytes(std::span(values + first_extent + extents, words)).first(weight_bytes));
  return true;
}

std::uint64_t checksum_of(std::size_t n, const unsigned* values) {
  return lowp::checksum(std::as_bytes(std::span(values, n)));
}

bool read_settings(std::size_t n, const unsigned* values, Settings& out) {
  if (n <= first_extent_of_plain || values[0] < plain_version || values[0] > version) return false;
  const bool plain = values[0] == plain_version;
  if (values[0] == version) {
    std::uint64_t found = 0;
    if (n < first_extent + checksum_words) return false;
    n -= checksum_words;
    std::memcpy(&found, values + n, sizeof found);
    if (found != checksum_of(n, values)) return false;
  }
  out.bytes_per_value = values[1];
  using Kind = lowp::LossyBound::Kind;
  if (values[2] > static_cast<unsigned>(Kind::psnr)) return false;
  out.coding.bound.kind = static_cast<Kind>(values[2]);
  std::memcpy(&out.coding.bound.value, values + 3, sizeof(double));
  if (!plain) return n >= first_extent && read_learning(n, values, out);
  out.chunk.assign(values + first_extent_of_plain, values + n);
  return true;
}

template <class T>
std::vector<std::byte> encode(Settings& settings, const void* data, std::size_t bytes) {
  if (settings.coding.learned) settings.coding.learned->weights = settings.used_weights();
  lowp::FieldReport report;
  std::span<const T> values(static_cast<const T*>(data), bytes / sizeof(T));
  std::vector<T> marked;
  if (!settings.fills.empty()) {
    marked.assign(values.begin(), values.end());
    mark_fills<T>(marked, settings.fills);
    values = marked;
  }
  // Rows are along the last dimension that is longer than one.
  std::vector<std::int64_t> shape;
  for (const auto extent : settings.chunk)
    if (extent > 1) shape.push_back(extent);
  if (shape.empty()) shape.push_back(1);
  return lowp::encode_field<T>(values, shape, settings.coding, report);
}

template <class T>
std::vector<std::byte> decode(const Settings& settings, std::span<const std::byte> stream, std::int64_t n) {
  std::vector<std::byte> out(static_cast<std::size_t>(n) * sizeof(T));
  const std::span<T> values(reinterpret_cast<T*>(out.data()), static_cast<std::size_t>(n));
  lowp::decode_field<T>(stream, values, settings.used_weights());
  restore_fills<T>(values, settings.fills);
  return out;
}

/// HDF5 frees and keeps buffers of malloc().
std::size_t hand_over(const std::vector<std::byte>& result, std::size_t* size, void** buffer) {
  void* fresh = std::malloc(result.size());
  if (!fresh) return 0;
  std::memcpy(fresh, result.data(), result.size());
  std::free(*buffer);
  *buffer = fresh;
  *size = result.size();
  return result.size();
}

/// Returns the number of bytes, 0 for a failure.
std::size_t run(unsigned flags, std::size_t n, const unsigned* values, std::size_t bytes, std::size_t* size,
                void** buffer) try {
  Settings settings;
  if (!read_settings(n, values, settings)) return 0;
  if (flags & H5Z_FLAG_REVERSE) {
    const std::span<const std::byte> stream(static_cast<const std::byte*>(*buffer), bytes);
    const auto info = lowp::field_info(stream).plain;
    if (info.elements() != settings.elements()) return 0;
    return hand_over(info.bytes_per_value == 4 ? decode<float>(settings, stream, info.elements())
                                               : decode<double>(settings, stream, info.elements()),
                     size, buffer);
  }
  return hand_over(settings.bytes_per_value == 4 ? encode<float>(settings, *buffer, bytes)
                                                 : encode<double>(settings, *buffer, bytes),
                   size, buffer);
} catch (...) {
  // Exceptions must not propagate through HDF5, which is C; 0 reports that the filter failed.
  return 0;
}

}  // namespace

bool asks_for_corrections(std::size_t n, const unsigned* values) {
  return n >= first_extent && values[0] >= unchecked_version && (values[6] & learned) != 0;
}

bool has_checksum(std::size_t n, const unsigned* values) { return n > 0 && values[0] >= version; }

const H5Z_class2_t lossy_filter{H5Z_CLASS_T_VERS, lossy_filter_id, 1,  1, "Cambium error-bounded lossy",
                                nullptr,          nullptr,         run};

std::vector<unsigned> lossy_filter_values(const lowp::FieldCoding& coding, const lowp::Enhancer* weights,
                                          int bytes_per_value, const std::vector<unsigned>& chunk,
                                          const std::vector<double>& fills) {
  std::vector<unsigned> values{version, static_cast<unsigned>(bytes_per_value),
                               static_cast<unsigned>(coding.bound.kind), 0, 0};
  std::memcpy(values.data() + 3, &coding.bound.value, sizeof(double));
  std::vector<std::byte> bytes;
  if (weights) bytes = weights->bytes();
  unsigned how = 0, groups = 0;
  float seconds = 0.0f;
  if (coding.learned) {
    how = learned | (coding.learned->strict ? strict : 0u) | (weights ? weights_beside : 0u);
    if (coding.learned->fit.network == lowp::FitSettings::Network::convolution) how |= convolution;
    groups = static_cast<unsigned>(coding.learned->fit.groups);
    seconds = static_cast<float>(coding.learned->fit.seconds);
  }
  if (!fills.empty()) how |= has_fills;
  values.insert(values.end(), {static_cast<unsigned>(coding.predictor), how, groups, std::bit_cast<unsigned>(seconds),
                               static_cast<unsigned>(bytes.size()), static_cast<unsigned>(chunk.size())});
  values.insert(values.end(), chunk.begin(), chunk.end());
  const std::size_t at = values.size();
  values.resize(at + (bytes.size() + 3) / 4, 0u);
  if (!bytes.empty()) std::memcpy(values.data() + at, bytes.data(), bytes.size());
  if (!fills.empty()) {
    values.push_back(static_cast<unsigned>(fills.size()));
    values.resize(values.size() + 2 * fills.size());
    std::memcpy(values.data() + values.size() - 2 * fills.size(), fills.data(), fills.size() * sizeof(double));
  }
  const std::uint64_t sum = checksum_of(values.size(), values.data());
  values.resize(values.size() + checksum_words);
  std::memcpy(values.data() + values.size() - checksum_words, &sum, sizeof sum);
  return values;
}

}  // namespace cambium::io
