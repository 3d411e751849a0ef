#include "core/train/networks/torch/rank_layers.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::train {

namespace {

using torch::nn::Conv2d;
using torch::nn::Conv2dOptions;
using torch::nn::Linear;
using torch::nn::LinearOptions;

struct RankConvolutionImpl : torch::nn::Module {
  RankConvolutionImpl(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, std::int64_t rank) {
    const auto in = std::min(rank, inputs), out = std::min(rank, outputs);
    if (in < inputs) enter = register_module("enter", Conv2d(Conv2dOptions(inputs, in, 1).bias(false)));
    core = register_module("core", Conv2d(Conv2dOptions(in, out, kernel).padding(kernel / 2).bias(out == outputs)));
    if (out < outputs) leave = register_module("leave", Conv2d(Conv2dOptions(out, outputs, 1)));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor y = core(enter.is_empty() ? x : enter(x));
    return leave.is_empty() ? y : leave(y);
  }
  Conv2d enter{nullptr}, core{nullptr}, leave{nullptr};
};
TORCH_MODULE(RankConvolution);

struct RankLinearImpl : torch::nn::Module {
  RankLinearImpl(std::int64_t inputs, std::int64_t outputs, std::int64_t rank)
      : enter(register_module("enter", Linear(LinearOptions(inputs, rank).bias(false)))),
        leave(register_module("leave", Linear(rank, outputs))) {}
  torch::Tensor forward(const torch::Tensor& x) { return leave(enter(x)); }
  Linear enter, leave;
};
TORCH_MODULE(RankLinear);

/// "3." of "3.enter.weight" and of "3.weight".
std::string layer_of(const std::string& parameter) {
  std::string name = parameter.substr(0, parameter.rfind('.'));
  for (const char* factor : {".enter", ".core", ".leave"})
    if (name.ends_with(factor)) name = name.substr(0, name.rfind('.'));
  return name;
}

}  // namespace

torch::nn::AnyModule convolution_of_rank(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                                         std::int64_t rank) {
  if (rank > 0) return torch::nn::AnyModule(RankConvolution(inputs, outputs, kernel, rank));
  return torch::nn::AnyModule(Conv2d(Conv2dOptions(inputs, outputs, kernel).padding(kernel / 2)));
}

torch::nn::AnyModule linear_of_rank(std::int64_t inputs, std::int64_t outputs, std::int64_t rank) {
  if (rank > 0) return torch::nn::AnyModule(RankLinear(inputs, outputs, rank));
  return torch::nn::AnyModule(Linear(inputs, outputs));
}

void name_factors(std::span<const ParameterInfo> parameters, std::vector<FactorLayer>& layers) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const auto& name = parameters[k].name;
    const auto layer = layer_of(name);
    if (!layers[at].name.empty() && layers[at].name != layer && ++at == layers.size())
      throw InternalError("name_factors: the network has more layers than it names");
    auto& l = layers[at];
    l.name = layer;
    const int index = static_cast<int>(k);
    if (name.ends_with("bias"))
      l.bias = index;
    else if (name.ends_with(".enter.weight"))
      l.enter = index;
    else if (name.ends_with(".leave.weight"))
      l.leave = index;
    else
      l.core = index;
  }
}

}  // namespace cambium::train
