#pragma once
#include "plugins/deepmd/model/lanes.hpp"

namespace cambium::deepmd {

/// Consecutive channels that one device thread processes together: 16 bytes, loaded by one instruction. The threads of
/// a pair then issue a quarter (float) or half (double) of the loads, and the data of the pair itself are reused for as
/// many channels.
template <class T>
struct alignas(16) ChannelGroup {
  static constexpr int width = 16 / static_cast<int>(sizeof(T));
  T v[width];

  ChannelGroup() = default;
  CAMBIUM_FN explicit ChannelGroup(T x) {
    for (T& value : v) value = x;
  }
  /// `p` must be aligned to 16 bytes.
  CAMBIUM_FN static ChannelGroup load(const T* p) { return *reinterpret_cast<const ChannelGroup*>(p); }
  CAMBIUM_FN friend ChannelGroup operator+(ChannelGroup a, const ChannelGroup& b) { return a += b; }
  CAMBIUM_FN friend ChannelGroup operator*(ChannelGroup a, const ChannelGroup& b) {
    for (int k = 0; k < width; ++k) a.v[k] *= b.v[k];
    return a;
  }
  CAMBIUM_FN ChannelGroup& operator+=(const ChannelGroup& b) {
    for (int k = 0; k < width; ++k) v[k] += b.v[k];
    return *this;
  }
  CAMBIUM_FN friend T sum(const ChannelGroup& a) {
    T out = a.v[0];
    for (int k = 1; k < width; ++k) out += a.v[k];
    return out;
  }
};

/// Accessors of G(x) and G'(x) of a pair for kernels, one pack of channels at a time: two types with one interface.
/// Channels is the type, pack or group of packs, in which a device team reads channels.

/// Reads the rows written by the embedding networks: slot = (row of values, row of derivatives).
template <class T>
struct NetworkRows {
  const T* rows = nullptr;
  int stride = 0;
  using Channels = Lane<T>;

  KOKKOS_FORCEINLINE_FUNCTION Lane<T> value(const int* slot, T, int pack) const {
    return Lane<T>::load(rows + static_cast<std::int64_t>(slot[0]) * stride + pack * lanes<T>);
  }
  KOKKOS_FORCEINLINE_FUNCTION void both(const int* slot, T t, int pack, Lane<T>& value_out, Lane<T>& slope) const {
    value_out = value(slot, t, pack);
    slope = Lane<T>::load(rows + static_cast<std::int64_t>(slot[1]) * stride + pack * lanes<T>);
  }
};

/// Strides of the coefficients within an interval of `stride` values: contiguous by pack on the host, by power on a
/// device, so that adjacent threads read adjacent values.
template <class T>
struct TablePlaces {
  int between_packs, between_powers;
  CAMBIUM_FN explicit TablePlaces(int stride)
      : between_packs(device_is_host ? 6 * lanes<T> : lanes<T>),
        between_powers(device_is_host ? lanes<T> : stride / 6) {}
};

/// Evaluates the quintic table: slot[0] is the interval, t the position within it; the slope is per interval. C is a
/// pack or a group of channels, `item` its index.
template <class T>
struct TableRows {
  const T* coefficients = nullptr;
  int stride = 0;
  using Channels = ChannelGroup<T>;

  template <class C>
  KOKKOS_FORCEINLINE_FUNCTION const T* at(const int* slot, int item) const {
    const T* const interval = coefficients + static_cast<std::int64_t>(slot[0]) * stride;
    if constexpr (C::width == lanes<T>) return interval + item * TablePlaces<T>(stride).between_packs;
    const int c = item * C::width;
    return interval + c / lanes<T> * TablePlaces<T>(stride).between_packs + c % lanes<T>;
  }
  template <class C = Lane<T>>
  KOKKOS_FORCEINLINE_FUNCTION C value(const int* slot, T t, int item) const {
    const T* a = at<C>(slot, item);
    const int step = TablePlaces<T>(stride).between_powers;
    const C x(t);
    C v = C::load(a + 5 * step);
    for (int k = 4; k >= 0; --k) v = v * x + C::load(a + k * step);
    return v;
  }
  template <class C>
  KOKKOS_FORCEINLINE_FUNCTION void both(const int* slot, T t, int item, C& value_out, C& slope) const {
    const T* a = at<C>(slot, item);
    const int step = TablePlaces<T>(stride).between_powers;
    const C x(t);
    C v = C::load(a + 5 * step), d = v;
    for (int k = 4; k >= 1; --k) {
      v = v * x + C::load(a + k * step);
      d = d * x + v;
    }
    value_out = v * x + C::load(a);
    slope = d;
  }
};

}  // namespace cambium::deepmd
