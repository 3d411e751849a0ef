#include "core/train/networks/torch/rank_layers.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/error.hpp"

namespace cambium::train {

struct RankLayer::Part : torch::nn::Module {
  Part(std::vector<std::int64_t> shape, bool with_bias) : weight(register_parameter("weight", torch::empty(shape))) {
    if (with_bias) bias = register_parameter("bias", torch::empty({shape[0]}));
  }
  torch::Tensor weight, bias;
};

static std::int64_t taps_of(const RankLayerShape& shape) {
  return std::accumulate(shape.kernel.begin(), shape.kernel.end(), std::int64_t{1}, std::multiplies<>());
}

static std::vector<std::int64_t> weight_shape(std::int64_t out, std::int64_t in, std::vector<std::int64_t> kernel) {
  kernel.insert(kernel.begin(), {out, in});
  return kernel;
}

std::shared_ptr<RankLayer::Part> RankLayer::part(const char* name, std::int64_t in, std::int64_t out, bool one_tap,
                                                 bool bias) {
  auto kernel = shape_.kernel;
  if (one_tap) std::fill(kernel.begin(), kernel.end(), 1);
  return register_module(name, std::make_shared<Part>(weight_shape(out, in, std::move(kernel)), bias));
}

RankLayer::RankLayer(RankLayerShape shape, std::int64_t rank) : shape_(std::move(shape)), rank_(rank) {
  const auto inputs = shape_.inputs, outputs = shape_.outputs;
  if (rank == 0) {
    weight_ = register_parameter("weight", torch::empty(weight_shape(outputs, inputs, shape_.kernel)));
    bias_ = register_parameter("bias", torch::empty({outputs}));
    return;
  }
  if (taps_of(shape_) == 1) {
    enter_ = part("enter", inputs, rank, true, false);
    leave_ = part("leave", rank, outputs, true, true);
    return;
  }
  const auto in = std::min(rank, inputs), out = std::min(rank, outputs);
  if (in < inputs) enter_ = part("enter", inputs, in, true, false);
  core_ = part("core", in, out, false, out == outputs);
  if (out < outputs) leave_ = part("leave", out, outputs, true, true);
}

torch::Tensor RankLayer::through(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                                 bool padded) const {
  if (shape_.kernel.empty()) return torch::linear(x, weight, bias);
  const auto axes = shape_.kernel.size();
  const std::vector<std::int64_t> ones(axes, 1), zeros(axes, 0);
  return torch::convolution(x, weight, bias, ones, padded ? shape_.padding : zeros, ones, false, zeros, 1);
}

torch::Tensor RankLayer::forward(const torch::Tensor& x) {
  if (weight_.defined()) return through(x, weight_, bias_, true);
  torch::Tensor y = x;
  if (enter_) y = through(y, enter_->weight, enter_->bias, false);
  if (core_) y = through(y, core_->weight, core_->bias, true);
  if (leave_) y = through(y, leave_->weight, leave_->bias, false);
  return y;
}

RankLayer::Factors RankLayer::factors() const {
  const auto of = [](const std::shared_ptr<Part>& part) { return part ? part->weight : torch::Tensor(); };
  return {of(enter_), of(core_), of(leave_)};
}

torch::Tensor RankLayer::bias() const {
  if (weight_.defined()) return bias_;
  return leave_ ? leave_->bias : core_->bias;
}

FactorLayer RankLayer::layer() const {
  FactorLayer out;
  out.inputs = shape_.inputs;
  out.outputs = shape_.outputs;
  out.taps = taps_of(shape_);
  out.places = shape_.places;
  out.rank = rank_;
  return out;
}

std::int64_t RankLayers::next() {
  const auto at = made_++;
  return at < ranks_.size() ? ranks_[at] : 0;
}

std::shared_ptr<RankLayer> RankLayers::make(RankLayerShape shape) {
  return std::make_shared<RankLayer>(std::move(shape), next());
}

std::shared_ptr<RankLayer> RankLayers::same(std::int64_t inputs, std::int64_t outputs, std::vector<std::int64_t> kernel,
                                            std::int64_t places) {
  auto padding = kernel;
  for (auto& p : padding) p /= 2;
  return make({inputs, outputs, std::move(kernel), std::move(padding), places});
}

std::shared_ptr<RankLayer> RankLayers::linear(std::int64_t inputs, std::int64_t outputs, std::int64_t places) {
  return make({inputs, outputs, {}, {}, places});
}

void RankLayers::require_all() const {
  if (const auto wrong = ranks_problem(ranks_, made_); !wrong.empty()) throw InputError(wrong);
}

std::vector<FactorLayer> factor_layers_of(const torch::nn::Module& network, std::span<const ParameterInfo> parameters) {
  std::map<std::string, int> at;
  for (std::size_t k = 0; k < parameters.size(); ++k) at[parameters[k].name] = static_cast<int>(k);
  const auto number = [&](const std::string& name) {
    const auto found = at.find(name);
    return found == at.end() ? -1 : found->second;
  };
  std::vector<FactorLayer> out;
  for (const auto& item : network.named_modules({}, false)) {
    const auto* made = dynamic_cast<const RankLayer*>(item.value().get());
    if (!made) continue;
    auto layer = made->layer();
    const std::string& name = layer.name = item.key();
    layer.core = number(name + (layer.rank == 0 ? ".weight" : ".core.weight"));
    layer.enter = number(name + ".enter.weight");
    layer.leave = number(name + ".leave.weight");
    for (const char* last : {".bias", ".core.bias", ".leave.bias"})
      if (const int k = number(name + last); k >= 0) layer.bias = k;
    out.push_back(layer);
  }
  return out;
}

}  // namespace cambium::train
