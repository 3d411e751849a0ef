#include "plugins/pretrain/networks/conv_trunk.hpp"

#include <fmt/ranges.h>

#include <string>

#include "plugins/pretrain/networks/normed_convolution.hpp"

namespace cambium::pretrain {

using torch::Tensor;

WrappedConvImpl::WrappedConvImpl(std::int64_t in, std::int64_t out, std::int64_t stride,
                                 std::vector<std::int64_t> periodic)
    : stride_(stride), periodic_(std::move(periodic)) {
  std::vector<std::int64_t> sizes{out, in};
  sizes.resize(2 + periodic_.size(), 3);
  weight_ = register_parameter("weight", torch::zeros(sizes));
  bias_ = register_parameter("bias", torch::zeros({out}));
}

Tensor WrappedConvImpl::forward(Tensor x) {
  const auto axes = static_cast<std::int64_t>(periodic_.size());
  std::vector<std::int64_t> zeros(periodic_.size());
  for (std::int64_t a = 0; a < axes; ++a) {
    zeros[a] = periodic_[a] ? 0 : 1;
    if (!periodic_[a]) continue;
    const std::int64_t n = x.size(2 + a);
    x = torch::cat({x.narrow(2 + a, n - 1, 1), x, x.narrow(2 + a, 0, 1)}, 2 + a);
  }
  const std::vector<std::int64_t> stride(periodic_.size(), stride_);
  return axes == 2 ? torch::conv2d(x, weight_, bias_, stride, zeros) : torch::conv3d(x, weight_, bias_, stride, zeros);
}

static std::int64_t groups_of(std::int64_t channels) {
  for (const std::int64_t g : {8, 4, 2})
    if (channels % g == 0 && channels / g >= 4) return g;
  return 1;
}

ConvTrunk::ConvTrunk(const TrunkShape& shape) : Trunk(shape) {
  std::int64_t in = shape.channels, cells = 1;
  auto extents = shape.cells;
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    const std::int64_t out = shape.stages[s];
    const auto name = [s](const char* part) { return part + std::to_string(s); };
    down_.push_back(register_module(name("down"), WrappedConv(in, out, 2, shape.periodic)));
    norm_.push_back(register_module(name("norm"), torch::nn::GroupNorm(groups_of(out), out)));
    beside_.push_back(register_module(name("beside"), WrappedConv(out, out, 1, shape.periodic)));
    norm_beside_.push_back(register_module(name("norm_beside"), torch::nn::GroupNorm(groups_of(out), out)));
    for (auto& n : extents) n = (n + 1) / 2;
    in = out;
  }
  for (const auto n : extents) cells *= n;
  add_out(cells);
}

Tensor ConvTrunk::cells(Tensor x) { return (knows(x) ? by_own(x) : by_torch(x)).flatten(2); }

static std::string why_slower(const ConvShape& shape) {
  std::string out = "convolutions took Torch's operators, which are slower than the plugin's own: ";
  if (shape.outputs % 4 != 0) return out + fmt::format("{} channels are no multiple of 4", shape.outputs);
  return out + fmt::format("a periodic axis among {} cells is halved, and has an odd number of them",
                           fmt::join(shape.cells, " x "));
}

/// True if normed_convolution() supports every layer.
bool ConvTrunk::knows(const Tensor& x) {
  if (!x.is_cpu() || (x.scalar_type() != torch::kFloat32 && x.scalar_type() != torch::kFloat64)) return false;
  std::vector<std::int64_t> cells(x.sizes().begin() + 2, x.sizes().end());
  for (const auto& down : down_) {
    const auto shape = down->shape(cells);
    if (!shape.handled()) {
      slower_ = why_slower(shape);
      return false;
    }
    cells = shape.out();
  }
  return true;
}

Tensor ConvTrunk::by_torch(Tensor x) {
  for (std::size_t s = 0; s < down_.size(); ++s) {
    x = torch::relu(norm_[s](down_[s](x)));
    x = x + torch::relu(norm_beside_[s](beside_[s](x)));
  }
  return x;
}

Tensor ConvTrunk::by_own(Tensor x) {
  const auto layer = [](const Tensor& from, const WrappedConv& conv, const torch::nn::GroupNorm& norm, bool beside) {
    const std::vector<std::int64_t> cells(from.sizes().begin() + 1, from.sizes().end() - 1);
    return normed_convolution(
        from, {conv->weight(), conv->bias(), norm->weight, norm->bias, norm->options.num_groups(), norm->options.eps()},
        conv->shape(cells), beside);
  };
  x = x.movedim(1, -1);
  for (std::size_t s = 0; s < down_.size(); ++s) {
    x = layer(x, down_[s], norm_[s], false);
    x = layer(x, beside_[s], norm_beside_[s], true);
  }
  return x.movedim(-1, 1);
}

ParameterLayersImpl::ParameterLayersImpl(std::int64_t parameters, const std::vector<std::int64_t>& hidden,
                                         std::int64_t width) {
  std::int64_t in = parameters;
  auto sizes = hidden;
  sizes.push_back(width);
  for (const auto out : sizes) {
    layers_.push_back(register_module("layer" + std::to_string(layers_.size()), torch::nn::Linear(in, out)));
    in = out;
  }
}

Tensor ParameterLayersImpl::forward(Tensor x) {
  for (std::size_t k = 0; k < layers_.size(); ++k) x = k == 0 ? layers_[k](x) : layers_[k](torch::silu(x));
  return x;
}

}  // namespace cambium::pretrain
