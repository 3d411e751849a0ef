#include "core/io/lossy_filter/filter.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>

namespace cambium::io {
namespace {

// Stored values: version, bytes per value, kind of bound, bound (two words), extents of a chunk.
constexpr unsigned version = 1;
constexpr std::size_t first_extent = 5;

struct Settings {
  lowp::LossyBound bound;
  unsigned bytes_per_value = 4;
  std::vector<std::int64_t> chunk;
};

bool read_settings(std::size_t n, const unsigned* values, Settings& out) {
  if (n <= first_extent || values[0] != version) return false;
  out.bytes_per_value = values[1];
  out.bound.kind = values[2] == 0 ? lowp::LossyBound::Kind::absolute : lowp::LossyBound::Kind::relative;
  std::memcpy(&out.bound.value, values + 3, sizeof(double));
  out.chunk.assign(values + first_extent, values + n);
  return true;
}

template <class T>
std::vector<std::byte> encode(const Settings& settings, const void* data, std::size_t bytes) {
  return lowp::lossy_encode<T>({static_cast<const T*>(data), bytes / sizeof(T)}, settings.chunk, settings.bound);
}

template <class T>
std::vector<std::byte> decode(std::span<const std::byte> stream, std::int64_t n) {
  std::vector<std::byte> out(static_cast<std::size_t>(n) * sizeof(T));
  lowp::lossy_decode<T>(stream, {reinterpret_cast<T*>(out.data()), static_cast<std::size_t>(n)});
  return out;
}

/// HDF5 frees and keeps buffers of malloc().
std::size_t hand_over(const std::vector<std::byte>& result, std::size_t* size, void** buffer) {
  void* fresh = std::malloc(result.size());
  if (!fresh) return 0;
  std::memcpy(fresh, result.data(), result.size());
  std::free(*buffer);
  *buffer = fresh, *size = result.size();
  return result.size();
}

/// Returns the number of bytes, 0 for a failure.
std::size_t run(unsigned flags, std::size_t n, const unsigned* values, std::size_t bytes, std::size_t* size,
                void** buffer) try {
  if (flags & H5Z_FLAG_REVERSE) {
    const std::span<const std::byte> stream(static_cast<const std::byte*>(*buffer), bytes);
    const auto info = lowp::lossy_info(stream);
    return hand_over(
        info.bytes_per_value == 4 ? decode<float>(stream, info.elements()) : decode<double>(stream, info.elements()),
        size, buffer);
  }
  Settings settings;
  if (!read_settings(n, values, settings)) return 0;
  return hand_over(settings.bytes_per_value == 4 ? encode<float>(settings, *buffer, bytes)
                                                 : encode<double>(settings, *buffer, bytes),
                   size, buffer);
} catch (const std::exception&) {
  return 0;
}

}  // namespace

const H5Z_class2_t lossy_filter{H5Z_CLASS_T_VERS, lossy_filter_id, 1,  1, "Cambium error-bounded lossy",
                                nullptr,          nullptr,         run};

std::vector<unsigned> lossy_filter_values(lowp::LossyBound bound, int bytes_per_value,
                                          const std::vector<unsigned>& chunk) {
  std::vector<unsigned> values{version, static_cast<unsigned>(bytes_per_value),
                               bound.kind == lowp::LossyBound::Kind::absolute ? 0u : 1u, 0, 0};
  std::memcpy(values.data() + 3, &bound.value, sizeof(double));
  values.insert(values.end(), chunk.begin(), chunk.end());
  return values;
}

}  // namespace cambium::io
