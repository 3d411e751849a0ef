#include "core/train/run/event_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::train {

std::uint32_t masked_crc(std::string_view bytes) {
  static const auto table = [] {
    constexpr std::uint32_t castagnoli = 0x82f63b78u;  // bit-reversed
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t n = 0; n < out.size(); ++n) {
      std::uint32_t value = n;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1u ? castagnoli : 0u);
      out[n] = value;
    }
    return out;
  }();
  std::uint32_t sum = 0xffffffffu;
  for (const char c : bytes) sum = (sum >> 8) ^ table[(sum ^ static_cast<unsigned char>(c)) & 0xffu];
  sum ^= 0xffffffffu;
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

namespace {

/// Encodes a value in little endian.
template <class T>
std::string little_endian(T value) {
  std::string out(sizeof(T), '\0');
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  for (std::size_t k = 0; k < sizeof(T); ++k) out[k] = static_cast<char>((bits >> (8 * k)) & 0xffu);
  return out;
}

std::uint64_t number_at(std::string_view bytes, std::size_t count) {
  std::uint64_t out = 0;
  for (std::size_t k = 0; k < count; ++k)
    out |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[k])) << 8 * k;
  return out;
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}

enum class Wire : unsigned { number = 0, eight_bytes = 1, text = 2, four_bytes = 5 };

std::string field_key(unsigned field, Wire wire) { return varint(field << 3 | static_cast<unsigned>(wire)); }

std::string text_field(unsigned field, const std::string& content) {
  return field_key(field, Wire::text) + varint(content.size()) + content;
}

std::string record_of(const std::string& content) {
  const std::string length = little_endian(static_cast<std::uint64_t>(content.size()));
  return length + little_endian(masked_crc(length)) + content + little_endian(masked_crc(content));
}

/// Event with wall_time and step first, as step_of() expects.
std::string event_of(std::int64_t step, const std::string& rest) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return record_of(field_key(1, Wire::eight_bytes) + little_endian(now) + field_key(2, Wire::number) +
                   varint(static_cast<std::uint64_t>(step)) + rest);
}

std::int64_t step_of(std::string_view content) {
  std::uint64_t step = 0;
  constexpr std::size_t first = 10;  // after wall_time and the key
  for (std::size_t k = first, shift = 0; k < content.size() && shift < 64; ++k, shift += 7) {
    const auto byte = static_cast<unsigned char>(content[k]);
    step |= static_cast<std::uint64_t>(byte & 127u) << shift;
    if (byte < 128) break;
  }
  return static_cast<std::int64_t>(step);
}

/// The complete records up to a step; empty if the file does not exist.
std::string kept_records(const std::string& path, std::int64_t last) {
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  constexpr std::size_t head = 12, tail = 4;
  std::size_t at = 0;
  while (all.size() - at >= head + tail) {
    const auto rest = std::string_view(all).substr(at);
    const auto length = number_at(rest, 8);
    if (masked_crc(rest.substr(0, 8)) != number_at(rest.substr(8), 4) || length > rest.size() - head - tail) break;
    const auto content = rest.substr(head, length);
    if (masked_crc(content) != number_at(rest.substr(head + length), 4) || step_of(content) > last) break;
    at += head + length + tail;
  }
  return all.substr(0, at);
}

}  // namespace

EventFile::EventFile(const Context& context, std::optional<std::int64_t> resumed_at)
    : comm_(context.comm), path_((std::filesystem::path(context.run_directory) / name).string()) {
  io::on_root(comm_, [&] {
    std::string kept = resumed_at ? kept_records(path_, *resumed_at) : "";
    if (kept.empty()) kept = event_of(0, text_field(3, "brain.Event:2"));
    io::write_file_atomically(path_, kept);
    file_ = std::fopen(path_.c_str(), "ab");
    if (!file_) io::refuse_write(path_, std::strerror(errno));
  });
}

EventFile::~EventFile() {
  if (file_) std::fclose(file_);
}

void EventFile::append(const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() || std::fflush(file_) != 0)
    io::refuse_write(path_, std::strerror(errno));
}

void EventFile::add(std::int64_t step, std::span<const Scalar> scalars) {
  io::on_root(comm_, [&] {
    std::string values;
    for (const auto& [tag, value] : scalars)
      values +=
          text_field(1, text_field(1, tag) + field_key(2, Wire::four_bytes) + little_endian(static_cast<float>(value)));
    append(event_of(step, text_field(5, values)));
  });
}

}  // namespace cambium::train
