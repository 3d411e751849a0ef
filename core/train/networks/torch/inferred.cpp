#include "core/train/networks/torch/inferred.hpp"

#include <functional>
#include <numeric>

namespace cambium::train {

/// A contiguous float64 array.
static TensorRef view_of(std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  TensorRef out;
  out.data = values.data();
  out.rank = static_cast<int>(shape.size());
  std::int64_t stride = 1;
  for (std::size_t k = shape.size(); k-- > 0; stride *= shape[k]) {
    out.shape[k] = shape[k];
    out.stride[k] = stride;
  }
  return out;
}

std::int64_t numbers_of(const FieldInfo& output) {
  return std::accumulate(output.shape.begin(), output.shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::vector<double>> inferred(Network& network, std::span<const SamplePtr> samples,
                                          std::span<const TensorRef> weights) {
  std::vector<std::vector<double>> out;
  std::vector<TensorRef> views;
  for (const auto& output : network.outputs()) {
    std::vector<std::int64_t> shape = output.shape;
    shape.insert(shape.begin(), std::ssize(samples));
    out.emplace_back(static_cast<std::size_t>(std::ssize(samples) * numbers_of(output)));
    views.push_back(view_of(out.back(), shape));
  }
  network.infer(samples, weights, views);
  return out;
}

}  // namespace cambium::train
