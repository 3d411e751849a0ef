#include "plugins/superres/networks/flow_unet.hpp"

#include <algorithm>

#include "core/plugin/registry.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "plugins/superres/networks/answers.hpp"
#include "plugins/superres/networks/flow_planes.hpp"

namespace cambium::superres {
void FlowUnet::Params::describe(deck::Describe<Params>& d) {
  d("base_channels", &Params::features, "channels of the first block; they double with every level")
      .formerly("features")
      .at_least(1)
      .def(16);
  d("max_channels", &Params::most_features, "maximum number of channels, at which the doubling ends")
      .formerly("most_features")
      .at_least(1)
      .def(256);
  d("levels", &Params::levels, "halvings of the grid; 0: log2 of its largest extent").range(0, 12).def(0);
  d("ratio", &Params::ratio, "crops: cells of the output per coarse cell along t, x and z").def({2, 4, 4});
  d("interpolate", &Params::interpolate,
    "residual learning: the network's output is added to the linear interpolation of coarse samples (crops) or to the "
    "last frame (snapshots)")
      .def(true);
  describe_forecast_training(d);
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
  shape.wraps = scaling_.wraps;
  std::copy_n(scaling_.grid.begin(), 3, shape.grid.begin());
  if (!scaling_.forecasts) shape.refined = refined_nodes(shape.grid, params_.ratio, scaling_.wraps);
  train::RankLayers layers(params_.ranks);
  unet_ = std::make_shared<Unet>(shape, layers);
  layers.require_all();
  return unet_;
}

/// With interpolation the network's initial output is zero: both summands of its last block's output are 0.
void FlowUnet::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                       std::uint64_t seed) const {
  const std::string last = unet_->last_block() + ".";
  if (params_.interpolate && (info.name.starts_with(last + "norm3.") || info.name.starts_with(last + "beside.")))
    return train::fill_constant(weights, 0.0);
  FlowNetwork::initial(info, index, weights, seed);
}

torch::Tensor FlowUnet::values(const train::TorchBatch& batch) {
  const auto samples = coarse(batch);
  if (scaling_.forecasts) return forecast(samples, true);
  const auto fine = unet_->forward(samples, [this](int block) { enter(block); }).to(real());
  const auto points = batch.stored("points");
  std::vector<torch::Tensor> out;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto grid = cells(batch, b);
    const auto places = points[b].contiguous();
    auto y = interpolated(refined(grid, params_.ratio), places, fine[b]);
    if (params_.interpolate) y = y + interpolated(grid, places, samples[b]);
    out.push_back(y);
  }
  return torch::cat(out);
}

/// Maps scaled frames (batch, fields, t, x, z) to the next one.
torch::Tensor FlowUnet::forecast(const torch::Tensor& frames, bool tell) {
  const auto enter_block = [this](int block) { enter(block); };
  const auto y = unet_->forward(frames, tell ? std::function<void(int)>(enter_block) : nullptr).to(real());
  const auto next = y.select(2, y.size(2) - 1) * per_field(scaling_.change).to(real());
  return params_.interpolate ? frames.select(2, frames.size(2) - 1) + next : next;
}

std::vector<train::TorchNetwork::Term> FlowUnet::loss(const train::TorchBatch& batch) {
  if (!scaling_.forecasts) return {data_term(values(batch), batch)};
  const auto frames = training_frames(batch);
  std::vector<Term> out{data_term(forecast(frames, params_.push_forward == 0), batch)};
  later_.clear();
  return out;
}

/// Frames with noise, advanced by the number of own forecasts drawn for each sample.
torch::Tensor FlowUnet::training_frames(const train::TorchBatch& batch) {
  const torch::NoGradGuard guard;
  auto frames = coarse(batch).to(torch::kFloat64).contiguous();
  const auto ids = batch.ids();
  const auto each = static_cast<std::size_t>(frames.numel() / batch.size());
  for (std::size_t b = 0; b < ids.size(); ++b)
    add_noise(moment_, ids[b], params_.noise, {frames.data_ptr<double>() + b * each, each});
  frames = frames.to(real());
  later_.clear();
  for (const auto id : ids) later_.push_back(forecasts_before(moment_, id, params_.push_forward));
  for (int round = 0; round < *std::max_element(later_.begin(), later_.end()); ++round) {
    const auto moved = torch::cat({frames.slice(2, 1), forecast(frames, false).unsqueeze(2)}, 2);
    std::vector<torch::Tensor> rows;
    for (std::int64_t b = 0; b < batch.size(); ++b)
      rows.push_back(later_[static_cast<std::size_t>(b)] > round ? moved[b] : frames[b]);
    frames = torch::stack(rows);
  }
  return frames;
}

void FlowUnet::fit_statistics(train::Dataset& training, Context& context) {
  FlowNetwork::fit_statistics(training, context);
  require_forecasts(params_, scaling_, training);
}

std::vector<train::TorchNetwork::Term> FlowUnet::measure(const train::TorchBatch& batch) {
  const auto y = values(batch);
  const auto error = data_term(y, batch);
  keep_loss({error});
  return {error, square_term(y, batch)};
}

}  // namespace cambium::superres
