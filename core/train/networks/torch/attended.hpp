#pragma once
#include <torch/torch.h>

#include "core/train/networks/attention/attention.hpp"

namespace cambium::train {

/// softmax(q k / sqrt(width)) v of each sample and head, without a mask, by the kernels of networks/attention, with
/// derivatives by all three. Arguments and result are (samples, heads, positions, width) in float32 or float64. `type`:
/// softmax or two_pass, which agree up to rounding.
torch::Tensor attended(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value,
                       AttentionParams::Type type = AttentionParams::Type::softmax);

}  // namespace cambium::train
