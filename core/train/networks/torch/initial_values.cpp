#include "core/train/networks/torch/initial_values.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::train {

namespace {
template <class F>
void with_values(const TensorRef& out, F&& fill) {
  if (out.dtype == DType::f64)
    fill(static_cast<double*>(out.data));
  else if (out.dtype == DType::f32)
    fill(static_cast<float*>(out.data));
  else
    throw InternalError("weights are float32 or float64");
}
}  // namespace

void fill_normal(const TensorRef& out, double deviation, std::uint64_t seed, std::int64_t parameter) {
  with_values(out, [&]<class T>(T* values) {
    for (std::int64_t k = 0; k < out.elements(); ++k) {
      const Random4 random(seed, Stream::model_weights, static_cast<std::uint64_t>(k / 4),
                           static_cast<std::uint64_t>(parameter));
      values[k] = static_cast<T>(deviation * random.normal(static_cast<int>(k % 4)));
    }
  });
}

void fill_constant(const TensorRef& out, double value) {
  with_values(out, [&]<class T>(T* values) { std::fill_n(values, out.elements(), static_cast<T>(value)); });
}

void fill_numbers(const TensorRef& out, std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != out.elements())
    throw InternalError("fill_numbers: not as many values as weights");
  with_values(out, [&]<class T>(T* to) {
    std::transform(values.begin(), values.end(), to, [](double v) { return static_cast<T>(v); });
  });
}

}  // namespace cambium::train
