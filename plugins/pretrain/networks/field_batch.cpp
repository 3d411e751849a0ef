#include "plugins/pretrain/networks/field_batch.hpp"

#include <algorithm>

namespace cambium::pretrain {

using torch::Tensor;

namespace {

/// Values, channel by channel, in units of the channel's standard deviation.
template <class T>
T* scaled_into(std::span<const float> numbers, const Scales& scales, T* to) {
  const auto cells = std::ssize(numbers) / scales.shape.channels;
  const float* from = numbers.data();
  for (std::size_t c = 0; c < static_cast<std::size_t>(scales.shape.channels); ++c, from += cells, to += cells) {
    const double mean = scales.mean[c], inverse = 1.0 / scales.deviation[c];
    for (std::int64_t k = 0; k < cells; ++k) to[k] = static_cast<T>((static_cast<double>(from[k]) - mean) * inverse);
  }
  return to;
}

template <class T>
void fill(const train::TorchBatch& batch, const char* name, int number, const FieldView& view, const Scales& scales,
          T* to) {
  for (const auto& sample : batch.samples()) {
    const auto numbers = numbers_of(*sample, name, scales.shape);
    if (view.changes && !view.changes->nothing()) {
      const AugmentAddress address{view.seed, sample->id, view.step, number};
      to = scaled_into<T>(augmented(numbers, scales.shape, *view.changes, scales.deviation, address), scales, to);
    } else {
      to = scaled_into<T>(numbers, scales, to);
    }
  }
}

}  // namespace

Tensor fields_of(const train::TorchBatch& batch, const char* name, int number, const FieldView& view,
                 const Scales& scales, torch::Dtype real) {
  const auto seen = view.changes ? augmented_shape(*view.changes, scales.shape) : scales.shape;
  std::vector<std::int64_t> sizes{batch.size(), seen.channels};
  sizes.insert(sizes.end(), seen.cells.begin(), seen.cells.end());
  const Tensor out = torch::empty(sizes, torch::TensorOptions().dtype(real));
  if (real == torch::kFloat64)
    fill(batch, name, number, view, scales, out.data_ptr<double>());
  else
    fill(batch, name, number, view, scales, out.data_ptr<float>());
  return out;
}

}  // namespace cambium::pretrain
