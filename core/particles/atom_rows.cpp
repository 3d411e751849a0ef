#include "core/particles/atom_rows.hpp"

#include <cstring>

#include "core/parallel/host_threads.hpp"

namespace cambium {
namespace {

/// Number of atoms worth a thread.
constexpr std::int64_t enough_atoms = 1024;

template <std::size_t Bytes>
void gather(const std::byte* from, std::byte* to, const std::vector<int>& order) {
  in_shares(std::ssize(order), enough_atoms, [&](std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
      std::memcpy(to + i * Bytes, from + order[i] * Bytes, Bytes);
  });
}

/// Sizes known at compile time make the copies single moves.
void gather(const std::byte* from, std::byte* to, const std::vector<int>& order, std::size_t bytes) {
  switch (bytes) {
    case 4:
      return gather<4>(from, to, order);
    case 8:
      return gather<8>(from, to, order);
    case 12:
      return gather<12>(from, to, order);
    case 24:
      return gather<24>(from, to, order);
    case 32:
      return gather<32>(from, to, order);
    default:
      for (std::size_t i = 0; i < order.size(); ++i) std::memcpy(to + i * bytes, from + order[i] * bytes, bytes);
  }
}

}  // namespace

template <class V>
typename V::HostMirror AtomRows::enter(const V& array) {
  auto host = Kokkos::create_mirror_view(array);
  Kokkos::deep_copy(host, array);
  std::size_t bytes = sizeof(typename V::value_type);
  for (std::size_t d = 1; d < V::rank; ++d) bytes *= array.extent(d);
  columns_.push_back({reinterpret_cast<std::byte*>(host.data()), bytes});
  row_bytes_ += bytes;
  return host;
}

AtomRows::AtomRows(Particles& p, const std::vector<View<double**>*>& carried)
    : x_(enter(p.x)), v_(enter(p.v)), f_(enter(p.f)), tag_(enter(p.tag)), image_(enter(p.image)),
      group_(enter(p.group)) {
  for (auto* array : carried) {
    if (static_cast<int>(array->extent(0)) < p.capacity()) Kokkos::resize(*array, p.capacity(), array->extent(1));
    carried_.push_back(enter(*array));
  }
}

void AtomRows::pack(int row, std::byte* to) const {
  for (const auto& c : columns_) {
    std::memcpy(to, c.data + row * c.bytes, c.bytes);
    to += c.bytes;
  }
}

void AtomRows::unpack(int row, const std::byte* from) {
  for (const auto& c : columns_) {
    std::memcpy(c.data + row * c.bytes, from, c.bytes);
    from += c.bytes;
  }
}

void AtomRows::permute(const std::vector<int>& order) {
  for (const auto& c : columns_) {
    scratch_.resize(order.size() * c.bytes);
    gather(c.data, scratch_.data(), order, c.bytes);
    in_shares(std::ssize(scratch_), enough_atoms * 8, [&](std::int64_t first, std::int64_t last) {
      if (first < last)  // memcpy refuses null even for 0 bytes
        std::memcpy(c.data + first, scratch_.data() + first, static_cast<std::size_t>(last - first));
    });
  }
}

void AtomRows::store(Particles& p, const std::vector<View<double**>*>& carried) const {
  Kokkos::deep_copy(p.x, x_);
  Kokkos::deep_copy(p.tag, tag_);
  Kokkos::deep_copy(p.v, v_);
  Kokkos::deep_copy(p.f, f_);
  Kokkos::deep_copy(p.image, image_);
  Kokkos::deep_copy(p.group, group_);
  for (std::size_t k = 0; k < carried.size(); ++k) Kokkos::deep_copy(*carried[k], carried_[k]);
}

}  // namespace cambium
