#include "plugins/relate/networks/contrast.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/numerics/gemm.hpp"

namespace cambium::relate {

/// Far enough below every cosine to contribute to neither loss.
constexpr double never = -1e4;

/// e^x for -80 < x < 80, 0 below, in a form that compilers vectorise: with x = n ln 2 + r, |r| <= ln 2 / 2, a
/// polynomial of r and n added to the exponent. Relative error below 3e-7 in float.
static float exp_of(float x) {
  const float shifted = x * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.98412698e-4f;
  p = p * r + 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const auto power = std::bit_cast<float>((std::bit_cast<std::int32_t>(shifted) + 127) << 23);
  return x < -80.0f ? 0.0f : p * power;
}
static double exp_of(double x) { return std::exp(x); }

template <class T>
static T dot(int width, const T* a, const T* b) {
  T sum = 0;
  for (int k = 0; k < width; ++k) sum += a[k] * b[k];
  return sum;
}

template <class T>
void Contrast<T>::normalise(const T* rows, int count, Unit& out) const {
  const auto numbers = static_cast<std::size_t>(count) * static_cast<std::size_t>(width_);
  out.rows.resize(numbers);
  out.length.resize(count);
  for (int r = 0; r < count; ++r) {
    const T* from = rows + static_cast<std::ptrdiff_t>(r) * width_;
    T* to = out.rows.data() + static_cast<std::ptrdiff_t>(r) * width_;
    const T length = std::sqrt(dot(width_, from, from));
    const T inverse = length > T(0) ? T(1) / length : T(0);
    out.length[r] = length;
    for (int k = 0; k < width_; ++k) to[k] = inverse * from[k];
  }
}

/// With e = z / |z|, the derivative by z is (d - (d . e) e) / |z|.
template <class T>
void Contrast<T>::add_back(const Unit& unit, int count, T factor, T* by) const {
  for (int r = 0; r < count; ++r) {
    const T length = unit.length[r];
    if (!(length > T(0))) continue;
    const T* e = unit.rows.data() + static_cast<std::ptrdiff_t>(r) * width_;
    const T* d = unit.by.data() + static_cast<std::ptrdiff_t>(r) * width_;
    T* to = by + static_cast<std::ptrdiff_t>(r) * width_;
    const T along = dot(width_, d, e), scale = factor / length;
    for (int k = 0; k < width_; ++k) to[k] += scale * (d[k] - along * e[k]);
  }
}

/// Loss of one sample with `counted` negatives; replaces cosines by derivatives.
template <class T>
typename Contrast<T>::Sums Contrast<T>::one_sample(int sample, int counted) {
  T* s = cosines_.data() + static_cast<std::ptrdiff_t>(sample) * drawn_;
  const T* user = users_.rows.data() + static_cast<std::ptrdiff_t>(sample) * width_;
  const T right = dot(width_, user, chosen_.rows.data() + static_cast<std::ptrdiff_t>(sample) * width_);
  int above = 0, equal = 0;  // zero vectors do not discriminate
  for (int j = 0; j < drawn_; ++j) {
    above += s[j] > right;
    equal += s[j] == right;
  }
  Sums out;
  out.wrong = counted > 0 ? (above + 0.5 * equal) / counted : 0.0;
  T& by_right = by_chosen_[sample];
  double sum = 0.0;
  if (loss_.kind == ContrastLoss::Kind::margin) {
    const T margin = static_cast<T>(loss_.margin), share = static_cast<T>(counted > 0 ? loss_.weight / counted : 0.0);
    for (int j = 0; j < drawn_; ++j) {
      const T over = s[j] - margin;
      if (over > T(0)) sum += static_cast<double>(over);
      s[j] = over > T(0) ? share : T(0);
    }
    by_right = T(-1);
    out.loss = 1.0 - static_cast<double>(right) + static_cast<double>(share) * sum;
    return out;
  }
  const T inverse = static_cast<T>(1.0 / loss_.temperature);
  for (int j = 0; j < drawn_; ++j) s[j] = exp_of((s[j] - right) * inverse);
  for (int j = 0; j < drawn_; ++j) sum += static_cast<double>(s[j]);
  const T share = inverse / static_cast<T>(1.0 + sum);
  for (int j = 0; j < drawn_; ++j) s[j] *= share;
  by_right = -static_cast<T>(sum) * share;
  out.loss = std::log1p(sum);
  return out;
}

template <class T>
typename Contrast<T>::Sums Contrast<T>::forward(const Rows& rows, int samples, int drawn,
                                                std::span<const std::vector<int>> known) {
  samples_ = samples;
  drawn_ = drawn;
  normalise(rows.users, samples, users_);
  normalise(rows.chosen, samples, chosen_);
  normalise(rows.drawn, drawn, others_);
  cosines_.resize(static_cast<std::size_t>(samples) * static_cast<std::size_t>(drawn));
  by_chosen_.resize(samples);
  host_gemm<T>(false, true, samples, drawn, width_, T(1), users_.rows.data(), width_, others_.rows.data(), width_, T(0),
               cosines_.data(), drawn);
  Sums out;
  for (int s = 0; s < samples; ++s) {
    const auto& skipped = known[s];
    for (const int j : skipped)
      cosines_[static_cast<std::size_t>(s) * static_cast<std::size_t>(drawn) + static_cast<std::size_t>(j)] =
          static_cast<T>(never);
    const Sums one = one_sample(s, drawn - static_cast<int>(skipped.size()));
    out.loss += one.loss;
    out.wrong += one.wrong;
  }
  return out;
}

template <class T>
void Contrast<T>::backward(double factor, T* by_users, T* by_chosen, T* by_drawn) {
  users_.by.resize(users_.rows.size());
  chosen_.by.resize(chosen_.rows.size());
  others_.by.resize(others_.rows.size());
  for (int s = 0; s < samples_; ++s)
    for (int k = 0; k < width_; ++k) {
      const auto at = static_cast<std::size_t>(s) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(k);
      users_.by[at] = by_chosen_[s] * chosen_.rows[at];
      chosen_.by[at] = by_chosen_[s] * users_.rows[at];
    }
  if (drawn_ > 0) {
    host_gemm<T>(false, false, samples_, width_, drawn_, T(1), cosines_.data(), drawn_, others_.rows.data(), width_,
                 T(1), users_.by.data(), width_);
    host_gemm<T>(true, false, drawn_, width_, samples_, T(1), cosines_.data(), drawn_, users_.rows.data(), width_, T(0),
                 others_.by.data(), width_);
  }
  const T by = static_cast<T>(factor);
  add_back(users_, samples_, by, by_users);
  add_back(chosen_, samples_, by, by_chosen);
  add_back(others_, drawn_, by, by_drawn);
}

template class Contrast<double>;
template class Contrast<float>;

}  // namespace cambium::relate
