#pragma once
#include <algorithm>
#include <vector>

#include "core/base/error.hpp"
#include "plugins/graph/layers/dense.hpp"
#include "plugins/graph/layers/layer.hpp"

namespace cambium::graph {

/// Uses the memory of a vector as contiguous rows; its old content is lost.
template <class T>
Rows<T> rows_in(std::vector<T>& memory, std::int64_t rows, std::int64_t width) {
  memory.resize(rows * width);
  return {memory.data(), rows, width, width};
}

/// out = x w, w being in x out.width.
template <class T>
void product(const Input<T>& x, const T* w, std::int64_t in, Rows<T> out) {
  if (x.sparse)
    sparse::multiply(*x.sparse, Rows<const T>{w, in, out.width, out.width}, out);
  else
    times(x.dense, w, out);
}

/// w += x^T g over rows [first, last) of x; g has these rows only.
template <class T>
void add_outer_product(const Input<T>& x, std::int64_t first, std::int64_t last, Rows<const T> g, T* w) {
  if (x.sparse)
    add_outer(*x.sparse, first, last, g, w);
  else
    add_outer(part(x.dense, first, last), g, w);
}

/// Initialises every row of y with the bias, or with zeros.
template <class T>
void add_bias(const T* bias, Rows<T> y) {
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t k = 0; k < y.width; ++k) y.row(i)[k] += bias[k];
}

}  // namespace cambium::graph
