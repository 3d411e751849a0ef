#pragma once
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/sparse/csr.hpp"

namespace cambium::sparse {

/// A dense matrix in host memory, row-major: row i begins at data + i * stride (elements) and holds `width` values.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t rows = 0, width = 0, stride = 0;

  operator Rows<const T>() const requires(!std::is_const_v<T>) { return {data, rows, width, stride}; }
  T* row(std::int64_t i) const { return data + i * stride; }
};

/// How multiply() walks through a matrix; no result depends on it.
struct Walk {
  bool slices = false;       ///< all rows in one tile of the width, then all in the next; else row by row
  bool ahead = false;        ///< rows of h that later entries need are fetched from far memory meanwhile
  bool past_caches = false;  ///< non-temporal stores of results
};

/// Row by row; with prefetching if the rows of h in use exceed L2, with non-temporal stores if the result exceeds L3.
/// HybridMatrix times other walks.
template <class T>
Walk usual_walk(const Csr<T>& a, std::int64_t width);

/// out = A h, or out += A h when `add`: h is columns x width, out is rows x width. T: double, float, or Bf16 with sums
/// in float. Each element is one sum in ascending order of the column (fused multiply-adds), starting from 0 or from
/// the value in `out`: it does not depend on how the matrix is divided into ranges of rows. InternalError for shapes
/// that do not fit.
///
/// The lower bound is memory traffic: entries * (4 + size of T) bytes of the matrix, each row of h once if the caches
/// hold them (for every entry if they do not), and `out` written: with w bytes in a row, entries * (4 + size) +
/// (columns +
/// rows) * w to entries * (4 + size + w) + rows * w. Flops are 2 * entries * width, less than one per byte.
template <class T>
void multiply(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out,
              bool add = false);
template <class T>
void multiply(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out, bool add,
              Walk walk);

/// out = A^T h, or out += A^T h when `add`: h is rows x width, out is columns x width. The transpose is not formed;
/// sums run in ascending order of the row, as those of multiply(transposed(a), ...) do.
template <class T>
void multiply_transposed(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out,
                         bool add = false);

/// out[e] = u_i . v_j for every entry e = (i, j) of the pattern, whose values are not used: u is rows x width, v is
/// columns x width, `out` as long as the pattern has entries.
template <class T>
void sampled_products(const Csr<T>& pattern, std::type_identity_t<Rows<const T>> u,
                      std::type_identity_t<Rows<const T>> v, std::type_identity_t<std::span<T>> out);

}  // namespace cambium::sparse
