#include "plugins/podlstm/networks/stacked_lstm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"
#include "core/train/networks/mlp/field.hpp"

namespace cambium::podlstm {

/// Widths belong to the layers that have cells.
static std::string widths_problem(const GenomeSpace& space, const Genome& genome,
                                  std::span<const std::int64_t> widths) {
  if (!widths.empty() && std::ssize(widths) != space.layers)
    return fmt::format("widths: {} values for {} layers; give one for each, 0 for that of the genome", widths.size(),
                       space.layers);
  for (std::size_t l = 0; l < widths.size(); ++l) {
    if (widths[l] < 0 || widths[l] > 65536)
      return fmt::format("widths: {} cells in layer {}; give 0 to 65536", widths[l], l + 1);
    if (widths[l] > 0 && space.widths[genome[l == 0 ? 0 : 3 * l - 1]] == 0)
      return fmt::format("widths: layer {} has no cells in the genome; give 0 for it", l + 1);
  }
  return {};
}

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
  d("widths", &Params::widths,
    "number of cells of each of the five layers, for widths that the genome does not offer; 0: that of the genome; "
    "empty: all are those of the genome")
      .def({});
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations, in order: the matrices of input and state of each recurrent layer, "
    "projections of its skip connections, head; 0 for a full matrix. A stage compress determines them")
      .def({});
  d.check([](const Params& p) -> std::string {
    const GenomeSpace space;
    try {
      space.require(p.genome);
    } catch (const InputError& error) {
      return error.what();
    }
    if (const std::string problem = widths_problem(space, p.genome, p.widths); !problem.empty()) return problem;
    return train::ranks_problem(p.ranks, std::nullopt);
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
  std::string unit;
  for (const auto& field : training.fields()) {
    if (field.name == "window") window = field.shape;
    if (field.name == "target") target = field.shape, unit = field.unit;
  }
  if (window.size() != 2 || target.size() != 2)
    throw InputError(
        "stacked_lstm needs the fields 'window' (past, features) and 'target' (future, modes); give a dataset of type "
        "hdf5 that has both");
  build(window[0], window[1], target[0], target[1]);
  scaling_ = mode_scaling_of(training);
  if (!scaled()) scaling_.unit = unit;
}

void StackedLstm::add(const std::string& name, std::vector<std::int64_t> shape, bool decay) {
  parameters_.push_back({name, std::move(shape), decay});
}

/// The last extent is the number of outputs, the others are inputs.
void StackedLstm::add_matrix(const std::string& name, std::vector<std::int64_t> shape, std::int64_t places) {
  train::FactorLayer layer;
  layer.name = name;
  layer.outputs = shape.back();
  layer.inputs = 1;
  for (std::size_t k = 0; k + 1 < shape.size(); ++k) layer.inputs *= shape[k];
  layer.places = places;
  layer.outputs_first = false;
  layer.rank = layers_.size() < params_.ranks.size() ? params_.ranks[layers_.size()] : 0;
  const int next = static_cast<int>(parameters_.size());
  if (layer.rank == 0) {
    layer.core = next;
    add(name, std::move(shape), true);
  } else {
    layer.enter = next;
    layer.leave = next + 1;
    add(name + ".enter", {layer.inputs, layer.rank}, true);
    add(name + ".leave", {layer.rank, layer.outputs}, true);
  }
  layers_.push_back(layer);
}

void StackedLstm::add_cell(const std::string& name, std::int64_t in, std::int64_t width) {
  const std::int64_t gates = params_.cell == Cell::lstm ? 4 : 3;
  add_matrix(name + ".wx", {in, gates * width}, past_);
  add_matrix(name + ".wh", {width, gates * width}, std::max<std::int64_t>(past_ - 1, 1));  // the first state is zero
  add(name + ".b", {4 * width}, false);
  layers_[layers_.size() - 2].bias = static_cast<int>(parameters_.size()) - 1;
}

void StackedLstm::add_head(std::int64_t width) {
  if (params_.head == Head::recurrent) return add_cell("head", width, modes_);
  add_matrix("head.w", {past_, width, future_ * modes_}, 1);
  add("head.b", {future_ * modes_}, false);
  layers_.back().bias = static_cast<int>(parameters_.size()) - 1;
}

std::vector<train::HasFactors::WidthKey> StackedLstm::width_keys() const {
  std::vector<std::int64_t> widths;
  const GenomeSpace space;
  for (std::size_t l = 0; l < static_cast<std::size_t>(space.layers); ++l) {
    const int own = space.widths[params_.genome[l == 0 ? 0 : 3 * l - 1]];
    widths.push_back(l < params_.widths.size() && params_.widths[l] > 0 ? params_.widths[l] : own);
  }
  return {{"widths", 1, widths}};
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
  graph_ = graph_of({}, params_.genome, static_cast<int>(features), params_.widths);
  parameters_.clear();
  first_parameter_.clear();
  layers_.clear();
  first_layer_.clear();
  for (std::size_t k = 0; k < graph_.nodes.size(); ++k) {
    const auto& node = graph_.nodes[k];
    first_parameter_.push_back(static_cast<int>(parameters_.size()));
    first_layer_.push_back(layers_.size());
    const std::string name = fmt::format("node{}", k + 1);
    if (node.kind == GraphNode::Kind::recurrent) add_cell(name, graph_.width_of(node.input), node.width);
    for (const auto& skip : node.skips) {
      if (!skip.projected) continue;
      const std::string from = fmt::format("{}.from{}", name, skip.value);
      add_matrix(from + ".w", {graph_.width_of(skip.value), node.width}, past_);
      add(from + ".b", {node.width}, false);
      layers_.back().bias = static_cast<int>(parameters_.size()) - 1;
    }
  }
  first_parameter_.push_back(static_cast<int>(parameters_.size()));
  first_layer_.push_back(layers_.size());
  add_head(graph_.width_of(graph_.output));
  if (const auto wrong = train::ranks_problem(params_.ranks, layers_.size()); !wrong.empty())
    throw KeyError("stacked_lstm.factor_ranks", "factor_ranks", wrong);
  module_.clear();
  int modules = 0;
  for (std::size_t k = 0; k + 1 < first_parameter_.size(); ++k)
    module_.push_back(first_parameter_[k] == first_parameter_[k + 1] ? -1 : modules++);
  module_.push_back(modules);
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
      const bool gates =
          k >= 2 && (parameters_[k - 1].name.ends_with(".wh") || parameters_[k - 1].name.ends_with(".wh.leave"));
      if (params_.cell == Cell::lstm && info.name.ends_with(".b") && gates) std::fill_n(w + n / 4, n / 4, 1.0f);
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
  std::vector<float> window(static_cast<std::size_t>(past_ * f));
  for (std::int64_t b = 0; b < batch; ++b) {
    train::read_field<float>(*samples[b], "window", window);
    for (std::int64_t t = 0; t < past_; ++t)
      std::copy_n(window.data() + t * f, f, values_[0].data() + (t * batch + b) * f);
  }
}

double StackedLstm::error_of(std::span<const train::SamplePtr> samples, double weight) {
  const std::int64_t n = output_size();
  slope_.resize(output_.size());
  std::vector<float> y(static_cast<std::size_t>(n));
  double sum = 0.0;
  const float factor = static_cast<float>(2.0 * weight / static_cast<double>(n));
  for (std::size_t b = 0; b < samples.size(); ++b) {
    train::read_field<float>(*samples[b], "target", y);
    const std::size_t row = b * static_cast<std::size_t>(n);
    double square = 0.0;
    for (std::int64_t j = 0; j < n; ++j) {
      const float d = output_[row + static_cast<std::size_t>(j)] - y[static_cast<std::size_t>(j)];
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
  nlohmann::json out = {
      {"past", past_}, {"features", graph_.features}, {"future", future_}, {"modes", modes_}, {"unit", scaling_.unit}};
  if (scaled()) out.update({{"low", scaling_.low}, {"width", scaling_.width}});
  return out.dump();
}

/// Former versions did not write unit and scaling: their networks read windows as they were trained on.
void StackedLstm::restore(const std::string& state) {
  const auto j = nlohmann::json::parse(state);
  build(j.at("past"), j.at("features"), j.at("future"), j.at("modes"));
  const auto modes = [&](const char* name) { return j.value(name, std::vector<double>{}); };
  scaling_ = {modes("low"), modes("width"), j.value("unit", std::string())};
  const auto wrong = [&](const std::vector<double>& values) { return std::ssize(values) != modes_; };
  if (scaling_.low.size() != scaling_.width.size() || (scaled() && (wrong(scaling_.low) || graph_.features != modes_)))
    throw InputError(
        fmt::format("stacked_lstm: the model file scales {} and {} modes, but its network has {}; it was changed "
                    "afterwards",
                    scaling_.low.size(), scaling_.width.size(), modes_));
}

}  // namespace cambium::podlstm
