#include "plugins/superres/networks/flow_unet.hpp"

#include "core/plugin/registry.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "plugins/superres/networks/answers.hpp"

namespace cambium::superres {
void FlowUnet::Params::describe(deck::Describe<Params>& d) {
  d("features", &Params::features, "channels of the first block; they double with every level").at_least(1).def(16);
  d("most_features", &Params::most_features, "maximum number of channels, at which the doubling ends")
      .at_least(1)
      .def(256);
  d("levels", &Params::levels, "halvings of the grid; 0: log2 of its largest extent").range(0, 12).def(0);
  d("ratio", &Params::ratio, "cells of the output per coarse cell along t, x and z").def({2, 4, 4});
  d("interpolate", &Params::interpolate,
    "residual learning: the network's output is added to the linear interpolation of the coarse samples")
      .def(true);
  d("loss", &Params::loss, "loss function").options({{"l1", Loss::l1}, {"l2", Loss::l2}}).def(Loss::l1);
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations of the four convolutions of each block, in order; 0 for a full one. A "
    "stage compress determines them")
      .formerly("ranks")
      .def({});
  d.check([](const Params& p) -> std::string {
    for (auto r : p.ratio)
      if (r < 1) return "'ratio' must be at least 1 along every axis";
    return train::ranks_problem(p.ranks, {});
  });
}

std::shared_ptr<torch::nn::Module> FlowUnet::build() {
  UnetShape shape;
  shape.features = params_.features;
  shape.most_features = params_.most_features;
  shape.outputs = 4;
  shape.levels = params_.levels;
  shape.wraps = wraps_;
  for (int a = 0; a < 3; ++a) {
    shape.grid[a] = grid_[a];
    shape.refined[a] = a == 1 && wraps_ ? grid_[a] * params_.ratio[a] : (grid_[a] - 1) * params_.ratio[a] + 1;
  }
  train::RankLayers layers(params_.ranks);
  unet_ = std::make_shared<Unet>(shape, layers);
  layers.require_all();
  return unet_;
}

/// Beside an interpolation the network begins with nothing to say: both summands of its last block's answer are 0.
void FlowUnet::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                       std::uint64_t seed) const {
  const std::string last = unet_->last_block() + ".";
  if (params_.interpolate && (info.name.starts_with(last + "norm3.") || info.name.starts_with(last + "beside.")))
    return train::fill_constant(weights, 0.0);
  FlowNetwork::initial(info, index, weights, seed);
}

LatentCells FlowUnet::refined(const LatentCells& coarse) const {
  LatentCells out;
  out.wraps = coarse.wraps;
  for (int a = 0; a < 3; ++a) {
    const auto r = params_.ratio[a];
    const auto& x = coarse.axis[a];
    for (std::size_t k = 0; k + 1 < x.size(); ++k)
      for (std::int64_t j = 0; j < r; ++j)
        out.axis[a].push_back(x[k] + (x[k + 1] - x[k]) * static_cast<double>(j) / static_cast<double>(r));
    out.axis[a].push_back(x.back());
  }
  return out;
}

torch::Tensor FlowUnet::values(const train::TorchBatch& batch) {
  const auto samples = coarse(batch);
  const auto fine = unet_->forward(samples, [this](int block) { enter(block); }).to(real());
  const auto points = batch.stored("points");
  std::vector<torch::Tensor> out;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto grid = cells(batch, b);
    const auto places = points[b].contiguous();
    auto y = interpolated(refined(grid), places, fine[b]);
    if (params_.interpolate) y = y + interpolated(grid, places, samples[b]);
    out.push_back(y);
  }
  return torch::cat(out);
}

std::vector<train::TorchNetwork::Term> FlowUnet::measure(const train::TorchBatch& batch) {
  const auto y = values(batch);
  return {data_term(y, batch), square_term(y, batch)};
}

}  // namespace cambium::superres
