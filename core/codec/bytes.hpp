#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace cambium::lowp {

/// A stream not written by lossy_encode(): truncated, changed, or something else.
struct DamagedStream {};

/// Appends values in their memory representation to a byte array.
class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put(std::span<const T>(&value, 1)); }
  template <class T>
  void put(std::span<const T> values) {
    const auto raw = std::as_bytes(values);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  /// The number of values first.
  template <class T>
  void put_list(const std::vector<T>& values) {
    put<std::uint64_t>(values.size());
    put(std::span<const T>(values));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads them back; throws DamagedStream at the end of the data.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, next(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> get_list() {
    const auto n = get<std::uint64_t>();
    if (n > rest_.size() / sizeof(T)) throw DamagedStream{};
    std::vector<T> values(n);
    if (n > 0) std::memcpy(values.data(), next(n * sizeof(T)).data(), n * sizeof(T));
    return values;
  }
  std::span<const std::byte> next(std::size_t n) {
    if (n > rest_.size()) throw DamagedStream{};
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace cambium::lowp
