#include "plugins/graph/layers/wrapped.hpp"

#include <cmath>

#include "plugins/graph/layers/rows.hpp"

namespace cambium::graph {

template <class T>
void Residual<T>::forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws& draws,
                          Rows<T> y) {
  inner_->forward(x, weights.first(parameters_), spread, draws, y);
  x_ = x;
  const auto own = rows_in(own_, x.rows(), y.width);
  product(x, weights[parameters_], shape_.in, own);
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (std::int64_t k = 0; k < y.width; ++k) y.row(i)[k] += own.row(i)[k];
}

template <class T>
void Residual<T>::backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) {
  inner_->backward(weights.first(parameters_), by_y, by_x);
  by_y_ = by_y;
  if (by_x.data) times_transposed(by_y, weights[parameters_], part(by_x, 0, by_y.rows), true);
}

template <class T>
void Residual<T>::gradient(const RowRange& rows, std::span<T* const> gradients) {
  inner_->gradient(rows, gradients.first(parameters_));
  add_outer_product(x_, rows.outputs_first, rows.outputs_last, part(by_y_, rows.outputs_first, rows.outputs_last),
                    gradients[parameters_]);
}

template <class T>
void Normalised<T>::forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws& draws,
                            Rows<T> y) {
  constexpr double least = 1e-5;
  inner_->forward(x, weights.first(parameters_), spread, draws, y);
  const auto scaled = rows_in(scaled_, y.rows, y.width);
  over_deviation_.resize(y.rows);
  const T *gain = weights[parameters_], *bias = weights[parameters_ + 1];
  const auto width = static_cast<double>(y.width);
  for (std::int64_t i = 0; i < y.rows; ++i) {
    T* row = y.row(i);
    double sum = 0.0, squares = 0.0;
    for (std::int64_t k = 0; k < y.width; ++k) sum += static_cast<double>(row[k]);
    const double mean = sum / width;
    for (std::int64_t k = 0; k < y.width; ++k)
      squares += (static_cast<double>(row[k]) - mean) * (static_cast<double>(row[k]) - mean);
    const double by = 1.0 / std::sqrt(squares / width + least);
    over_deviation_[i] = static_cast<T>(by);
    for (std::int64_t k = 0; k < y.width; ++k) {
      scaled.row(i)[k] = static_cast<T>((static_cast<double>(row[k]) - mean) * by);
      row[k] = gain[k] * scaled.row(i)[k] + bias[k];
    }
  }
}

template <class T>
void Normalised<T>::backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) {
  by_y_ = by_y;
  const auto by_inner = rows_in(by_inner_, by_y.rows, by_y.width);
  const T* gain = weights[parameters_];
  const auto width = static_cast<double>(by_y.width);
  for (std::int64_t i = 0; i < by_y.rows; ++i) {
    const T *slope = by_y.row(i), *scaled = scaled_.data() + i * by_y.width;
    double sum = 0.0, along = 0.0;
    for (std::int64_t k = 0; k < by_y.width; ++k) {
      const double g = static_cast<double>(slope[k] * gain[k]);
      sum += g;
      along += g * static_cast<double>(scaled[k]);
    }
    for (std::int64_t k = 0; k < by_y.width; ++k)
      by_inner.row(i)[k] = static_cast<T>(
          (static_cast<double>(slope[k] * gain[k]) - sum / width - static_cast<double>(scaled[k]) * along / width) *
          static_cast<double>(over_deviation_[i]));
  }
  inner_->backward(weights.first(parameters_), by_inner, by_x);
}

template <class T>
void Normalised<T>::gradient(const RowRange& rows, std::span<T* const> gradients) {
  inner_->gradient(rows, gradients.first(parameters_));
  for (auto i = rows.outputs_first; i < rows.outputs_last; ++i) {
    const T *slope = by_y_.row(i), *scaled = scaled_.data() + i * by_y_.width;
    for (std::int64_t k = 0; k < by_y_.width; ++k) {
      gradients[parameters_][k] += slope[k] * scaled[k];
      gradients[parameters_ + 1][k] += slope[k];
    }
  }
}

template class Residual<float>;
template class Residual<double>;
template class Normalised<float>;
template class Normalised<double>;

}  // namespace cambium::graph
