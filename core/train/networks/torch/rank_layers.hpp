#pragma once
#include <torch/torch.h>

#include <span>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// A convolution of an image that keeps its extents; with a rank, one between `rank` channels (no more than there are)
/// behind a product that leads to them and in front of one that leads from them. Where channels are not fewer, that
/// product is left out.
torch::nn::AnyModule convolution_of_rank(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                                         std::int64_t rank);
/// A linear layer; with a rank, the product of two.
torch::nn::AnyModule linear_of_rank(std::int64_t inputs, std::int64_t outputs, std::int64_t rank);

/// Fills in names and parameters of layers made by the two above, which come in the same order.
void name_factors(std::span<const ParameterInfo> parameters, std::vector<FactorLayer>& layers);

}  // namespace cambium::train
