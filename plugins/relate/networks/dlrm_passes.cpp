#include <algorithm>

#include "plugins/relate/networks/dense_stack.hpp"
#include "plugins/relate/networks/passes.hpp"

namespace cambium::relate {

std::vector<std::int64_t> DlrmShape::bottom_widths() const {
  std::vector<std::int64_t> out{numbers};
  out.insert(out.end(), bottom.begin(), bottom.end());
  out.push_back(width);
  return out;
}

std::vector<std::int64_t> DlrmShape::top_widths() const {
  std::vector<std::int64_t> out{(has_bottom() ? width : 0) + interactions()};
  out.insert(out.end(), top.begin(), top.end());
  out.push_back(1);
  return out;
}

namespace {

/// z_0 = bottom(numbers), z_t = the sum of the bag of column t; r = [z_0, z_i . z_j for j < i]; output top(r), and
/// where `wide` the last number of every sum added.
template <class T>
class DlrmPasses : public Passes<T> {
 public:
  explicit DlrmPasses(const DlrmShape& shape)
      : shape_(shape), bottom_(shape.bottom_widths(), true, 0),
        top_(shape.top_widths(), false, shape.has_bottom() ? 2 * (shape.bottom.size() + 1) : 0) {}

  std::vector<T> forward(std::span<const TensorRef> weights, train::TableRows& rows, Inputs<T> inputs) override {
    samples_ = inputs.samples;
    const auto samples = static_cast<std::size_t>(samples_);
    const std::int64_t width = shape_.width, wide = shape_.has_bottom() ? width : 0;
    vectors_.assign(static_cast<std::size_t>(shape_.vectors()), {});
    if (shape_.has_bottom()) vectors_[0] = bottom_.forward(weights, std::move(inputs.numbers), samples_);
    for (std::size_t t = 0; t < columns(); ++t) {
      auto& z = vectors_[first() + t];
      z.resize(samples * static_cast<std::size_t>(width));
      const TensorRef sums = rows.pooled(static_cast<int>(t));
      for (std::size_t s = 0; s < samples; ++s)
        std::copy_n(static_cast<const T*>(sums.data) + static_cast<std::int64_t>(s) * sums.stride[0], width,
                    z.data() + s * static_cast<std::size_t>(width));
    }
    const std::int64_t length = wide + shape_.interactions();
    std::vector<T> r(samples * static_cast<std::size_t>(length));
    for (std::size_t s = 0; s < samples; ++s) {
      T* out = r.data() + static_cast<std::int64_t>(s) * length;
      if (shape_.has_bottom()) out = std::copy_n(row(0, s), width, out);
      for (std::size_t i = 1; i < vectors_.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) *out++ = dot(row(i, s), row(j, s));
    }
    auto output = top_.forward(weights, std::move(r), samples_);
    if (shape_.wide)
      for (std::size_t t = 0; t < columns(); ++t) {
        const TensorRef sums = rows.pooled(static_cast<int>(t));
        for (std::size_t s = 0; s < samples; ++s)
          output[s] += static_cast<const T*>(sums.data)[static_cast<std::int64_t>(s) * sums.stride[0] + width];
      }
    return output;
  }

  void backward(std::span<const TensorRef> weights, std::vector<T> by_output, std::span<const TensorRef> gradients,
                train::TableRows& rows, const train::ReadyCallback& ready) override {
    const auto by_sum = by_output;
    const auto by_r = top_.backward(weights, std::move(by_output), gradients, ready);
    const std::int64_t width = shape_.width, length = (shape_.has_bottom() ? width : 0) + shape_.interactions();
    std::vector<std::vector<T>> by(vectors_.size());
    for (std::size_t i = 0; i < by.size(); ++i) by[i].assign(vectors_[i].size(), T(0));
    for (std::size_t s = 0; s < static_cast<std::size_t>(samples_); ++s) {
      const T* from = by_r.data() + static_cast<std::int64_t>(s) * length;
      if (shape_.has_bottom()) {
        std::copy_n(from, width, by[0].data() + s * static_cast<std::size_t>(width));
        from += width;
      }
      for (std::size_t i = 1; i < vectors_.size(); ++i)
        for (std::size_t j = 0; j < i; ++j, ++from) {
          add(*from, row(j, s), by[i].data() + s * static_cast<std::size_t>(width));
          add(*from, row(i, s), by[j].data() + s * static_cast<std::size_t>(width));
        }
    }
    for (std::size_t t = 0; t < columns(); ++t) {
      const TensorRef out = rows.gradient(static_cast<int>(t));
      for (std::size_t s = 0; s < static_cast<std::size_t>(samples_); ++s) {
        T* to = static_cast<T*>(out.data) + static_cast<std::int64_t>(s) * out.stride[0];
        add(T(1), by[first() + t].data() + s * static_cast<std::size_t>(width), to);
        if (shape_.wide) to[width] += by_sum[s];
      }
    }
    rows.ready();
    if (shape_.has_bottom()) bottom_.backward(weights, std::move(by[0]), gradients, ready);
  }

 private:
  std::size_t columns() const { return static_cast<std::size_t>(shape_.columns); }
  std::size_t first() const { return shape_.has_bottom() ? 1 : 0; }
  const T* row(std::size_t vector, std::size_t sample) const {
    return vectors_[vector].data() + sample * static_cast<std::size_t>(shape_.width);
  }
  T dot(const T* a, const T* b) const {
    T sum = 0;
    for (std::int64_t k = 0; k < shape_.width; ++k) sum += a[k] * b[k];
    return sum;
  }
  void add(T factor, const T* from, T* to) const {
    for (std::int64_t k = 0; k < shape_.width; ++k) to[k] += factor * from[k];
  }

  DlrmShape shape_;
  DenseStack<T> bottom_, top_;
  int samples_ = 0;
  std::vector<std::vector<T>> vectors_;  ///< samples x width each
};

}  // namespace

template <class T>
std::unique_ptr<Passes<T>> make_dlrm(const DlrmShape& shape) {
  return std::make_unique<DlrmPasses<T>>(shape);
}
template std::unique_ptr<Passes<double>> make_dlrm<double>(const DlrmShape&);
template std::unique_ptr<Passes<float>> make_dlrm<float>(const DlrmShape&);

}  // namespace cambium::relate
