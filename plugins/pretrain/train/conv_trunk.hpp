#pragma once
#include <torch/torch.h>

#include <vector>

namespace cambium::pretrain {

/// Extents of what a trunk reads, and of the trunk.
struct TrunkShape {
  std::int64_t channels = 1;
  std::vector<std::int64_t> cells, periodic;  ///< along two or three axes
  std::vector<std::int64_t> stages;           ///< channels behind each halving
  std::int64_t width = 64;                    ///< of the vector; 0: there is no linear layer, only cells()
  bool mean =
      true;  ///< over all cells at the end, which no shift along periodic axes changes much; else all cells count
};

/// A convolution over 3 cells along each axis; across the ends of a periodic axis it goes on at the other end,
/// elsewhere there are zeros.
struct WrappedConvImpl : torch::nn::Module {
  WrappedConvImpl(std::int64_t in, std::int64_t out, std::int64_t stride, std::vector<std::int64_t> periodic);
  torch::Tensor forward(torch::Tensor x);

 private:
  std::int64_t stride_;
  std::vector<std::int64_t> periodic_;
  torch::Tensor weight_, bias_;
};
TORCH_MODULE(WrappedConv);

/// (samples, channels, cells...) -> (samples, width): stages that halve every axis (convolution, group normalisation,
/// ReLU, then the same beside a short cut), and a linear layer.
struct ConvTrunkImpl : torch::nn::Module {
  explicit ConvTrunkImpl(const TrunkShape& shape);
  torch::Tensor forward(torch::Tensor x);
  /// (samples, channels of the last stage, cells that are left).
  torch::Tensor cells(torch::Tensor x);

 private:
  TrunkShape shape_;
  std::vector<WrappedConv> down_, beside_;
  std::vector<torch::nn::GroupNorm> norm_, norm_beside_;
  torch::nn::Linear out_{nullptr};
};
TORCH_MODULE(ConvTrunk);

/// (samples, parameters) -> (samples, width): linear layers with SiLU between them.
struct ParameterLayersImpl : torch::nn::Module {
  ParameterLayersImpl(std::int64_t parameters, const std::vector<std::int64_t>& hidden, std::int64_t width);
  torch::Tensor forward(torch::Tensor x);

 private:
  std::vector<torch::nn::Linear> layers_;
};
TORCH_MODULE(ParameterLayers);

}  // namespace cambium::pretrain
