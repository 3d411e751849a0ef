#include "core/train/networks/torch/conv_net.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/train/networks/mlp/mlp_loss.hpp"
#include "core/train/networks/torch/inferred.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "core/train/networks/torch/rank_layers.hpp"
#include "core/train/networks/torch/saved_tensors.hpp"

namespace cambium::train {

namespace {

/// relu(x + second(relu(first(x)))), at one number of channels.
struct ResidualImpl : torch::nn::Module {
  ResidualImpl(std::shared_ptr<RankLayer> one, std::shared_ptr<RankLayer> other)
      : first(register_module("first", std::move(one))), second(register_module("second", std::move(other))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::relu(x + second->forward(torch::relu(first->forward(x))));
  }
  std::shared_ptr<RankLayer> first, second;
};
TORCH_MODULE(Residual);

}  // namespace

void ConvNet::Params::describe(deck::Describe<Params>& d) {
  d("channels", &Params::channels, "number of output channels of each convolution; each halves the image resolution")
      .at_most(65536)
      .example("[8, 16]");
  d("residual_blocks", &Params::residual, "number of residual blocks of two convolutions after each convolution")
      .formerly("residual")
      .at_least(0)
      .def(0);
  d("kernel_size", &Params::kernel, "kernel size of the convolutions").formerly("kernel").range(1, 31).def(3);
  d("hidden", &Params::hidden, "width of the layer before the class scores").range(1, 1e6).def(64);
  d("input", &Params::input, "field with the image").def("image");
  d("target", &Params::target, "field of the class index").def("label");
  d("label_smoothing", &Params::label_smoothing,
    "label smoothing: fraction of the target probability that is distributed uniformly over all classes")
      .range(0.0, 0.99)
      .def(0.0);
  d("precision", &Params::precision, "precision of weights and products; bfloat16 keeps float32 weights")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}, {"bfloat16", Precision::bfloat16}})
      .def(Precision::float32);
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations: of each convolution, those of residual blocks included, then of the "
    "two layers after them; 0 for a full matrix. A stage compress determines them")
      .formerly("ranks")
      .def({});
  d.check([](const Params& p) -> std::string {
    if (p.channels.empty()) return "channels: name at least one convolution";
    const std::size_t layers = p.channels.size() * (1 + 2 * static_cast<std::size_t>(p.residual)) + 2;
    if (const auto wrong = ranks_problem(p.ranks, layers); !wrong.empty()) return wrong;
    for (auto width : p.channels)
      if (width < 1) return fmt::format("channels: {} channels are none; give 1 or more", width);
    return p.kernel % 2 == 1 ? "" : fmt::format("kernel_size: {} has no middle; give an odd width", p.kernel);
  });
}

void ConvNet::fit_statistics(Dataset& training, Context& context) {
  for (const auto& field : training.fields())
    if (field.name == params_.input) image_ = field.shape;
  if (image_.size() == 2) image_.insert(image_.begin(), 1);
  if (image_.size() != 3 || *std::min_element(image_.begin(), image_.end()) < 1)
    throw KeyError("conv_net.input.shape", "input",
                   fmt::format("conv_net reads images of shape (height, width) or (channels, height, width); field "
                               "'{}' has the shape ({})",
                               params_.input, fmt::join(image_, ", ")));
  const bool colours = image_[2] == 1 || image_[2] == 3 || image_[2] == 4;
  if (constexpr std::int64_t most_channels = 4; colours && image_[0] > most_channels && image_[1] > most_channels)
    throw KeyError(
        "conv_net.input.channels", "input",
        fmt::format("field '{}' has the shape ({}): its last axis, of {}, looks like the channels of an image, but "
                    "conv_net reads (channels, height, width); store the images with their channels first, with numpy "
                    "images.transpose(0, 3, 1, 2)",
                    params_.input, fmt::join(image_, ", "), image_[2]));
  const std::int64_t shrink = std::int64_t{1} << params_.channels.size();
  if (std::min(image_[1], image_[2]) < shrink)
    throw KeyError(
        "conv_net.channels", "channels",
        fmt::format("{} convolutions halve an image of {} x {} to nothing; list fewer channels, or store images with "
                    "their channels first",
                    params_.channels.size(), image_[1], image_[2]));
  normalizer_ = Normalizer::fit(training, params_.input, Normalizer::Method::standard, Normalizer::Per::whole, context);
  classes_ = classes_in(training, params_.target, context.log);
}

std::shared_ptr<torch::nn::Module> ConvNet::build() {
  torch::nn::Sequential layers;
  std::int64_t before = image_[0], height = image_[1], width = image_[2];
  RankLayers made(params_.ranks);
  const std::vector<std::int64_t> kernel{params_.kernel, params_.kernel};
  for (const auto channels : params_.channels) {
    layers->push_back(made.same(before, channels, kernel, height * width));
    layers->push_back(torch::nn::ReLU());
    for (std::int64_t k = 0; k < params_.residual; ++k) {
      auto first = made.same(channels, channels, kernel, height * width);
      layers->push_back(Residual(std::move(first), made.same(channels, channels, kernel, height * width)));
    }
    layers->push_back(torch::nn::MaxPool2d(2));
    before = channels;
    height /= 2;
    width /= 2;
  }
  layers->push_back(torch::nn::Flatten());
  layers->push_back(made.linear(before * height * width, params_.hidden));
  layers->push_back(torch::nn::ReLU());
  layers->push_back(made.linear(params_.hidden, classes_));
  layers_ = layers.ptr();
  pieces_.clear();
  segments_.clear();
  for (std::size_t k = 0; k < layers->size(); ++k) {
    if (layers->ptr(k)->parameters().empty()) continue;
    if (!segments_.empty()) pieces_.push_back(k);
    segments_.push_back(std::to_string(k));
  }
  pieces_.push_back(layers->size());
  return layers_;
}

void ConvNet::initial(const ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                      std::uint64_t seed) const {
  if (info.name.find("second.") == std::string::npos || info.shape.size() < 2)
    return TorchNetwork::initial(info, index, weights, seed);
  const auto inputs = static_cast<double>(info.shape[1] * info.shape[2] * info.shape[3]);
  const auto blocks = static_cast<double>(params_.residual * std::ssize(params_.channels));
  fill_normal(weights, std::sqrt(2.0 / (inputs * blocks)), seed, index);
}

/// (batch, classes), float32 or float64.
torch::Tensor ConvNet::scores(const TorchBatch& batch) {
  torch::Tensor x = images(batch);
  x = (x - normalizer_.shift()[0]) / normalizer_.scale()[0];
  const bool again = recomputes() && torch::GradMode::is_enabled();
  // Each convolution with its relu, or each block, is recomputed as one segment; pooling belongs to the preceding one.
  std::size_t at = 0;
  for (std::size_t k = 0; k < pieces_.size(); ++k) {
    const auto piece = [this, from = at, to = pieces_[k]](torch::Tensor y) {
      for (std::size_t layer = from; layer < to; ++layer)
        y = (*(layers_->begin() + static_cast<std::ptrdiff_t>(layer))).any_forward(y).get<torch::Tensor>();
      return y;
    };
    enter(static_cast<int>(k));
    x = again && k + 2 < pieces_.size() ? recomputed(piece, x) : piece(x);
    at = pieces_[k];
  }
  return x.to(real());
}

torch::Tensor ConvNet::labels(const TorchBatch& batch) const {
  torch::Tensor out = torch::empty({batch.size()}, torch::kInt64);
  auto* to = out.data_ptr<std::int64_t>();
  for (const auto& sample : batch.samples()) *to++ = class_of(*sample, params_.target, classes_);
  return out;
}

/// (batch, channels, height, width).
torch::Tensor ConvNet::images(const TorchBatch& batch) const {
  const torch::Tensor given = batch.real(params_.input);
  if (given.numel() != batch.size() * image_[0] * image_[1] * image_[2])
    throw InputError(fmt::format(
        "sample {}: field '{}' has the shape ({}), but the model reads images of {} x {} in {} channel(s), channels "
        "first; "
        "give it images like those it was trained on",
        batch.ids()[0], params_.input, fmt::join(given.sizes().slice(1), ", "), image_[1], image_[2], image_[0]));
  return given.reshape({batch.size(), image_[0], image_[1], image_[2]});
}

std::vector<TorchNetwork::Term> ConvNet::loss(const TorchBatch& batch) {
  namespace F = torch::nn::functional;
  const auto options = F::CrossEntropyFuncOptions().reduction(torch::kSum).label_smoothing(params_.label_smoothing);
  return {{F::cross_entropy(scores(batch), labels(batch), options), static_cast<double>(batch.size())}};
}

std::vector<TorchNetwork::Term> ConvNet::measure(const TorchBatch& batch) {
  namespace F = torch::nn::functional;
  const torch::Tensor y = scores(batch), right = labels(batch);
  const auto n = static_cast<double>(batch.size());
  const torch::Tensor wrong = (y.argmax(1) != right).sum().to(torch::kFloat64);
  return {{wrong, n}, {F::cross_entropy(y, right, F::CrossEntropyFuncOptions().reduction(torch::kSum)), n}};
}

std::vector<torch::Tensor> ConvNet::predict(const TorchBatch& batch) { return {torch::softmax(scores(batch), 1)}; }

void ConvNet::add_classes(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          ClassPredictions& predictions) {
  if (samples.empty()) return;
  const auto p = inferred(*this, samples, weights)[0];
  predictions.probability.insert(predictions.probability.end(), p.begin(), p.end());
  for (const auto& sample : samples) {
    predictions.sample.push_back(sample->id);
    predictions.label.push_back(class_of(*sample, params_.target, classes_));
  }
}

std::string ConvNet::state() const {
  return nlohmann::json{{"normalizer", normalizer_.text()}, {"image", image_}, {"classes", classes_}}.dump();
}

void ConvNet::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  normalizer_ = Normalizer::from(in.at("normalizer"));
  in.at("image").get_to(image_);
  in.at("classes").get_to(classes_);
}

}  // namespace cambium::train
