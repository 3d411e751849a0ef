#pragma once
#include "plugins/deepmd/layers/lanes.hpp"

namespace cambium::deepmd {

/// Where a kernel finds G(x) and G'(x) of a pair, one pack of channels at a time: two ways with one interface.

/// From the rows that the embedding networks have written: slot = (row of values, row of derivatives).
template <class T>
struct NetworkRows {
  const T* rows = nullptr;
  int stride = 0;

  KOKKOS_FORCEINLINE_FUNCTION Lane<T> value(const int* slot, T, int pack) const {
    return Lane<T>::load(rows + static_cast<std::int64_t>(slot[0]) * stride + pack * lanes<T>);
  }
  KOKKOS_FORCEINLINE_FUNCTION void both(const int* slot, T t, int pack, Lane<T>& value_out, Lane<T>& slope) const {
    value_out = value(slot, t, pack);
    slope = Lane<T>::load(rows + static_cast<std::int64_t>(slot[1]) * stride + pack * lanes<T>);
  }
};

/// Where the coefficients of a pack of channels lie within an interval of `stride` numbers: those of one pack together
/// on the host, those of one power on a device, so that neighbouring threads read neighbouring numbers.
template <class T>
struct TablePlaces {
  int between_packs, between_powers;
  CAMBIUM_FN explicit TablePlaces(int stride)
      : between_packs(device_is_host ? 6 * lanes<T> : lanes<T>),
        between_powers(device_is_host ? lanes<T> : stride / 6) {}
};

/// From the quintic table: slot[0] is the interval, t the place within it; the slope is per interval.
template <class T>
struct TableRows {
  const T* coefficients = nullptr;
  int stride = 0;

  KOKKOS_FORCEINLINE_FUNCTION const T* at(const int* slot, int pack) const {
    return coefficients + static_cast<std::int64_t>(slot[0]) * stride + pack * TablePlaces<T>(stride).between_packs;
  }
  KOKKOS_FORCEINLINE_FUNCTION Lane<T> value(const int* slot, T t, int pack) const {
    const T* a = at(slot, pack);
    const int step = TablePlaces<T>(stride).between_powers;
    const Lane<T> x(t);
    Lane<T> v = Lane<T>::load(a + 5 * step);
    for (int k = 4; k >= 0; --k) v = v * x + Lane<T>::load(a + k * step);
    return v;
  }
  KOKKOS_FORCEINLINE_FUNCTION void both(const int* slot, T t, int pack, Lane<T>& value_out, Lane<T>& slope) const {
    const T* a = at(slot, pack);
    const int step = TablePlaces<T>(stride).between_powers;
    const Lane<T> x(t);
    Lane<T> v = Lane<T>::load(a + 5 * step), d = v;
    for (int k = 4; k >= 1; --k) {
      v = v * x + Lane<T>::load(a + k * step);
      d = d * x + v;
    }
    value_out = v * x + Lane<T>::load(a);
    slope = d;
  }
};

}  // namespace cambium::deepmd
