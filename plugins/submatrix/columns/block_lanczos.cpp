#include "plugins/submatrix/columns/block_lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/recorder.hpp"
#include "core/numerics/panel.hpp"

namespace cambium::submatrix {

/// Rows that keep less than this fraction of the largest length are orthogonalised again.
static constexpr double suspect = 1e-2;

template <class T>
void BlockLanczos<T>::start(const T* a, int n, int ld, int first, int width) {
  start([a, n, ld](int rows, const T* x, T* y) { panel_product(rows, n, n, x, ld, a, ld, y, ld); }, 2.0 * n * n, n, ld,
        first, width);
}

template <class T>
void BlockLanczos<T>::start(Product product, double flops, int n, int ld, int first, int width) {
  product_ = std::move(product);
  product_flops_ = flops;
  n_ = n;
  padded_n_ = padded<T>(n);
  width_ = width;
  blocks_ = 0;
  exhausted_ = false;
  flops_ = 0.0;
  scale_ = 0.0;
  ld_ = ld;
  first_ = {0, width};
  alpha_.clear();
  beta_.clear();
  basis_.reserve(9 * width_ * ld_);  // an earlier start may have been narrower
  capacity_ = static_cast<int>(basis_.size() / static_cast<std::size_t>(width_ * ld_)) - 1;
  std::fill_n(basis_.data(), static_cast<std::size_t>(width_ * ld_), T(0));
  for (int q = 0; q < width_; ++q) vector(q)[first + q] = T(1);
}

template <class T>
void BlockLanczos<T>::extend(int blocks) {
  if (blocks > capacity_) {
    AlignedBuffer<T> larger;
    const int room = blocks + blocks / 2;
    larger.reserve((room + 1) * width_ * ld_);
    std::copy_n(basis_.data(), static_cast<std::size_t>(first_.back() * ld_), larger.data());
    std::swap(basis_, larger);
    capacity_ = room;
  }
  while (blocks_ < blocks && !exhausted_) {
    const int newest = first_[blocks_], all = first_.back();
    T* w = vector(all);
    product_(all - newest, vector(newest), w);
    flops_ += product_flops_ * (all - newest);
    ++blocks_;
    orthogonalise(w, all - newest);
  }
}

/// Removes from w (`rows` of them) its components along basis vectors from .. to-1; with `keep`, the last `rows` of
/// them are the new diagonal block of T.
template <class T>
void BlockLanczos<T>::project_out(T* w, int rows, int from, int to, bool keep) {
  const int k = to - from;
  overlaps_.resize(k * rows);
  transposed_.resize(overlaps_.size());
  panel_dots(k, rows, n_, vector(from), ld_, w, ld_, overlaps_.data());
  for (int i = 0; i < k; ++i)
    for (int q = 0; q < rows; ++q) transposed_[q * k + i] = overlaps_[i * rows + q];
  panel_product(rows, n_, k, transposed_.data(), k, vector(from), ld_, w, ld_, true);
  flops_ += 4.0 * k * n_ * rows;
  if (keep) alpha_.insert(alpha_.end(), overlaps_.end() - rows * rows, overlaps_.end());
}

template <class T>
void BlockLanczos<T>::orthogonalise(T* w, int rows) {
  const int all = first_.back();
  project_out(w, rows, first_[std::max(0, blocks_ - 2)], all, true);  // three-term recurrence
  project_out(w, rows, 0, all, false);                                // what rounding brought back
  std::vector<T> beta(rows * rows, T(0));
  const int stayed = normalise(w, rows, beta.data());
  exhausted_ = stayed == 0 || all >= n_;
  if (exhausted_) return;
  beta_.insert(beta_.end(), beta.begin(), beta.begin() + stayed * rows);
  first_.push_back(all + stayed);
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

/// A row that lost most of its length contains rounding errors along the others, amplified by its normalisation: it is
/// orthogonalised again, twice. `rows`: of w before it. False when little remains: then it was only rounding.
template <class T>
bool BlockLanczos<T>::purify(T* w, int rows, T* row) {
  T norm = T(1);
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k < first_.back(); ++k) remove(vector(k), row, nullptr);
    for (int p = 0; p < rows; ++p) remove(w + static_cast<std::ptrdiff_t>(p) * ld_, row, nullptr);
    panel_dots(1, 1, n_, row, ld_, row, ld_, &norm);
    norm = std::sqrt(norm);
    const T factor = norm > T(0.5) ? T(1) / norm : T(0);
    scale(factor, padded_n_, row);
    if (factor == T(0)) return false;
  }
  flops_ += 8.0 * n_ * (first_.back() + rows);
  return true;
}

/// Modified Gram-Schmidt, twice: w = beta^T q with beta (p, q) the component of old row q along new row p. Vanishing
/// rows are dropped; returns the number of the others.
template <class T>
int BlockLanczos<T>::normalise(T* w, int rows, T* beta) {
  // One region for all of it: its dots are shorter than looking at a clock.
  const KernelRegion region("Gram-Schmidt", WorkKind::reduction);
  int stayed = 0;
  for (int q = 0; q < rows; ++q) {
    T* row = w + static_cast<std::ptrdiff_t>(q) * ld_;
    T norm;
    panel_dots(1, 1, n_, row, ld_, row, ld_, &norm);
    scale_ = std::max(scale_, std::sqrt(static_cast<double>(norm)));
    for (int pass = 0; pass < 2; ++pass)
      for (int p = 0; p < stayed; ++p) remove(w + static_cast<std::ptrdiff_t>(p) * ld_, row, beta + p * rows + q);
    panel_dots(1, 1, n_, row, ld_, row, ld_, &norm);
    norm = std::sqrt(norm);
    // Below this a direction is rounding.
    if (static_cast<double>(norm) <= 100.0 * std::numeric_limits<T>::epsilon() * scale_) continue;
    scale(T(1) / norm, padded_n_, row);
    if (static_cast<double>(norm) < suspect * scale_ && !purify(w, stayed, row)) continue;
    beta[stayed * rows + q] = norm;
    if (stayed < q) std::copy_n(row, padded_n_, w + static_cast<std::ptrdiff_t>(stayed) * ld_);
    ++stayed;
  }
  flops_ += 4.0 * n_ * rows * rows;
  return stayed;
}

template <class T>
void BlockLanczos<T>::projected(double* out) const {
  const int rows = projected_rows();
  std::fill_n(out, static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows), 0.0);
  const T *alpha = alpha_.data(), *beta = beta_.data();
  for (int k = 0; k < blocks_; ++k) {
    const int at = first_[k], next = first_[static_cast<std::size_t>(k) + 1], w = next - at;
    for (int p = 0; p < w; ++p)
      for (int q = 0; q < w; ++q)
        out[(at + p) * rows + at + q] =
            0.5 * (static_cast<double>(alpha[p * w + q]) + static_cast<double>(alpha[q * w + p]));
    alpha += w * w;
    if (k + 1 == blocks_) break;
    const int below = first_[static_cast<std::size_t>(k) + 2] - next;
    for (int p = 0; p < below; ++p)
      for (int q = 0; q < w; ++q) {
        const double b = beta[p * w + q];  // block (k + 1, k)
        out[(next + p) * rows + at + q] = b;
        out[(at + q) * rows + next + p] = b;
      }
    beta += below * w;
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
