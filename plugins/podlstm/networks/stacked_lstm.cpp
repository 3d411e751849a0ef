#include "plugins/podlstm/networks/stacked_lstm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::podlstm {

void StackedLstm::Params::describe(deck::Describe<Params>& d) {
  d("genome", &Params::genome,
    "genome of the architecture, 14 integers: for each of five layers its node (0 identity, 1 to 6: 16, 32, 48, 64, "
    "80, 96 cells), then 1 or 0 for each of its skip connections")
      .def({3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  d("cell", &Params::cell, "kind of the recurrent layers")
      .options({{"lstm", Cell::lstm}, {"gru", Cell::gru}})
      .def(Cell::lstm);
  d("head", &Params::head, "last layer: recurrent, as in the paper, or dense over all times")
      .options({{"recurrent", Head::recurrent}, {"dense", Head::dense}})
      .def(Head::recurrent);
  d.check([](const Params& p) -> std::string {
    try {
      GenomeSpace().require(p.genome);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  });
}

StackedLstm::StackedLstm(const Params& params, Context&) : params_(params) {}

StackedLstm::StackedLstm(const Params& params, std::int64_t past, std::int64_t features, std::int64_t future,
                         std::int64_t modes)
    : params_(params) {
  build(past, features, future, modes);
}

void StackedLstm::fit_statistics(train::Dataset& training, Context&) {
  std::vector<std::int64_t> window, target;
  for (const auto& field : training.fields()) {
    if (field.name == "window") window = field.shape;
    if (field.name == "target") target = field.shape;
  }
  if (window.size() != 2 || target.size() != 2)
    throw InputError(
        "stacked_lstm needs the fields 'window' (past, features) and 'target' (future, modes); give a dataset of type "
        "hdf5 that has both");
  build(window[0], window[1], target[0], target[1]);
}

void StackedLstm::add(const std::string& name, std::vector<std::int64_t> shape, bool decay) {
  parameters_.push_back({name, std::move(shape), decay});
}

void StackedLstm::build(std::int64_t past, std::int64_t features, std::int64_t future, std::int64_t modes) {
  past_ = past;
  future_ = future;
  modes_ = modes;
  if (params_.head == Head::recurrent && past != future)
    throw KeyError(
        "stacked_lstm.head", "head",
        fmt::format(
            "head: a recurrent head gives as many times as it reads, but window is {} and horizon {}; use head: dense",
            past, future));
  graph_ = graph_of({}, params_.genome, static_cast<int>(features));
  parameters_.clear();
  first_parameter_.clear();
  const std::int64_t gates = params_.cell == Cell::lstm ? 4 : 3;
  auto recurrent = [&](const std::string& name, std::int64_t in, std::int64_t width) {
    add(name + ".wx", {in, gates * width}, true);
    add(name + ".wh", {width, gates * width}, true);
    add(name + ".b", {4 * width}, false);
  };
  for (std::size_t k = 0; k < graph_.nodes.size(); ++k) {
    const auto& node = graph_.nodes[k];
    first_parameter_.push_back(static_cast<int>(parameters_.size()));
    const std::string name = fmt::format("node{}", k + 1);
    if (node.kind == GraphNode::Kind::recurrent) recurrent(name, graph_.width_of(node.input), node.width);
    for (const auto& skip : node.skips)
      if (skip.projected)
        add(fmt::format("{}.from{}.w", name, skip.value), {graph_.width_of(skip.value), node.width}, true),
            add(fmt::format("{}.from{}.b", name, skip.value), {node.width}, false);
  }
  first_parameter_.push_back(static_cast<int>(parameters_.size()));
  module_.clear();
  int modules = 0;
  for (std::size_t k = 0; k + 1 < first_parameter_.size(); ++k)
    module_.push_back(first_parameter_[k] == first_parameter_[k + 1] ? -1 : modules++);
  module_.push_back(modules);
  const std::int64_t width = graph_.width_of(graph_.output);
  if (params_.head == Head::recurrent) return recurrent("head", width, modes);
  add("head.w", {past, width, future * modes}, true);
  add("head.b", {future * modes}, false);
}

std::vector<int> StackedLstm::modules() const {
  std::vector<int> out;
  for (std::size_t k = 0; k < module_.size(); ++k)
    if (module_[k] >= 0) out.push_back(first_parameter_[k]);
  return out;
}

void StackedLstm::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const auto& info = parameters_[k];
    float* w = static_cast<float*>(weights[k].data);
    const std::int64_t n = weights[k].elements();
    std::fill_n(w, n, 0.0f);
    if (!info.decay) {  // the forget gate is initially open
      if (params_.cell == Cell::lstm && info.name.ends_with(".b") && k >= 2 && parameters_[k - 1].name.ends_with(".wh"))
        std::fill_n(w + n / 4, n / 4, 1.0f);
      continue;
    }
    const double in = static_cast<double>(n / info.shape.back()), out = static_cast<double>(info.shape.back());
    const double reach = std::sqrt(6.0 / (in + out));  // Glorot and Bengio 2010
    for (std::int64_t i = 0; i < n; ++i)
      w[i] =
          static_cast<float>(reach * (2.0 * Random4(seed, Stream::trial_weights, static_cast<std::uint64_t>(i) / 4, k)
                                                .uniform(static_cast<int>(i % 4)) -
                                      1.0));
  }
}

void StackedLstm::gather(std::span<const train::SamplePtr> samples) {
  const std::int64_t batch = std::ssize(samples), f = graph_.features;
  values_.resize(graph_.nodes.size() + 2);
  values_[0].resize(past_ * batch * f);
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto& window = samples[b]->fields.find("window")->second;
    const float* x = static_cast<const float*>(window.data);
    for (std::int64_t t = 0; t < past_; ++t) std::copy_n(x + t * f, f, values_[0].data() + (t * batch + b) * f);
  }
}

double StackedLstm::error_of(std::span<const train::SamplePtr> samples, double weight) {
  const std::int64_t n = output_size();
  slope_.resize(output_.size());
  double sum = 0.0;
  const float factor = static_cast<float>(2.0 * weight / static_cast<double>(n));
  for (std::size_t b = 0; b < samples.size(); ++b) {
    const float* y = static_cast<const float*>(samples[b]->fields.find("target")->second.data);
    const std::size_t row = b * static_cast<std::size_t>(n);
    double square = 0.0;
    for (std::int64_t j = 0; j < n; ++j) {
      const float d = output_[row + static_cast<std::size_t>(j)] - y[j];
      slope_[row + static_cast<std::size_t>(j)] = factor * d;
      square += static_cast<double>(d) * d;
    }
    sum += square / static_cast<double>(n);
  }
  return sum;
}

void StackedLstm::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<const double> term_weights, std::span<const TensorRef> gradients,
                           std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  if (samples.empty()) return;
  gather(samples);
  forward(std::ssize(samples), weights, ready);
  terms[0].sum += error_of(samples, term_weights[0]);
  terms[0].count += static_cast<double>(samples.size());
  backward(std::ssize(samples), weights, gradients, ready);
}

void StackedLstm::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<train::TermSum> metrics) {
  if (samples.empty()) return;
  gather(samples);
  forward(std::ssize(samples), weights);
  metrics[0].sum += error_of(samples, 1.0);
  metrics[0].count += static_cast<double>(samples.size());
}

std::vector<float> StackedLstm::predict(const float* windows, std::int64_t samples,
                                        std::span<const TensorRef> weights) {
  const std::int64_t f = graph_.features;
  values_.resize(graph_.nodes.size() + 2);
  values_[0].resize(past_ * samples * f);
  for (std::int64_t b = 0; b < samples; ++b)
    for (std::int64_t t = 0; t < past_; ++t)
      std::copy_n(windows + (b * past_ + t) * f, f, values_[0].data() + (t * samples + b) * f);
  forward(samples, weights);
  return output_;
}

std::string StackedLstm::state() const {
  return nlohmann::json{{"past", past_}, {"features", graph_.features}, {"future", future_}, {"modes", modes_}}.dump();
}

void StackedLstm::restore(const std::string& state) {
  const auto j = nlohmann::json::parse(state);
  build(j.at("past"), j.at("features"), j.at("future"), j.at("modes"));
}

}  // namespace cambium::podlstm
