#pragma once
#include <torch/torch.h>

#include "plugins/pretrain/networks/conv_shape.hpp"

namespace cambium::pretrain {

/// Weights of a convolution, a group normalisation and a ReLU; weight: (outputs, inputs, 3, ...), the others (outputs).
struct NormedWeights {
  torch::Tensor weight, bias, scale, shift;
  std::int64_t groups = 1;
  double epsilon = 1e-5;
};

/// relu(normalise(convolve(x))), plus x if `beside` is set, in one pass over each field of a batch. x: (samples,
/// cells..., inputs), float32 or float64 on the host; returns (samples, cells out..., outputs). Fields are distributed
/// over Torch's threads; the summation order of weight gradients does not depend on their number.
torch::Tensor normed_convolution(const torch::Tensor& x, const NormedWeights& weights, const ConvShape& shape,
                                 bool beside);

}  // namespace cambium::pretrain
