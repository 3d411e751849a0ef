#pragma once
#include <cstdint>

#include "core/sparse/csr.hpp"

namespace cambium::graph {

/// Memory of the arrays of a sparse matrix, in bytes.
template <class T>
std::int64_t bytes_of(const sparse::Csr<T>& a) {
  return 8 * std::ssize(a.start) + 4 * std::ssize(a.column) +
         static_cast<std::int64_t>(sizeof(T)) * std::ssize(a.value);
}

/// Memory of the elements of some vectors, in bytes.
template <class... V>
std::int64_t bytes_in(const V&... vectors) {
  return (std::int64_t{0} + ... + static_cast<std::int64_t>(vectors.size() * sizeof(typename V::value_type)));
}

}  // namespace cambium::graph
