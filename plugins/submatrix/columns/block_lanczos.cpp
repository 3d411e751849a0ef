#include "plugins/submatrix/columns/block_lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/panel.hpp"

namespace cambium::submatrix {

/// Rows that keep less than this share of the largest length are made orthogonal once more.
static constexpr double suspect = 1e-2;

template <class T>
void BlockLanczos<T>::start(const T* a, int n, int ld, int first, int width) {
  start([a, n, ld](int rows, const T* x, T* y) { panel_product(rows, n, n, x, ld, a, ld, y, ld); }, 2.0 * n * n, n, ld,
        first, width);
}

template <class T>
void BlockLanczos<T>::start(Product product, double flops, int n, int ld, int first, int width) {
  product_ = std::move(product), product_flops_ = flops;
  n_ = n, padded_n_ = padded<T>(n), width_ = width, blocks_ = 0, exhausted_ = false, flops_ = 0.0, scale_ = 0.0;
  ld_ = ld;
  alpha_.clear();
  beta_.clear();
  basis_.reserve(static_cast<std::size_t>(9 * width_ * ld_));  // an earlier start may have been narrower
  capacity_ = static_cast<int>(basis_.size() / static_cast<std::size_t>(width_ * ld_)) - 1;
  std::fill_n(basis_.data(), static_cast<std::size_t>(width_ * ld_), T(0));
  for (int q = 0; q < width_; ++q) vector(q)[first + q] = T(1);
}

template <class T>
void BlockLanczos<T>::extend(int blocks) {
  if (blocks > capacity_) {
    AlignedBuffer<T> larger;
    const int room = blocks + blocks / 2;
    larger.reserve(static_cast<std::size_t>((room + 1) * width_ * ld_));
    std::copy_n(basis_.data(), static_cast<std::size_t>((blocks_ + 1) * width_ * ld_), larger.data());
    std::swap(basis_, larger);
    capacity_ = room;
  }
  while (blocks_ < blocks && !exhausted_) {
    T* w = vector((blocks_ + 1) * width_);
    product_(width_, vector(blocks_ * width_), w);
    flops_ += product_flops_ * width_;
    ++blocks_;
    orthogonalise(w);
  }
}

/// Removes from w (width rows) its components along basis vectors from .. to-1; with `keep`, the last width of them are
/// the new diagonal block of T.
template <class T>
void BlockLanczos<T>::project_out(T* w, int from, int to, bool keep) {
  const int k = to - from;
  overlaps_.resize(static_cast<std::size_t>(k * width_));
  transposed_.resize(overlaps_.size());
  panel_dots(k, width_, n_, vector(from), ld_, w, ld_, overlaps_.data());
  for (int i = 0; i < k; ++i)
    for (int q = 0; q < width_; ++q)
      transposed_[static_cast<std::size_t>(q * k + i)] = overlaps_[static_cast<std::size_t>(i * width_ + q)];
  panel_product(width_, n_, k, transposed_.data(), k, vector(from), ld_, w, ld_, true);
  flops_ += 4.0 * k * n_ * width_;
  if (keep) alpha_.insert(alpha_.end(), overlaps_.end() - width_ * width_, overlaps_.end());
}

template <class T>
void BlockLanczos<T>::orthogonalise(T* w) {
  const int all = blocks_ * width_;
  project_out(w, std::max(0, all - 2 * width_), all, true);  // the three-term recurrence
  project_out(w, 0, all, false);                             // what rounding brought back
  std::vector<T> beta(static_cast<std::size_t>(width_ * width_), T(0));
  const T largest = normalise(w, beta.data());
  exhausted_ = largest == T(0) || all >= n_;
  if (!exhausted_) beta_.insert(beta_.end(), beta.begin(), beta.end());
}

template <class T>
static void scale(T factor, int n, T* row) {
  for (int j = 0; j < n; ++j) row[j] *= factor;
}
template <class T>
static void subtract(T factor, int n, const T* direction, T* row) {
  for (int j = 0; j < n; ++j) row[j] -= factor * direction[j];
}

/// Takes the component along a unit row out of another; it is added to `component` where given.
template <class T>
void BlockLanczos<T>::remove(const T* direction, T* row, T* component) {
  T dot;
  panel_dots(1, 1, n_, direction, ld_, row, ld_, &dot);
  subtract(dot, padded_n_, direction, row);
  if (component) *component += dot;
}

/// A row that lost most of its length holds what rounding left of the others, grown with it when it became a unit row:
/// that is taken out again, twice. False when little stays: then it was nothing else.
template <class T>
bool BlockLanczos<T>::purify(T* w, int q) {
  T* row = w + static_cast<std::ptrdiff_t>(q) * ld_;
  T norm = T(1);
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k < blocks_ * width_; ++k) remove(vector(k), row, nullptr);
    for (int p = 0; p < q; ++p) remove(w + static_cast<std::ptrdiff_t>(p) * ld_, row, nullptr);
    panel_dots(1, 1, n_, row, ld_, row, ld_, &norm);
    norm = std::sqrt(norm);
    const T factor = norm > T(0.5) ? T(1) / norm : T(0);
    scale(factor, padded_n_, row);
    if (factor == T(0)) return false;
  }
  flops_ += 8.0 * n_ * (blocks_ * width_ + q);
  return true;
}

/// Modified Gram-Schmidt, twice: w = beta^T q with beta (p, q) the component of old row q along new row p. Returns the
/// largest norm that stayed.
template <class T>
T BlockLanczos<T>::normalise(T* w, T* beta) {
  T largest = T(0);
  for (int q = 0; q < width_; ++q) {
    T* row = w + static_cast<std::ptrdiff_t>(q) * ld_;
    T norm;
    panel_dots(1, 1, n_, row, ld_, row, ld_, &norm);
    scale_ = std::max(scale_, std::sqrt(static_cast<double>(norm)));
    for (int pass = 0; pass < 2; ++pass)
      for (int p = 0; p < q; ++p) remove(w + static_cast<std::ptrdiff_t>(p) * ld_, row, beta + p * width_ + q);
    panel_dots(1, 1, n_, row, ld_, row, ld_, &norm);
    norm = std::sqrt(norm);
    // Below this a direction is rounding.
    bool vanished = static_cast<double>(norm) <= 100.0 * std::numeric_limits<T>::epsilon() * scale_;
    const T factor = vanished ? T(0) : T(1) / norm;
    scale(factor, padded_n_, row);
    if (!vanished && static_cast<double>(norm) < suspect * scale_) vanished = !purify(w, q);
    beta[q * width_ + q] = vanished ? T(0) : norm;
    largest = std::max(largest, beta[q * width_ + q]);
  }
  flops_ += 4.0 * n_ * width_ * width_;
  return largest;
}

template <class T>
void BlockLanczos<T>::projected(double* out) const {
  const int rows = projected_rows(), w = width_;
  std::fill_n(out, static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows), 0.0);
  for (int k = 0; k < blocks_; ++k)
    for (int p = 0; p < w; ++p)
      for (int q = 0; q < w; ++q) {
        const auto at = static_cast<std::size_t>(k * w * w + p * w + q),
                   mirror = static_cast<std::size_t>(k * w * w + q * w + p);
        out[(k * w + p) * rows + k * w + q] =
            0.5 * (static_cast<double>(alpha_[at]) + static_cast<double>(alpha_[mirror]));
        if (k + 1 == blocks_) continue;
        const double b = beta_[at];  // block (k + 1, k)
        out[((k + 1) * w + p) * rows + k * w + q] = b;
        out[(k * w + q) * rows + (k + 1) * w + p] = b;
      }
}

template <class T>
void BlockLanczos<T>::combine(const T* coefficients, T* out) const {
  const int k = projected_rows();
  panel_product(width_, n_, k, coefficients, k, basis_.data(), ld_, out, ld_);
}

template class BlockLanczos<float>;
template class BlockLanczos<double>;

}  // namespace cambium::submatrix
