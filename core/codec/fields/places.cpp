#include "core/codec/fields/places.hpp"

#include "core/codec/packed.hpp"

namespace cambium::lowp {

void put_places(std::span<const std::uint64_t> places, ByteWriter& out) {
  std::vector<std::byte> bytes;
  std::uint64_t next = 0;
  for (auto place : places) {
    std::uint64_t gap = place - next;
    for (; gap > 127; gap >>= 7) bytes.push_back(static_cast<std::byte>((gap & 127) | 128));
    bytes.push_back(static_cast<std::byte>(gap));
    next = place + 1;
  }
  out.put<std::uint64_t>(places.size());
  out.put<std::uint64_t>(bytes.size());
  if (!bytes.empty()) out.put_list(pack(bytes, {}));
}

std::vector<std::uint64_t> get_places(ByteReader& in, std::uint64_t end) {
  const auto count = in.get<std::uint64_t>(), length = in.get<std::uint64_t>();
  if (count > end || length < count) throw DamagedStream{};
  if (length == 0) return {};
  const auto packed = in.get_list<std::byte>();
  const auto bytes = unpack(packed, {}, length);
  std::vector<std::uint64_t> places;
  std::uint64_t gap = 0, next = 0;
  int shift = 0;
  for (auto byte : bytes) {
    gap |= (static_cast<std::uint64_t>(byte) & 127) << shift;
    shift += 7;
    if ((byte & std::byte{128}) != std::byte{0}) {
      if (shift > 56) throw DamagedStream{};
      continue;
    }
    if (gap >= end || next + gap >= end) throw DamagedStream{};
    places.push_back(next + gap);
    next = places.back() + 1;
    gap = 0;
    shift = 0;
  }
  if (places.size() != count) throw DamagedStream{};
  return places;
}

}  // namespace cambium::lowp
