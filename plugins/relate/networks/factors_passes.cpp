#include "plugins/relate/networks/passes.hpp"

namespace cambium::relate {

namespace {

/// Row of a sample in a view.
template <class T>
T* row_of(const TensorRef& view, std::int64_t sample) {
  return static_cast<T*>(view.data) + sample * view.stride[0];
}

/// Dot products of all pairs of n vectors z_i = v_i x_i cost n additions each way instead of n^2:
///   sum_{i < j} z_i . z_j = 1/2 (|s|^2 - sum_i |z_i|^2), s = sum_i z_i;   its derivative by z_i is s - z_i.
template <class T>
class FactorsPasses : public Passes<T> {
 public:
  explicit FactorsPasses(const FactorsShape& shape) : shape_(shape) {}

  std::vector<T> forward(std::span<const TensorRef> weights, train::TableRows& rows, Inputs<T> inputs) override {
    samples_ = inputs.samples;
    numbers_ = std::move(inputs.numbers);
    const std::int64_t width = shape_.width;
    sums_.assign(samples_ * width, T(0));
    std::vector<T> output(samples_, *row_of<const T>(weights[0], 0));
    std::vector<T> squares(sums_.size(), T(0));
    for (std::int64_t s = 0; s < samples_; ++s) {
      T* sum = sums_.data() + s * width;
      T* square = squares.data() + s * width;
      for (std::int64_t k = 0; k < shape_.numbers; ++k) {
        const T x = number(s, k);
        output[s] += x * static_cast<const T*>(weights[1].data)[k];
        if (width > 0) add(x, row_of<const T>(weights[2], k), sum, square);
      }
    }
    for (std::int64_t t = 0; t < shape_.columns; ++t) {
      const TensorRef pooled = rows.pooled(static_cast<int>(t));
      for (std::int64_t s = 0; s < samples_; ++s) {
        const T* z = row_of<const T>(pooled, s);
        add(T(1), z, sums_.data() + s * width, squares.data() + s * width);
        output[s] += z[width];
      }
    }
    for (std::int64_t s = 0; s < samples_; ++s) {
      T pairs = 0;
      for (std::int64_t k = s * width; k < (s + 1) * width; ++k) {
        const auto at = static_cast<std::size_t>(k);
        pairs += sums_[at] * sums_[at] - squares[at];
      }
      output[s] += T(0.5) * pairs;
    }
    return output;
  }

  void backward(std::span<const TensorRef> weights, std::vector<T> by_output, std::span<const TensorRef> gradients,
                train::TableRows& rows, const train::ReadyCallback& ready) override {
    const std::int64_t width = shape_.width;
    for (std::int64_t t = 0; t < shape_.columns; ++t) {
      const TensorRef pooled = rows.pooled(static_cast<int>(t)), by_rows = rows.gradient(static_cast<int>(t));
      for (std::int64_t s = 0; s < samples_; ++s) {
        const T by = by_output[s];
        const T *z = row_of<const T>(pooled, s), *sum = sums_.data() + s * width;
        T* to = row_of<T>(by_rows, s);
        for (std::int64_t k = 0; k < width; ++k) to[k] += by * (sum[k] - z[k]);
        to[width] += by;
      }
    }
    rows.ready();
    for (std::int64_t s = 0; s < samples_; ++s) {
      const T by = by_output[s];
      *row_of<T>(gradients[0], 0) += by;
      for (std::int64_t n = 0; n < shape_.numbers; ++n) {
        const T x = number(s, n), *sum = sums_.data() + s * width;
        static_cast<T*>(gradients[1].data)[n] += by * x;
        if (width == 0) continue;
        const T* v = row_of<const T>(weights[2], n);
        T* to = row_of<T>(gradients[2], n);
        for (std::int64_t k = 0; k < width; ++k) to[k] += by * x * (sum[k] - x * v[k]);
      }
    }
    if (!ready) return;
    for (int p = static_cast<int>(gradients.size()) - 1; p >= 0; --p) ready(p);
  }

 private:
  T number(std::int64_t sample, std::int64_t k) const { return numbers_[sample * shape_.numbers + k]; }
  /// Adds one vector of a sample to the sum of all and to the sum of squares.
  void add(T x, const T* v, T* sum, T* square) const {
    for (std::int64_t k = 0; k < shape_.width; ++k) {
      const T z = x * v[k];
      sum[k] += z;
      square[k] += z * z;
    }
  }

  FactorsShape shape_;
  int samples_ = 0;
  std::vector<T> numbers_;
  std::vector<T> sums_;  ///< samples x width: s of each
};

}  // namespace

template <class T>
std::unique_ptr<Passes<T>> make_factors(const FactorsShape& shape) {
  return std::make_unique<FactorsPasses<T>>(shape);
}
template std::unique_ptr<Passes<double>> make_factors<double>(const FactorsShape&);
template std::unique_ptr<Passes<float>> make_factors<float>(const FactorsShape&);

}  // namespace cambium::relate
