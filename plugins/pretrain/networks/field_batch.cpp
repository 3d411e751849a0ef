#include "plugins/pretrain/networks/field_batch.hpp"

#include <algorithm>

namespace cambium::pretrain {

using torch::Tensor;

Tensor fields_of(const train::TorchBatch& batch, const char* name, int number, const FieldView& view,
                 const Scales& scales, torch::Dtype real) {
  const auto& shape = scales.shape;
  const auto seen = view.changes ? augmented_shape(*view.changes, shape) : shape;
  std::vector<std::int64_t> sizes{batch.size(), seen.channels};
  sizes.insert(sizes.end(), seen.cells.begin(), seen.cells.end());
  const Tensor out = torch::empty(sizes, torch::kFloat32);
  float* to = out.data_ptr<float>();
  for (const auto& sample : batch.samples()) {
    const auto numbers = numbers_of(*sample, name, shape);
    if (view.changes) {
      const AugmentAddress address{view.seed, sample->id, view.step, number};
      const auto made = augmented(numbers, shape, *view.changes, scales.deviation, address);
      to = std::copy(made.begin(), made.end(), to);
    } else {
      to = std::copy(numbers.begin(), numbers.end(), to);
    }
  }
  std::vector<std::int64_t> by_channel(sizes.size(), 1);
  by_channel[1] = -1;
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  return ((out - torch::tensor(scales.mean, options).reshape(by_channel)) /
          torch::tensor(scales.deviation, options).reshape(by_channel))
      .to(real);
}

}  // namespace cambium::pretrain
