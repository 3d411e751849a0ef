#pragma once
#include <torch/torch.h>

#include "core/train/networks/torch/torch_batch.hpp"
#include "plugins/pretrain/networks/scales.hpp"

namespace cambium::pretrain {

/// How samples become what the layers read.
struct FieldView {
  const AugmentKeys* changes = nullptr;  ///< none: as they are
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// (samples, channels, cells...): scaled fields of this name. `number` of a view addresses what is random about it.
torch::Tensor fields_of(const train::TorchBatch& batch, const char* name, int number, const FieldView& view,
                        const Scales& scales, torch::Dtype real);

}  // namespace cambium::pretrain
