#pragma once
#include <cstdint>
#include <type_traits>

namespace cambium {

enum class DType : std::uint8_t { f64, f32, bf16, i64, i32, u32, i8, u8 };
/// Floating-point format of a computation, set in a deck by `precision`. A key offers the formats that its type
/// supports. bfloat16: factors of products are rounded to it; sums and stored weights are float32.
enum class Precision : std::uint8_t { float64, float32, bfloat16 };
enum class Space : std::uint8_t { host, device };

constexpr std::int64_t size_of(DType type) {
  switch (type) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    case DType::bf16:
      return 2;
    default:
      return 1;
  }
}

/// The DType of a C++ element type.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<U, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<U, std::int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<U, std::int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<U, std::uint32_t>)
    return DType::u32;
  else if constexpr (std::is_same_v<U, std::int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<U, std::uint8_t>)
    return DType::u8;
  else
    static_assert(!sizeof(U), "no DType for this element type");
}

/// A view of somebody else's array: all that crosses between Kokkos, HDF5, MPI and a model library.
/// Strides are in elements. Trivially copyable.
struct TensorRef {
  void* data = nullptr;
  int rank = 0;
  std::int64_t shape[6] = {};
  std::int64_t stride[6] = {};
  DType dtype = DType::f64;
  Space space = Space::host;
  int device = 0;
  bool is_const = false;

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= shape[k];
    return n;
  }
  bool contiguous() const {
    std::int64_t expected = 1;
    for (int k = rank - 1; k >= 0; --k) {
      if (shape[k] != 1 && stride[k] != expected) return false;
      expected *= shape[k];
    }
    return true;
  }
};

}  // namespace cambium
