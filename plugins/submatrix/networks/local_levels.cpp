#include "plugins/submatrix/networks/local_levels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "core/train/networks/mlp/mlp_layers.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

using train::SamplePtr;

void LocalLevels::Params::describe(deck::Describe<Params>& d) {
  d("layers", &Params::layers, "widths of the hidden layers").example("[32, 32]");
  d.check([](const Params& p) -> std::string {
    for (auto width : p.layers)
      if (width < 1) return fmt::format("layers: a width of {} is none; widths are 1 or more", width);
    return {};
  });
}

static std::vector<double> numbers_of(const train::Sample& sample, const char* field) {
  const auto& tensor = train::field_of(sample, field);
  std::vector<double> out(tensor.elements());
  train::read_numbers(tensor, out.data());
  return out;
}

namespace {

/// Mean and standard deviation of values that come in rows.
struct Statistics {
  std::vector<double> sum, square;
  double rows = 0.0;
  explicit Statistics(std::size_t width) : sum(width, 0.0), square(width, 0.0) {}
  void add(std::span<const double> values) {
    for (std::size_t k = 0; k < values.size(); ++k) sum[k % sum.size()] += values[k];
    rows += static_cast<double>(values.size() / sum.size());
  }
  void add_squares(std::span<const double> values) {
    for (std::size_t k = 0; k < values.size(); ++k)
      square[k % sum.size()] += std::pow(values[k] - mean(k % sum.size()), 2);
  }
  double mean(std::size_t k) const { return sum[k] / rows; }
  double scale(std::size_t k) const {
    const double deviation = std::sqrt(square[k] / rows);
    return deviation > 1e-12 * (1.0 + std::abs(mean(k))) ? deviation : 1.0;
  }
};

}  // namespace

void LocalLevels::fit_statistics(train::Dataset& training, Context&) {
  std::vector<std::int64_t> ids(training.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto samples = training.read(ids);
  const auto& shape = train::field_of(*samples.front(), "moments").shape;
  const auto window = numbers_of(*samples.front(), "window");
  window_ = {window[0], window[1]};
  functions_ = static_cast<int>(numbers_of(*samples.front(), "functions")[0]);
  Statistics moments(static_cast<std::size_t>(shape[1])), energy(1), levels(2);
  for (int pass = 0; pass < 2; ++pass)
    for (const auto& s : samples) {
      const auto add = [&](Statistics& to, const char* field) {
        pass == 0 ? to.add(numbers_of(*s, field)) : to.add_squares(numbers_of(*s, field));
      };
      add(moments, "moments");
      add(energy, "band_energy");
      add(levels, "levels");
    }
  moment_mean_.clear();
  moment_scale_.clear();
  for (std::size_t k = 0; k < moments.sum.size(); ++k) {
    moment_mean_.push_back(moments.mean(k));
    moment_scale_.push_back(moments.scale(k));
  }
  mean_ = {energy.mean(0), levels.mean(0), levels.mean(1)};
  scale_ = {energy.scale(0), levels.scale(0), levels.scale(1)};
}

std::vector<std::int64_t> LocalLevels::widths() const {
  std::vector<std::int64_t> out{moments()};
  out.insert(out.end(), params_.layers.begin(), params_.layers.end());
  out.push_back(3);
  return out;
}

std::vector<train::ParameterInfo> LocalLevels::parameters() const { return train::mlp_parameters(widths()); }

void LocalLevels::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  train::initialise_mlp<double>(weights, widths(), seed);
}

std::vector<double> LocalLevels::scaled(std::span<const double> moments) const {
  std::vector<double> out(moments.begin(), moments.end());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = (out[k] - moment_mean_[k % moment_mean_.size()]) / moment_scale_[k % moment_mean_.size()];
  return out;
}

void LocalLevels::add_inputs(const train::Sample& sample, std::vector<double>& out) const {
  const auto& tensor = train::field_of(sample, "moments");
  const auto window = numbers_of(sample, "window");
  if (tensor.shape[1] != moments() || numbers_of(sample, "functions")[0] != functions_ || window[0] != window_.low ||
      window[1] != window_.high)
    throw InputError(
        fmt::format("sample {} has {} moments in the window {:.6g} to {:.6g} hartree, the model was trained on {} in "
                    "{:.6g} to {:.6g}; let one stage local_spectra write both sets, or give it the window",
                    sample.id, tensor.shape[1], window[0], window[1], moments(), window_.low, window_.high));
  const auto rows = scaled(numbers_of(sample, "moments"));
  out.insert(out.end(), rows.begin(), rows.end());
}

std::vector<train::TermInfo> LocalLevels::terms() const {
  return {{"band_energy", "", train::TermInfo::Report::root_mean}, {"levels", "", train::TermInfo::Report::root_mean}};
}

std::vector<train::TermInfo> LocalLevels::metrics() const {
  std::vector<train::TermInfo> out;
  for (const char* name : {"band_energy", "homo", "lumo", "mu"})
    out.push_back({name, "eV", train::TermInfo::Report::root_mean});
  return out;
}

/// Scaled targets of a sample's outputs.
struct LocalLevels::Target {
  std::vector<double> energy;
  double level[2];
  Target(const train::Sample& sample, const LocalLevels& of) : energy(numbers_of(sample, "band_energy")) {
    for (double& e : energy) e = (e - of.mean_[0]) / of.scale_[0];
    const auto levels = numbers_of(sample, "levels");
    for (std::size_t k = 0; k < 2; ++k) level[k] = (levels[k] - of.mean_[k + 1]) / of.scale_[k + 1];
  }
};

void LocalLevels::gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<const double> term_weights, std::span<const TensorRef> gradients,
                           std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  if (samples.empty()) return;
  const auto w = widths();
  train::MlpLayers<double> layers(w, train::Mlp::Activation::tanh, false, weights);
  std::vector<double> inputs;
  for (const auto& sample : samples) add_inputs(*sample, inputs);
  const auto rows = static_cast<int>(inputs.size()) / moments();
  const auto& outputs = layers.forward(std::move(inputs), rows);
  std::vector<double> by_output(outputs.size());
  std::size_t first = 0;
  for (const auto& sample : samples) {
    const Target target(*sample, *this);
    const double columns = static_cast<double>(target.energy.size());
    double level[2] = {}, sum = 0.0;
    for (std::size_t c = 0; c < target.energy.size(); ++c) {
      const double error = outputs[3 * (first + c)] - target.energy[c];
      sum += error * error / columns;
      by_output[3 * (first + c)] = 2.0 * term_weights[0] * error / columns;
      for (std::size_t k = 0; k < 2; ++k) level[k] += outputs[3 * (first + c) + 1 + k] / columns;
    }
    terms[0].sum += sum;
    terms[0].count += 1.0;
    for (std::size_t k = 0; k < 2; ++k) {
      const double error = level[k] - target.level[k];
      terms[1].sum += error * error;
      for (std::size_t c = 0; c < target.energy.size(); ++c)
        by_output[3 * (first + c) + 1 + k] = 2.0 * term_weights[1] * error / columns;
    }
    terms[1].count += 1.0;
    first += target.energy.size();
  }
  layers.backward(std::move(by_output), gradients, ready);
}

std::vector<double> LocalLevels::predict(const std::vector<double>& moments, std::span<const TensorRef> weights,
                                         double levels[2]) const {
  const auto w = widths();
  train::MlpLayers<double> layers(w, train::Mlp::Activation::tanh, false, weights);
  const std::size_t rows = moments.size() / moment_mean_.size();
  std::vector<double> energy(rows);
  if (rows == 0) return energy;
  const auto& outputs = layers.forward(scaled(moments), static_cast<int>(rows));
  for (std::size_t c = 0; c < rows; ++c) {
    energy[c] = mean_[0] + scale_[0] * outputs[3 * c];
    for (std::size_t k = 0; k < 2; ++k) levels[k] += mean_[k + 1] + scale_[k + 1] * outputs[3 * c + 1 + k];
  }
  return energy;
}

void LocalLevels::evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<train::TermSum> metrics) {
  const double unit = ev_per_hartree * ev_per_hartree;
  for (const auto& sample : samples) {
    std::vector<double> checked;
    add_inputs(*sample, checked);  // refuses what the model does not know
    double levels[2] = {};
    const auto energy = predict(numbers_of(*sample, "moments"), weights, levels),
               wanted = numbers_of(*sample, "band_energy"), both = numbers_of(*sample, "levels");
    const double columns = static_cast<double>(wanted.size());
    for (std::size_t c = 0; c < wanted.size(); ++c)
      metrics[0].sum += unit * (energy[c] - wanted[c]) * (energy[c] - wanted[c]);
    metrics[0].count += columns;
    const double errors[2] = {levels[0] / columns - both[0], levels[1] / columns - both[1]};
    for (std::size_t k = 0; k < 2; ++k) metrics[k + 1].sum += unit * errors[k] * errors[k];
    metrics[3].sum += unit * 0.25 * (errors[0] + errors[1]) * (errors[0] + errors[1]);
    for (std::size_t k = 1; k < 4; ++k) metrics[k].count += 1.0;
  }
}

std::string LocalLevels::state() const {
  return nlohmann::json{
      {"window", {window_.low, window_.high}}, {"functions", functions_}, {"moment_mean", moment_mean_},
      {"moment_scale", moment_scale_},         {"mean", mean_},           {"scale", scale_}}
      .dump();
}

void LocalLevels::restore(const std::string& state) {
  const auto json = nlohmann::json::parse(state);
  window_ = {json.at("window")[0].get<double>(), json.at("window")[1].get<double>()};
  json.at("functions").get_to(functions_);
  json.at("moment_mean").get_to(moment_mean_);
  json.at("moment_scale").get_to(moment_scale_);
  json.at("mean").get_to(mean_);
  json.at("scale").get_to(scale_);
}

}  // namespace cambium::submatrix
