#include <array>
#include <cmath>

#include "plugins/relate/networks/dense_stack.hpp"
#include "plugins/relate/networks/passes.hpp"

namespace cambium::relate {

std::vector<std::int64_t> AffinityShape::widths() const {
  std::vector<std::int64_t> out{3 * width};
  out.insert(out.end(), layers.begin(), layers.end());
  out.push_back(1);
  return out;
}

namespace {

/// z of each side: its own row plus the mean of the rows of its fragments. For the sides c and t:
/// output = c_0 + t_0 + c . t / sqrt(width) + layers([c, t, c * t]), where c_0, t_0 are the last elements of c and t.
template <class T>
class AffinityPasses : public Passes<T> {
 public:
  explicit AffinityPasses(const AffinityShape& shape)
      : width_(static_cast<std::size_t>(shape.width)), layers_(shape.widths(), false, 0),
        scale_(T(1) / std::sqrt(static_cast<T>(shape.width))) {}

  std::vector<T> forward(std::span<const TensorRef> weights, train::TableRows& rows, Inputs<T> inputs) override {
    samples_ = static_cast<std::size_t>(inputs.samples);
    lengths_ = std::move(inputs.lengths);
    for (std::size_t side = 0; side < 2; ++side) {
      const TensorRef own = rows.pooled(static_cast<int>(side)), pieces = rows.pooled(static_cast<int>(side + 2));
      auto& z = sides_[side];
      z.resize(samples_ * (width_ + 1));
      for (std::size_t s = 0; s < samples_; ++s) {
        const T* a = static_cast<const T*>(own.data) + s * (width_ + 1);
        const T* b = static_cast<const T*>(pieces.data) + s * (width_ + 1);
        const T share = share_of(s, side);
        for (std::size_t k = 0; k <= width_; ++k) z[s * (width_ + 1) + k] = a[k] + share * b[k];
      }
    }
    std::vector<T> r(samples_ * 3 * width_), direct(samples_);
    for (std::size_t s = 0; s < samples_; ++s) {
      const T *c = at(0, s), *t = at(1, s);
      T* out = r.data() + s * 3 * width_;
      T dot = 0;
      for (std::size_t k = 0; k < width_; ++k) {
        out[k] = c[k];
        out[width_ + k] = t[k];
        out[2 * width_ + k] = c[k] * t[k];
        dot += c[k] * t[k];
      }
      direct[s] = c[width_] + t[width_] + scale_ * dot;
    }
    auto output = layers_.forward(weights, std::move(r), static_cast<int>(samples_));
    for (std::size_t s = 0; s < samples_; ++s) output[s] += direct[s];
    return output;
  }

  void backward(std::span<const TensorRef> weights, std::vector<T> by_output, std::span<const TensorRef> gradients,
                train::TableRows& rows, const train::ReadyCallback& ready) override {
    const auto by = by_output;
    const auto by_r = layers_.backward(weights, std::move(by_output), gradients, ready);
    for (std::size_t side = 0; side < 2; ++side) {
      const TensorRef own = rows.gradient(static_cast<int>(side)), pieces = rows.gradient(static_cast<int>(side + 2));
      for (std::size_t s = 0; s < samples_; ++s) {
        const T* other = at(1 - side, s);
        const T* from = by_r.data() + s * 3 * width_;
        T* a = static_cast<T*>(own.data) + s * (width_ + 1);
        T* b = static_cast<T*>(pieces.data) + s * (width_ + 1);
        const T share = share_of(s, side);
        for (std::size_t k = 0; k <= width_; ++k) {
          const T g =
              k == width_ ? by[s] : from[side * width_ + k] + (from[2 * width_ + k] + scale_ * by[s]) * other[k];
          a[k] += g;
          b[k] += share * g;
        }
      }
    }
    rows.ready();
  }

 private:
  /// One over the number of parts of a side.
  T share_of(std::size_t sample, std::size_t side) const {
    return T(1) / static_cast<T>(lengths_[sample * 4 + side + 2]);
  }
  const T* at(std::size_t side, std::size_t sample) const { return sides_[side].data() + sample * (width_ + 1); }

  std::size_t width_;
  DenseStack<T> layers_;
  T scale_;
  std::size_t samples_ = 0;
  std::vector<std::int64_t> lengths_;
  std::array<std::vector<T>, 2> sides_;  ///< samples x (width + 1): compounds, targets
};

}  // namespace

template <class T>
std::unique_ptr<Passes<T>> make_affinity(const AffinityShape& shape) {
  return std::make_unique<AffinityPasses<T>>(shape);
}
template std::unique_ptr<Passes<double>> make_affinity<double>(const AffinityShape&);
template std::unique_ptr<Passes<float>> make_affinity<float>(const AffinityShape&);

}  // namespace cambium::relate
