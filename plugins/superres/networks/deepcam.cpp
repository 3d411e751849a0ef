#include "plugins/superres/networks/deepcam.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "plugins/superres/datasets/mirrors.hpp"
#include "plugins/superres/datasets/overlap.hpp"

namespace cambium::superres {

using torch::Tensor;

void Deepcam::DeepLab::describe(deck::Describe<DeepLab>& d) {
  d("stem", &DeepLab::stem, "channels of the first convolutions; the first halves the resolution").def({32, 64});
  d("entry", &DeepLab::entry, "channels of the blocks that halve it").def({128, 256, 728});
  d("middle", &DeepLab::middle, "number of middle-flow blocks").at_least(0).def(16);
  d("exit", &DeepLab::exit, "channels of the last block and of the convolutions after it (exit flow)")
      .def({1024, 1536, 1536, 2048});
  d("atrous_rates", &DeepLab::rates, "dilation rates of the convolutions of the spatial pyramid (ASPP)")
      .formerly("rates")
      .def({6, 12, 18});
  d("aspp_channels", &DeepLab::pyramid, "channels of the spatial pyramid (ASPP) and of the decoder")
      .formerly("pyramid")
      .at_least(1)
      .def(256);
  d("low_level_channels", &DeepLab::low, "channels that the decoder takes from the first block")
      .formerly("low")
      .at_least(1)
      .def(48);
  d.check([](const DeepLab& p) -> std::string {
    if (p.stem.empty() || p.entry.empty() || p.exit.empty()) return "stem, entry and exit need an entry each";
    for (const auto* list : {&p.stem, &p.entry, &p.exit, &p.rates})
      for (const auto n : *list)
        if (n < 1) return fmt::format("{} is neither a number of channels nor a dilation rate; give 1 or more", n);
    return {};
  });
}

void Deepcam::Params::describe(deck::Describe<Params>& d) {
  d("topology", &Params::topology, "encoder_decoder is small; deeplabv3plus is the published one, with its own keys")
      .options({{"encoder_decoder", Topology::encoder_decoder}, {"deeplabv3plus", Topology::deeplabv3plus}})
      .def(Topology::encoder_decoder);
  d("base_channels", &Params::features, "channels of the encoder's first level; they double with every level")
      .formerly("features")
      .at_least(1)
      .def(16);
  d("levels", &Params::levels, "halvings of the encoder").range(0, 8).def(3);
  d("deeplab", &Params::deeplab, "widths of deeplabv3plus; the published ones where left out");
  d("inputs", &Params::inputs, "input fields, of p, b, u, w").def({"b"});
  d("class_power", &Params::class_power, "exponent of the class frequency in the class weights of the loss")
      .def(-0.125);
  d("augment", &Params::mirror, "move and mirror each image at random in every step of training")
      .formerly("mirror")
      .def(true);
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d.check([](const Params& p) { return p.inputs.empty() ? "inputs: name at least one field" : ""; });
}

void Deepcam::fit_statistics(train::Dataset& training, Context&) {
  const auto fields = training.fields();
  const auto shape_of = [&](const std::string& name) {
    for (const auto& field : fields)
      if (field.name == name && field.shape.size() == 2) return field.shape;
    throw InputError(
        fmt::format("deepcam reads images (nx, nz) and their classes; the data have no field '{}' of that "
                    "form, use a data set plumes whose 'fields' name it",
                    name));
  };
  nx_ = shape_of("classes")[0];
  nz_ = shape_of("classes")[1];
  for (const auto& name : params_.inputs) shape_of(name);
  if (const std::int64_t unit = std::int64_t{1} << params_.levels;
      params_.topology == Topology::encoder_decoder && (nx_ % unit != 0 || nz_ % unit != 0))
    throw KeyError("deepcam.levels", "levels",
                   fmt::format("{} levels halve images of {} x {} points to no whole number; take fewer levels",
                               params_.levels, nx_, nz_));
  std::vector<double> sum(params_.inputs.size(), 0.0), square = sum, count(plume_classes, 0.0);
  for (std::int64_t id = 0; id < training.size(); ++id) {
    const auto sample = training.read(std::vector<std::int64_t>{id});
    const train::TorchBatch batch(sample, torch::kFloat64);
    if (id == 0) wraps_ = batch.real("wraps").item<double>() != 0.0;
    for (std::size_t f = 0; f < sum.size(); ++f) {
      const Tensor x = batch.real(params_.inputs[f]);
      sum[f] += x.mean().item<double>();
      square[f] += (x * x).mean().item<double>();
    }
    const Tensor classes = batch.integers("classes");
    for (std::int64_t c = 0; c < plume_classes; ++c) count[c] += (classes == c).sum().item<double>();
  }
  const auto n = static_cast<double>(training.size());
  mean_.clear();
  deviation_.clear();
  class_weights_.clear();
  shares_.clear();
  for (std::size_t f = 0; f < sum.size(); ++f) {
    mean_.push_back(sum[f] / n);
    const double variance = square[f] / n - mean_[f] * mean_[f];
    deviation_.push_back(variance > 0.0 ? std::sqrt(variance) : 1.0);
  }
  for (const double c : count) {  // a class missing from the data counts as one point
    shares_.push_back(std::max(c, 1.0) / (n * static_cast<double>(nx_ * nz_)));
    class_weights_.push_back(std::pow(shares_.back(), params_.class_power));
  }
}

std::shared_ptr<torch::nn::Module> Deepcam::build() {
  const auto fields = std::ssize(params_.inputs);
  const auto& p = params_.deeplab;
  if (params_.topology == Topology::encoder_decoder)
    segmentation_ = encoder_decoder({fields, plume_classes, params_.features, params_.levels, wraps_});
  else
    segmentation_ =
        deep_lab({fields, plume_classes, p.stem, p.entry, p.exit, p.rates, p.middle, p.pyramid, p.low, wraps_});
  return segmentation_;
}

void Deepcam::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                      std::uint64_t seed) const {
  if (info.name != "answer.bias") return TorchNetwork::initial(info, index, weights, seed);
  for (std::size_t c = 0; c < shares_.size(); ++c) {
    const double bias = std::log(shares_[c]);
    if (weights.dtype == DType::f64)
      static_cast<double*>(weights.data)[c] = bias;
    else
      static_cast<float*>(weights.data)[c] = static_cast<float>(bias);
  }
}

/// (batch, inputs, nx, nz), with mean 0 and standard deviation 1 over the training data.
Tensor Deepcam::images(const train::TorchBatch& batch) const {
  std::vector<Tensor> out;
  for (std::size_t f = 0; f < params_.inputs.size(); ++f)
    out.push_back((batch.real(params_.inputs[f]) - mean_[f]) / deviation_[f]);
  return torch::stack(out, 1);
}

void Deepcam::mirror(Tensor& images, Tensor& classes, const train::TorchBatch& batch) const {
  const auto ids = batch.ids();
  std::vector<Tensor> seen, right;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const Mirror m = mirror_of(seed_, ids[b], step_, nx_);
    Tensor x = images[b].clone(), y = classes[b];
    for (std::size_t f = 0; f < params_.inputs.size(); ++f) {
      const auto& name = params_.inputs[f];
      const bool odd = (m.x && name == "u") != (m.z && (name == "b" || name == "w"));
      // Negating an odd field also negates its mean.
      if (odd) x.select(0, static_cast<std::int64_t>(f)).neg_().sub_(2.0 * mean_[f] / deviation_[f]);
    }
    if (m.x) {
      x = x.flip({1});
      y = y.flip({0});
    }
    if (m.z) {
      x = x.flip({2});
      y = y.flip({1});
      y = torch::where(y == 0, y, plume_classes - y);
    }
    if (wraps_) {
      x = x.roll(m.moved, 1);
      y = y.roll(m.moved, 0);
    }
    seen.push_back(x);
    right.push_back(y);
  }
  images = torch::stack(seen);
  classes = torch::stack(right);
}

/// Sum over the images of the weighted mean over their points.
Tensor Deepcam::entropy(const Tensor& scores, const Tensor& classes) const {
  const Tensor weights = torch::tensor(class_weights_, torch::kFloat64).to(scores.dtype());
  const Tensor own = torch::log_softmax(scores, 1).gather(1, classes.unsqueeze(1)).squeeze(1);
  return -(own * weights.index_select(0, classes.flatten()).view_as(own)).mean({1, 2}).sum();
}

std::vector<train::TorchNetwork::Term> Deepcam::loss(const train::TorchBatch& batch) {
  Tensor x = images(batch), classes = batch.integers("classes");
  if (params_.mirror) mirror(x, classes, batch);
  return {{entropy(segmentation_->forward(x), classes), static_cast<double>(batch.size())}};
}

std::vector<train::TorchNetwork::Term> Deepcam::measure(const train::TorchBatch& batch) {
  const Tensor scores = segmentation_->forward(images(batch)), classes = batch.integers("classes");
  const Tensor found = scores.argmax(1).to(torch::kUInt8).contiguous(), truth = classes.to(torch::kUInt8).contiguous();
  const auto points = static_cast<std::size_t>(nx_ * nz_);
  double overlap = 0.0;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto from = static_cast<std::size_t>(b) * points;
    overlap +=
        mean_overlap({found.data_ptr<std::uint8_t>() + from, points}, {truth.data_ptr<std::uint8_t>() + from, points});
  }
  const auto n = static_cast<double>(batch.size());
  return {{torch::tensor(overlap, torch::kFloat64), n}, {entropy(scores, classes), n}};
}

std::vector<Tensor> Deepcam::predict(const train::TorchBatch& batch) {
  return {segmentation_->forward(images(batch)).argmax(1)};
}

std::vector<Citation> Deepcam::citations() const {
  std::vector<Citation> out{
      {"kurth2018",
       R"(@inproceedings{kurth2018, author={Kurth, T. and others}, title={Exascale deep learning for climate analytics}, booktitle={SC18}, year={2018}})"}};
  if (params_.topology == Topology::encoder_decoder)
    out.push_back(
        {"ronneberger2015",
         R"(@inproceedings{ronneberger2015, author={Ronneberger, O. and Fischer, P. and Brox, T.}, title={U-Net: convolutional networks for biomedical image segmentation}, booktitle={MICCAI}, year={2015}})"});
  else
    out.push_back(
        {"chen2018",
         R"(@inproceedings{chen2018, author={Chen, L.-C. and others}, title={Encoder-decoder with atrous separable convolution for semantic image segmentation}, booktitle={ECCV}, year={2018}})"});
  return out;
}

std::string Deepcam::state() const {
  return nlohmann::json{{"nx", nx_},
                        {"nz", nz_},
                        {"wraps", wraps_},
                        {"mean", mean_},
                        {"deviation", deviation_},
                        {"class_weights", class_weights_},
                        {"shares", shares_}}
      .dump();
}

void Deepcam::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  in.at("nx").get_to(nx_);
  in.at("nz").get_to(nz_);
  in.at("wraps").get_to(wraps_);
  in.at("mean").get_to(mean_);
  in.at("deviation").get_to(deviation_);
  in.at("class_weights").get_to(class_weights_);
  in.at("shares").get_to(shares_);
}

}  // namespace cambium::superres
