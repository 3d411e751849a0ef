#pragma once
#include <torch/torch.h>

#include <array>

#include "plugins/superres/decoder/latent_cells.hpp"

// Layers between the convolutions of the U-Net. Without gradients each function is one pass over its values, in place
// if possible; otherwise, and for non-contiguous tensors, Torch's own operators are used. Results equal those of these
// operators up to rounding.
namespace cambium::superres {

/// True if the fast passes are used: no gradient is recorded, float or double, contiguous memory.
bool answers_only(const torch::Tensor& x);

/// Group normalisation of x (batch, channels, t, x, z), plus `beside` if given, followed by ReLU if `cut`. x is
/// consumed.
torch::Tensor normed(torch::Tensor x, torch::nn::GroupNorm& norm, bool cut, const torch::Tensor& beside = {});

/// Nearest-neighbour upsampling to a finer grid (t, x, z), and max pooling by two along each halved axis.
torch::Tensor enlarged(const torch::Tensor& x, const std::array<std::int64_t, 3>& size);
torch::Tensor pooled(const torch::Tensor& x, const std::array<std::int64_t, 3>& from,
                     const std::array<std::int64_t, 3>& to);

/// Linear interpolation of node values (fields, t, x, z) at points (count, 3): (count, fields).
torch::Tensor interpolated(const LatentCells& cells, const torch::Tensor& points, const torch::Tensor& nodes);

}  // namespace cambium::superres
