#pragma once
#include <torch/torch.h>

#include <array>

#include "plugins/superres/decoder/latent_cells.hpp"

// Layers between the convolutions of the U-Net. Where nobody asks for gradients each function is one pass over its
// numbers, in place where it can be; else, and for tensors that do not lie plainly in memory, Torch's own operators.
// The numbers are those of these operators up to rounding.
namespace cambium::superres {

/// True if the short passes are taken: no gradient is kept, float or double, one number behind the other.
bool answers_only(const torch::Tensor& x);

/// The group normalisation of x (batch, channels, t, x, z), plus `beside` where given, without what is below 0 where
/// `cut`. x is given up.
torch::Tensor normed(torch::Tensor x, torch::nn::GroupNorm& norm, bool cut, const torch::Tensor& beside = {});

/// The nearest numbers on a finer grid (t, x, z), and the largest of two along each axis that is halved.
torch::Tensor enlarged(const torch::Tensor& x, const std::array<std::int64_t, 3>& size);
torch::Tensor pooled(const torch::Tensor& x, const std::array<std::int64_t, 3>& from,
                     const std::array<std::int64_t, 3>& to);

/// Linear interpolation of node values (fields, t, x, z) at points (count, 3): (count, fields).
torch::Tensor interpolated(const LatentCells& cells, const torch::Tensor& points, const torch::Tensor& nodes);

}  // namespace cambium::superres
