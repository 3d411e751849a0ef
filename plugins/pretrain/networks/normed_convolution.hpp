#pragma once
#include <torch/torch.h>

#include "plugins/pretrain/networks/conv_shape.hpp"

namespace cambium::pretrain {

/// For a convolution, a group normalisation and a ReLU; weight: (outputs, inputs, 3, ...), the others (outputs).
struct NormedWeights {
  torch::Tensor weight, bias, scale, shift;
  std::int64_t groups = 1;
  double epsilon = 1e-5;
};

/// relu(normalise(convolve(x))), and x added to it where `beside` is set, in one pass over each field of a batch. x:
/// (samples, cells..., inputs), float32 or float64 on the host; gives (samples, cells out..., outputs). Fields are
/// shared out among Torch's threads; gradients of weights are summed in an order that their number does not change.
torch::Tensor normed_convolution(const torch::Tensor& x, const NormedWeights& weights, const ConvShape& shape,
                                 bool beside);

}  // namespace cambium::pretrain
