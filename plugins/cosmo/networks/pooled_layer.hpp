#pragma once
#include <torch/torch.h>

namespace cambium::cosmo {

/// PooledConvolution of each cube of a batch, on the host. x: (batch, n, n, n, inputs), weight: (outputs, inputs, 3, 3,
/// 3), bias: (outputs), all float32 or all float64; returns (batch, n/2, n/2, n/2, outputs). Cubes are distributed over
/// Torch's threads; gradients of weights are summed in the order of the batch: bitwise identical for any number of
/// threads.
torch::Tensor pooled_convolution(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                                 double slope);

/// The same for a low-rank factorised convolution, without gradients: core: (middle, inputs, 3, 3, 3), leave: (outputs,
/// middle).
torch::Tensor pooled_product(const torch::Tensor& x, const torch::Tensor& core, const torch::Tensor& leave,
                             const torch::Tensor& bias, double slope);

}  // namespace cambium::cosmo
