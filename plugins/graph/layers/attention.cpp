#include "plugins/graph/layers/attention.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/counts.hpp"
#include "plugins/graph/layers/rows.hpp"

namespace cambium::graph {

namespace {

template <class T>
T dot(const T* a, const T* b, std::int64_t n) {
  T sum = 0;
  for (std::int64_t k = 0; k < n; ++k) sum = std::fma(a[k], b[k], sum);
  return sum;
}

template <class T>
void add(T factor, const T* from, T* to, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) to[k] = std::fma(factor, from[k], to[k]);
}

constexpr std::int64_t most_heads = 64;

}  // namespace

/// Computes z of the inputs, followed by their source scores (`heard`), and the target scores (`hearing`) of the
/// outputs.
template <class T>
void Attention<T>::project(std::span<const T* const> weights) {
  const std::int64_t width = z_width(), row = width + heads();
  std::vector<T> z(at(x_.rows() * width));
  product(x_, weights[0], shape_.in, Rows<T>{z.data(), x_.rows(), width, width});
  const auto packed = rows_in(z_, x_.rows(), row);
  hearing_.resize(at(spread_->outputs() * heads()));
  for (std::int64_t i = 0; i < x_.rows(); ++i) {
    T* to = packed.row(i);
    std::copy_n(z.data() + i * width, width, to);
    for (std::int64_t h = 0; h < heads(); ++h) {
      const T* own = to + h * shape_.out;
      to[width + h] = dot(weights[2] + h * shape_.out, own, shape_.out);
      if (i < spread_->outputs()) hearing_[at(i * heads() + h)] = dot(weights[1] + h * shape_.out, own, shape_.out);
    }
  }
  const auto all = spread_->gather_inputs(packed);
  all_.assign(all.data, all.data + all.rows * row);
}

/// Inputs of output i.
template <class T>
void Attention<T>::attend(std::int64_t i, Rows<T> y) {
  const auto& pattern = spread_->rows();
  const auto columns = pattern.columns_of(i);
  const std::int64_t width = z_width(), row = width + heads();
  T* weight = weight_.data() + pattern.start[at(i)] * heads();
  for (std::int64_t h = 0; h < heads(); ++h) {
    const T own = hearing_[at(i * heads() + h)];
    T peak = -std::numeric_limits<T>::infinity(), total = 0;
    for (const auto j : columns) peak = std::max(peak, leaky(own + all_[at(j * row + width + h)]));
    for (std::size_t e = 0; e < columns.size(); ++e)
      total += weight[at(static_cast<std::int64_t>(e) * heads() + h)] =
          std::exp(leaky(own + all_[at(columns[e] * row + width + h)]) - peak);
    for (std::size_t e = 0; e < columns.size(); ++e) weight[at(static_cast<std::int64_t>(e) * heads() + h)] /= total;
    peak_[at(i * heads() + h)] = peak;
    total_[at(i * heads() + h)] = total;
  }
  std::fill_n(y.row(i), y.width, T(0));
  T kept[most_heads];
  std::fill_n(kept, heads(), T(1));
  for (std::size_t e = 0; e < columns.size(); ++e) {
    if (dropout_.drops()) dropout_.fill_edge(spread_->node(i), spread_->heard(columns[e]), shape_.heads, kept);
    for (std::int64_t h = 0; h < heads(); ++h)
      add(share() * kept[h] * weight[at(static_cast<std::int64_t>(e) * heads() + h)],
          all_.data() + columns[e] * row + h * shape_.out, y.row(i) + (shape_.joined ? h * shape_.out : 0), shape_.out);
  }
}

template <class T>
void Attention<T>::forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws& draws,
                           Rows<T> y) {
  x_ = x;
  spread_ = &spread;
  dropout_ = Dropout(shape_.dropout, draws, shape_.number);
  project(weights);
  weight_.resize(at(spread.rows().entries() * heads()));
  peak_.resize(hearing_.size());
  total_.resize(hearing_.size());
  for (std::int64_t i = 0; i < y.rows; ++i) attend(i, y);
  if (shape_.bias) add_bias(weights[3], y);
}

/// Mean gradient by the weights of row i, and the gradient by its target score.
template <class T>
void Attention<T>::slope_of_row(std::int64_t i, Rows<const T> by_y) {
  const auto& pattern = spread_->rows();
  const auto columns = pattern.columns_of(i);
  const std::int64_t width = z_width(), row = width + heads();
  const T* weight = weight_.data() + pattern.start[at(i)] * heads();
  T kept[most_heads], mean[most_heads] = {};
  std::fill_n(kept, heads(), T(1));
  std::vector<T> by_weight(columns.size() * at(heads()));
  for (std::size_t e = 0; e < columns.size(); ++e) {
    if (dropout_.drops()) dropout_.fill_edge(spread_->node(i), spread_->heard(columns[e]), shape_.heads, kept);
    for (std::int64_t h = 0; h < heads(); ++h) {
      const auto k = e * at(heads()) + at(h);
      by_weight[k] =
          share() * kept[h] * dot(of_head(by_y.row(i), h), all_.data() + columns[e] * row + h * shape_.out, shape_.out);
      mean[h] += weight[k] * by_weight[k];
    }
  }
  for (std::int64_t h = 0; h < heads(); ++h) {
    const T own = hearing_[at(i * heads() + h)];
    T sum = 0;
    for (std::size_t e = 0; e < columns.size(); ++e) {
      const auto k = e * at(heads()) + at(h);
      const T score = own + all_[at(columns[e] * row + width + h)];
      sum += weight[k] * (by_weight[k] - mean[h]) * (score > T(0) ? T(1) : static_cast<T>(shape_.slope));
    }
    mean_[at(i * heads() + h)] = mean[h];
    by_hearing_[at(i * heads() + h)] = sum;
  }
}

/// Gradients by the source score of input j and by its z, from the outputs that attend to it.
template <class T>
void Attention<T>::slope_of_column(std::int64_t j, Rows<const T> outputs, std::span<const T* const> weights) {
  const auto listeners = spread_->transposed_rows().columns_of(j);
  const std::int64_t width = z_width(), row = width + heads(), n = heads(), y_width = by_y_.width;
  const T* z = z_.data() + j * row;
  T* by_z = by_z_.data() + j * width;
  T kept[most_heads];
  std::fill_n(kept, n, T(1));
  std::fill_n(by_z, width, T(0));
  T* by_heard = by_heard_.data() + j * n;
  std::fill_n(by_heard, n, T(0));
  for (const auto i : listeners) {
    const T* from = outputs.row(i);
    const T *hearing = from + y_width, *peak = hearing + n, *total = peak + n, *mean = total + n;
    if (dropout_.drops()) dropout_.fill_edge(spread_->listener(i), spread_->node(j), shape_.heads, kept);
    for (std::int64_t h = 0; h < n; ++h) {
      const T score = hearing[h] + z[width + h], weight = std::exp(leaky(score) - peak[h]) / total[h];
      const T* slope = of_head(from, h);
      const T by_weight = share() * kept[h] * dot(slope, z + h * shape_.out, shape_.out);
      by_heard[h] += weight * (by_weight - mean[h]) * (score > T(0) ? T(1) : static_cast<T>(shape_.slope));
      add(share() * kept[h] * weight, slope, by_z + h * shape_.out, shape_.out);
    }
  }
  for (std::int64_t h = 0; h < n; ++h) {
    add(by_heard[h], weights[2] + h * shape_.out, by_z + h * shape_.out, shape_.out);
    if (j < spread_->outputs())
      add(by_hearing_[at(j * n + h)], weights[1] + h * shape_.out, by_z + h * shape_.out, shape_.out);
  }
}

template <class T>
void Attention<T>::backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) {
  by_y_ = by_y;
  const std::int64_t n = heads(), row = by_y.width + 4 * n;
  mean_.resize(hearing_.size());
  by_hearing_.resize(hearing_.size());
  for (std::int64_t i = 0; i < by_y.rows; ++i) slope_of_row(i, by_y);
  const auto packed = rows_in(outputs_, by_y.rows, row);
  for (std::int64_t i = 0; i < by_y.rows; ++i) {
    T* to = std::copy_n(by_y.row(i), by_y.width, packed.row(i));
    for (const auto* part : {&hearing_, &peak_, &total_, &mean_}) to = std::copy_n(part->data() + i * n, n, to);
  }
  const auto outputs = spread_->gather_outputs(packed);
  by_z_.resize(at(x_.rows() * z_width()));
  by_heard_.resize(at(x_.rows() * n));
  for (std::int64_t j = 0; j < x_.rows(); ++j) slope_of_column(j, outputs, weights);
  if (by_x.data) times_transposed({by_z_.data(), x_.rows(), z_width(), z_width()}, weights[0], by_x);
}

template <class T>
void Attention<T>::gradient(const RowRange& rows, std::span<T* const> gradients) {
  const std::int64_t width = z_width(), row = width + heads();
  const Rows<const T> by_z{by_z_.data(), x_.rows(), width, width};
  add_outer_product(x_, rows.inputs_first, rows.inputs_last, part(by_z, rows.inputs_first, rows.inputs_last),
                    gradients[0]);
  for (auto i = rows.outputs_first; i < rows.outputs_last; ++i)
    for (std::int64_t h = 0; h < heads(); ++h)
      add(by_hearing_[at(i * heads() + h)], z_.data() + i * row + h * shape_.out, gradients[1] + h * shape_.out,
          shape_.out);
  for (auto j = rows.inputs_first; j < rows.inputs_last; ++j)
    for (std::int64_t h = 0; h < heads(); ++h)
      add(by_heard_[at(j * heads() + h)], z_.data() + j * row + h * shape_.out, gradients[2] + h * shape_.out,
          shape_.out);
  if (shape_.bias) add_rows(part(by_y_, rows.outputs_first, rows.outputs_last), gradients[3]);
}

template class Attention<float>;
template class Attention<double>;

}  // namespace cambium::graph
