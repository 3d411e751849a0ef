#pragma once
#include <torch/torch.h>

#include "core/train/networks/torch/torch_batch.hpp"
#include "plugins/pretrain/networks/scales.hpp"

namespace cambium::pretrain {

/// Conversion of samples to inputs of the layers.
struct FieldView {
  const AugmentKeys* changes = nullptr;  ///< null: no augmentation
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// (samples, channels, cells...): scaled fields of this name. `number` of a view addresses its random numbers.
torch::Tensor fields_of(const train::TorchBatch& batch, const char* name, int number, const FieldView& view,
                        const Scales& scales, torch::Dtype real);

}  // namespace cambium::pretrain
