#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cambium::graph {

/// Hash that identifies contents: FNV-1a, eight bytes at a time.
class Fingerprint {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    const std::size_t size = values.size() * sizeof(T);
    for (std::size_t at = 0; at < size; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, std::min<std::size_t>(8, size - at));
      mix(word);
    }
    mix(size);
  }
  std::uint64_t value() const { return hash_; }

 private:
  void mix(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u, hash_ ^= hash_ >> 29; }
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace cambium::graph
