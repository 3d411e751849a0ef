#pragma once
#include "plugins/pretrain/networks/conv_shape.hpp"
#include "plugins/pretrain/networks/trunk.hpp"

namespace cambium::pretrain {

/// A convolution over 3 cells along each axis; circular padding along periodic axes, zero padding along others.
struct WrappedConvImpl : torch::nn::Module {
  WrappedConvImpl(std::int64_t in, std::int64_t out, std::int64_t stride, std::vector<std::int64_t> periodic);
  torch::Tensor forward(torch::Tensor x);
  const torch::Tensor& weight() const { return weight_; }
  const torch::Tensor& bias() const { return bias_; }
  ConvShape shape(const std::vector<std::int64_t>& cells) const {
    return {cells, periodic_, weight_.size(1), weight_.size(0), stride_};
  }

 private:
  std::int64_t stride_;
  std::vector<std::int64_t> periodic_;
  torch::Tensor weight_, bias_;
};
TORCH_MODULE(WrappedConv);

/// Stages that halve every axis: convolution, group normalisation, ReLU, then the same with a skip connection. On hosts
/// by normed_convolution() if it supports the shapes, else by Torch's operators.
class ConvTrunk : public Trunk {
 public:
  explicit ConvTrunk(const TrunkShape& shape);
  torch::Tensor cells(torch::Tensor x) override;
  std::string slower() const override { return slower_; }

 private:
  bool knows(const torch::Tensor& x);
  torch::Tensor by_torch(torch::Tensor x);
  torch::Tensor by_own(torch::Tensor x);
  std::vector<WrappedConv> down_, beside_;
  std::vector<torch::nn::GroupNorm> norm_, norm_beside_;
  std::string slower_;
};

/// (samples, parameters) -> (samples, width): linear layers with SiLU between them.
struct ParameterLayersImpl : torch::nn::Module {
  ParameterLayersImpl(std::int64_t parameters, const std::vector<std::int64_t>& hidden, std::int64_t width);
  torch::Tensor forward(torch::Tensor x);

 private:
  std::vector<torch::nn::Linear> layers_;
};
TORCH_MODULE(ParameterLayers);

}  // namespace cambium::pretrain
