#pragma once
#include <torch/torch.h>

namespace cambium::cosmo {

/// PooledConvolution of each cube of a batch, on the host. x: (batch, n, n, n, inputs), weight: (outputs, inputs, 3, 3,
/// 3), bias: (outputs), all float32 or all float64; gives (batch, n/2, n/2, n/2, outputs). Cubes are shared out among
/// Torch's threads, gradients of weights are summed in the order of the batch: the same bits on any number of them.
torch::Tensor pooled_convolution(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                                 double slope);

/// The same of a convolution that is a product, without gradients: core: (middle, inputs, 3, 3, 3), leave: (outputs,
/// middle).
torch::Tensor pooled_product(const torch::Tensor& x, const torch::Tensor& core, const torch::Tensor& leave,
                             const torch::Tensor& bias, double slope);

}  // namespace cambium::cosmo
