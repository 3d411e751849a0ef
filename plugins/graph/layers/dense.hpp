#pragma once
#include "core/sparse/products.hpp"

namespace cambium::graph {

using sparse::Rows;

/// Rows that are read; T follows from the other arguments.
template <class T>
using Given = std::type_identity_t<Rows<const T>>;

/// Products of many rows with a small matrix, in host memory. Every value is one sum in a fixed order: rows do not
/// depend on the number of other rows. T: double or float.

/// out = h w, or out += h w if `add`; w is h.width x out.width, contiguous.
template <class T>
void times(Given<T> h, const T* w, std::type_identity_t<Rows<T>> out, bool add = false);

/// out = g w^T, or out += g w^T if `add`; w is out.width x g.width, contiguous.
template <class T>
void times_transposed(Given<T> g, const T* w, std::type_identity_t<Rows<T>> out, bool add = false);

/// w += h^T g over all rows; w is h.width x g.width, contiguous.
template <class T>
void add_outer(Given<T> h, Given<T> g, T* w);

/// The same for rows [first, last) of a sparse h; g starts with row `first`.
template <class T>
void add_outer(const sparse::Csr<T>& h, std::int64_t first, std::int64_t last, Given<T> g, T* w);

/// w += sum of the rows.
template <class T>
void add_rows(Given<T> g, T* w);

/// Rows [first, last).
template <class T>
Rows<T> part(Rows<T> rows, std::int64_t first, std::int64_t last) {
  return {rows.data + first * rows.stride, last - first, rows.width, rows.stride};
}

}  // namespace cambium::graph
