#include <cmath>

#include "core/train/networks/torch/initial_values.hpp"
#include "plugins/superres/networks/meshfree_flow_net.hpp"

namespace cambium::superres {

std::shared_ptr<torch::nn::Module> MeshfreeFlowNet::build() {
  auto whole = std::make_shared<torch::nn::Module>("meshfree_flow_net");
  UnetShape shape;
  shape.features = params_.features;
  shape.most_features = params_.most_features;
  shape.outputs = params_.latent;
  shape.levels = params_.levels;
  shape.wraps = scaling_.wraps;
  shape.grid = {scaling_.grid[0], scaling_.grid[1], scaling_.grid[2]};
  train::RankLayers made(params_.ranks);
  encoder_ = whole->register_module("encoder", std::make_shared<Unet>(shape, made));
  decoder_ranks_.clear();
  for (int l = 0, count = shape_.layers(); l < count; ++l) decoder_ranks_.push_back(made.next());
  made.require_all();
  if (!params_.ranks.empty()) shape_ = shape_.with_ranks(decoder_ranks_);
  torch::nn::ModuleList layers;
  decoder_weights_.clear();
  for (int l = 0; l < shape_.layers(); ++l) {
    torch::nn::Linear layer(shape_.columns(l), shape_.width(l));
    layers->push_back(layer);
    decoder_weights_.push_back(layer->weight);
    decoder_weights_.push_back(layer->bias);
  }
  whole->register_module("decoder", layers);
  return whole;
}

/// A factorised layer of the decoder consists of two of its layers.
std::vector<train::FactorLayer> MeshfreeFlowNet::factor_layers() const {
  auto out = module_layers();
  int at = 0, next = static_cast<int>(std::ssize(parameters())) - 2 * shape_.layers();
  for (std::size_t l = 0; l < decoder_ranks_.size(); ++l, ++at, next += 2) {
    train::FactorLayer layer;
    layer.name = "decoder." + std::to_string(l);
    layer.rank = decoder_ranks_[l];
    layer.inputs = shape_.columns(at);
    layer.places = scaling_.points * (params_.blend == Blend::spline ? 1 : 8);
    if (layer.rank > 0)
      layer.enter = next, layer.between = next + 1, layer.leave = next += 2, ++at;
    else
      layer.core = next;
    layer.outputs = shape_.width(at);
    layer.bias = next + 1;
    out.push_back(layer);
  }
  return out;
}

std::vector<std::string> MeshfreeFlowNet::segments() const {
  std::vector<std::string> out;
  for (const auto& block : encoder_->blocks()) out.push_back("encoder." + block);
  out.push_back("decoder");
  return out;
}

/// With interpolation the decoder starts with small outputs.
void MeshfreeFlowNet::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                              std::uint64_t seed) const {
  if (info.name != "decoder." + std::to_string(shape_.layers() - 1) + ".weight")
    return FlowNetwork::initial(info, index, weights, seed);
  train::fill_normal(weights, (params_.interpolate ? 0.1 : 1.0) / std::sqrt(shape_.widths.back()), seed, index);
}

}  // namespace cambium::superres
