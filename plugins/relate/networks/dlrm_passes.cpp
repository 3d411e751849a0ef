#include <algorithm>

#include "plugins/relate/networks/dense_stack.hpp"
#include "plugins/relate/networks/interactions.hpp"
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

/// z_0 = bottom(numbers), z_t = the sum of the bag of column t; r = [z_0, z_i . z_j for j < i]; output top(r), plus, if
/// `wide`, the last element of every sum.
template <class T>
class DlrmPasses : public Passes<T> {
 public:
  explicit DlrmPasses(const DlrmShape& shape)
      : shape_(shape), bottom_(shape.bottom_widths(), true, 0),
        top_(shape.top_widths(), false, shape.has_bottom() ? 2 * (shape.bottom.size() + 1) : 0),
        interactions_(static_cast<int>(shape.vectors()), static_cast<int>(shape.width)) {}

  std::vector<T> forward(std::span<const TensorRef> weights, train::TableRows& rows, Inputs<T> inputs) override {
    samples_ = inputs.samples;
    const T* bottom =
        shape_.has_bottom() ? bottom_.forward(weights, std::move(inputs.numbers), samples_).data() : nullptr;
    std::vector<T> r(static_cast<std::size_t>(samples_) * static_cast<std::size_t>(length()));
    for (std::int64_t s = 0; bottom && s < samples_; ++s)
      std::copy_n(bottom + s * shape_.width, shape_.width, r.data() + s * length());
    std::vector<typename Interactions<T>::Source> z;
    if (bottom) z.push_back({bottom, shape_.width});
    for (int t = 0; t < columns(); ++t) {
      const TensorRef sums = rows.pooled(t);
      z.push_back({static_cast<const T*>(sums.data), sums.stride[0]});
    }
    interactions_.forward(z, samples_, r.data() + first(), length());
    auto output = top_.forward(weights, std::move(r), samples_);
    if (shape_.wide)
      for (int t = 0; t < columns(); ++t) {
        const TensorRef sums = rows.pooled(t);
        for (std::size_t s = 0; s < output.size(); ++s)
          output[s] += static_cast<const T*>(sums.data)[static_cast<std::int64_t>(s) * sums.stride[0] + shape_.width];
      }
    return output;
  }

  void backward(std::span<const TensorRef> weights, std::vector<T> by_output, std::span<const TensorRef> gradients,
                train::TableRows& rows, const train::ReadyCallback& ready) override {
    const auto by_sum = by_output;
    const auto by_r = top_.backward(weights, std::move(by_output), gradients, ready);
    std::vector<T> by_bottom(static_cast<std::size_t>(shape_.has_bottom() ? samples_ * shape_.width : 0));
    std::vector<typename Interactions<T>::Target> by;
    if (shape_.has_bottom()) {
      for (std::int64_t s = 0; s < samples_; ++s)
        std::copy_n(by_r.data() + s * length(), shape_.width, by_bottom.data() + s * shape_.width);
      by.push_back({by_bottom.data(), shape_.width});
    }
    for (int t = 0; t < columns(); ++t) {
      const TensorRef out = rows.gradient(t);
      by.push_back({static_cast<T*>(out.data), out.stride[0]});
      if (shape_.wide)
        for (std::size_t s = 0; s < by_sum.size(); ++s)
          by.back().rows[static_cast<std::int64_t>(s) * out.stride[0] + shape_.width] += by_sum[s];
    }
    interactions_.backward(by_r.data() + first(), length(), by);
    rows.ready();
    if (shape_.has_bottom()) bottom_.backward(weights, std::move(by_bottom), gradients, ready);
  }

 private:
  int columns() const { return static_cast<int>(shape_.columns); }
  /// Offset of the products in r, and its length.
  std::int64_t first() const { return shape_.has_bottom() ? shape_.width : 0; }
  std::int64_t length() const { return first() + shape_.interactions(); }

  DlrmShape shape_;
  DenseStack<T> bottom_, top_;
  Interactions<T> interactions_;
  int samples_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<Passes<T>> make_dlrm(const DlrmShape& shape) {
  return std::make_unique<DlrmPasses<T>>(shape);
}
template std::unique_ptr<Passes<double>> make_dlrm<double>(const DlrmShape&);
template std::unique_ptr<Passes<float>> make_dlrm<float>(const DlrmShape&);

}  // namespace cambium::relate
