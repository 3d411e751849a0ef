#include "plugins/graph/layers/convolution.hpp"

#include "plugins/graph/layers/rows.hpp"

namespace cambium::graph {

template <class T>
void Convolution<T>::forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws&,
                             Rows<T> y) {
  x_ = x;
  spread_ = &spread;
  if (narrows()) {
    const auto between = rows_in(between_, x.rows(), shape_.out);
    product(x, weights[0], shape_.in, between);
    spread.multiply(between, y);
  } else {
    const auto between = rows_in(between_, spread.outputs(), shape_.in);
    if (x.sparse) throw InternalError("a layer that widens was given sparse rows");
    spread.multiply(x.dense, between);
    times(between, weights[0], y);
  }
  if (shape_.bias) add_bias(weights[1], y);
}

template <class T>
void Convolution<T>::backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) {
  by_y_ = by_y;
  if (narrows()) {
    const auto slope = rows_in(slope_, x_.rows(), shape_.out);
    spread_->multiply_transposed(by_y, slope);
    if (by_x.data) times_transposed(slope, weights[0], by_x);
  } else if (by_x.data) {
    const auto slope = rows_in(slope_, by_y.rows, shape_.in);
    times_transposed(by_y, weights[0], slope);
    spread_->multiply_transposed(slope, by_x);
  }
}

template <class T>
void Convolution<T>::gradient(const RowRange& rows, std::span<T* const> gradients) {
  const auto by_y = part(by_y_, rows.outputs_first, rows.outputs_last);
  if (narrows()) {
    const Rows<const T> slope{slope_.data(), x_.rows(), shape_.out, shape_.out};
    add_outer_product(x_, rows.inputs_first, rows.inputs_last, part(slope, rows.inputs_first, rows.inputs_last),
                      gradients[0]);
  } else {
    const Rows<const T> between{between_.data(), by_y_.rows, shape_.in, shape_.in};
    add_outer(part(between, rows.outputs_first, rows.outputs_last), by_y, gradients[0]);
  }
  if (shape_.bias) add_rows(by_y, gradients[1]);
}

template <class T>
void Sage<T>::forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws&,
                      Rows<T> y) {
  x_ = x;
  spread_ = &spread;
  if (narrows()) {
    const auto between = rows_in(between_, x.rows(), shape_.out);
    product(x, weights[1], shape_.in, between);
    spread.multiply(between, y);
  } else {
    const auto between = rows_in(between_, spread.outputs(), shape_.in);
    if (x.sparse) throw InternalError("a layer that widens was given sparse rows");
    spread.multiply(x.dense, between);
    times(between, weights[1], y);
  }
  const auto own = rows_in(own_, x.rows(), shape_.out);
  product(x, weights[0], shape_.in, own);
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t k = 0; k < y.width; ++k) y.row(i)[k] += own.row(i)[k];
  if (shape_.bias) add_bias(weights[2], y);
}

template <class T>
void Sage<T>::backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) {
  by_y_ = by_y;
  if (narrows()) {
    const auto slope = rows_in(slope_, x_.rows(), shape_.out);
    spread_->multiply_transposed(by_y, slope);
    if (by_x.data) times_transposed(slope, weights[1], by_x);
  } else if (by_x.data) {
    const auto slope = rows_in(slope_, by_y.rows, shape_.in);
    times_transposed(by_y, weights[1], slope);
    spread_->multiply_transposed(slope, by_x);
  }
  if (by_x.data) times_transposed(by_y, weights[0], part(by_x, 0, by_y.rows), true);
}

template <class T>
void Sage<T>::gradient(const RowRange& rows, std::span<T* const> gradients) {
  const auto by_y = part(by_y_, rows.outputs_first, rows.outputs_last);
  add_outer_product(x_, rows.outputs_first, rows.outputs_last, by_y, gradients[0]);
  if (narrows()) {
    const Rows<const T> slope{slope_.data(), x_.rows(), shape_.out, shape_.out};
    add_outer_product(x_, rows.inputs_first, rows.inputs_last, part(slope, rows.inputs_first, rows.inputs_last),
                      gradients[1]);
  } else {
    const Rows<const T> between{between_.data(), by_y_.rows, shape_.in, shape_.in};
    add_outer(part(between, rows.outputs_first, rows.outputs_last), by_y, gradients[1]);
  }
  if (shape_.bias) add_rows(by_y, gradients[2]);
}

template class Convolution<float>;
template class Convolution<double>;
template class Sage<float>;
template class Sage<double>;

}  // namespace cambium::graph
