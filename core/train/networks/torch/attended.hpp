#pragma once
#include <torch/torch.h>

#include "core/train/networks/attention/attention.hpp"

namespace cambium::train {

/// softmax(q k / sqrt(width)) v of each sample and head, every position seeing all, by the kernels of
/// core/train/networks/attention, with derivatives by all three. Each argument is (samples, heads, positions, width) in
/// float32 or float64, and so is the answer. `type`: softmax or two_pass, which are the same numbers to rounding.
torch::Tensor attended(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value,
                       AttentionParams::Type type = AttentionParams::Type::softmax);

}  // namespace cambium::train
