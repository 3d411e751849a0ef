#include "my_network.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "core/train/networks/mlp/field.hpp"

namespace cambium::my_network {

using train::SamplePtr;

namespace {

/// Parameter indices.
enum Tensor { centres, log_widths, heights, offset };

double* numbers(std::span<const TensorRef> tensors, Tensor which) { return static_cast<double*>(tensors[which].data); }

std::vector<double> field(const train::Sample& sample, const std::string& name) {
  const auto& tensor = train::field_of(sample, name);
  std::vector<double> out(tensor.elements());
  train::read_numbers(tensor, out.data());
  return out;
}

}  // namespace

struct MyNetwork::Point {
  std::vector<double> x;      ///< scaled
  std::vector<double> basis;  ///< exp(-|x - c_k|^2 / (2 s_k^2))
  double y = 0.0;             ///< scaled
};

void MyNetwork::Params::describe(deck::Describe<Params>& d) {
  d("units", &Params::units, "radial basis functions").at_least(1).def(16);
  d("input", &Params::input, "field that is read").def("input");
  d("target", &Params::target, "field that is predicted, one value").def("target");
}

/// Mean and standard deviation over the first samples; a constant input keeps the scale 1.
void MyNetwork::fit_statistics(train::Dataset& training, Context&) {
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < std::min<std::int64_t>(training.size(), 4096); ++k) ids.push_back(k);
  const auto samples = training.read(ids);
  const double n = static_cast<double>(samples.size());
  std::vector<double> sum, squares;
  for (const auto& sample : samples) {
    auto values = field(*sample, params_.input);
    const auto target = field(*sample, params_.target);
    if (target.size() != 1)
      throw InputError(fmt::format("field '{}' has {} values; my_network predicts one: name another field in 'target'",
                                   params_.target, target.size()));
    values.push_back(target[0]);
    sum.resize(values.size());
    squares.resize(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      sum[k] += values[k] / n;
      squares[k] += values[k] * values[k] / n;
    }
  }
  std::vector<double> scale;
  for (std::size_t k = 0; k < sum.size(); ++k) {
    const double variance = squares[k] - sum[k] * sum[k];
    scale.push_back(variance > 1e-24 * squares[k] ? std::sqrt(variance) : 1.0);
  }
  scaling_.target_mean = sum.back();
  scaling_.target_scale = scale.back();
  sum.pop_back();
  scale.pop_back();
  scaling_.mean = sum;
  scaling_.scale = scale;
  for (const auto& info : training.fields())
    if (info.name == params_.target) scaling_.unit = info.unit;
}

std::vector<train::ParameterInfo> MyNetwork::parameters() const {
  const std::int64_t units = params_.units, inputs = std::ssize(scaling_.mean);
  return {{"centres", {units, inputs}, false},
          {"log_widths", {units}, false},
          {"heights", {units}, true},
          {"offset", {1}, false}};
}

/// Centres and heights are normal deviates, functions of only seed and index: the same on every rank.
void MyNetwork::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const auto normal = [&](Tensor which, double deviation) {
    for (std::int64_t k = 0; k < weights[which].elements(); ++k)
      numbers(weights, which)[k] = deviation * Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k),
                                                       static_cast<std::uint64_t>(which))
                                                   .normal(0);
  };
  normal(centres, 1.0);
  normal(heights, std::sqrt(1.0 / params_.units));
  for (int k = 0; k < params_.units; ++k) numbers(weights, log_widths)[k] = 0.0;
  numbers(weights, offset)[0] = 0.0;
}

MyNetwork::Point MyNetwork::at(const train::Sample& sample, std::span<const TensorRef> weights) const {
  Point point;
  point.x = field(sample, params_.input);
  if (point.x.size() != scaling_.mean.size())
    throw InputError(fmt::format("field '{}' has {} values in sample {}, but {} in the first", params_.input,
                                 point.x.size(), sample.id, scaling_.mean.size()));
  const std::size_t d = point.x.size();
  for (std::size_t i = 0; i < d; ++i) point.x[i] = (point.x[i] - scaling_.mean[i]) / scaling_.scale[i];
  point.y = numbers(weights, offset)[0];
  for (int k = 0; k < params_.units; ++k) {
    double square = 0.0;
    for (std::size_t i = 0; i < d; ++i) square += std::pow(point.x[i] - numbers(weights, centres)[k * d + i], 2);
    point.basis.push_back(std::exp(-0.5 * square * std::exp(-2.0 * numbers(weights, log_widths)[k])));
    point.y += numbers(weights, heights)[k] * point.basis.back();
  }
  return point;
}

double MyNetwork::target_of(const train::Sample& sample) const {
  return (field(sample, params_.target)[0] - scaling_.target_mean) / scaling_.target_scale;
}

void MyNetwork::gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                         std::span<const double> term_weights, std::span<const TensorRef> gradients,
                         std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  const std::size_t d = scaling_.mean.size();
  for (const auto& sample : samples) {
    const Point point = at(*sample, weights);
    const double error = point.y - target_of(*sample), by_y = 2.0 * term_weights[0] * error;
    terms[0].sum += error * error;
    terms[0].count += 1.0;
    numbers(gradients, offset)[0] += by_y;
    for (int k = 0; k < params_.units; ++k) {
      const double by_basis = by_y * numbers(weights, heights)[k] * point.basis[k];
      const double inverse_square = std::exp(-2.0 * numbers(weights, log_widths)[k]);
      double square = 0.0;
      for (std::size_t i = 0; i < d; ++i) {
        const double away = point.x[i] - numbers(weights, centres)[k * d + i];
        numbers(gradients, centres)[k * d + i] += by_basis * away * inverse_square;
        square += away * away;
      }
      numbers(gradients, log_widths)[k] += by_basis * square * inverse_square;
      numbers(gradients, heights)[k] += by_y * point.basis[k];
    }
  }
  for (int k = offset; k >= centres; --k) ready(k);
}

void MyNetwork::evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                         std::span<train::TermSum> metrics) {
  for (const auto& sample : samples) {
    const double error = scaling_.target_scale * (at(*sample, weights).y - target_of(*sample));
    metrics[0].sum += error * error;
    metrics[0].count += 1.0;
  }
}

void MyNetwork::infer(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                      std::span<const TensorRef> outputs) {
  for (std::size_t s = 0; s < samples.size(); ++s)
    static_cast<double*>(outputs[0].data)[static_cast<std::int64_t>(s) * outputs[0].stride[0]] =
        scaling_.target_mean + scaling_.target_scale * at(*samples[s], weights).y;
}

std::string MyNetwork::state() const {
  return nlohmann::json{{"mean", scaling_.mean},
                        {"scale", scaling_.scale},
                        {"target_mean", scaling_.target_mean},
                        {"target_scale", scaling_.target_scale},
                        {"unit", scaling_.unit}}
      .dump();
}

void MyNetwork::restore(const std::string& state) {
  const auto json = nlohmann::json::parse(state);
  json.at("mean").get_to(scaling_.mean);
  json.at("scale").get_to(scaling_.scale);
  json.at("target_mean").get_to(scaling_.target_mean);
  json.at("target_scale").get_to(scaling_.target_scale);
  json.at("unit").get_to(scaling_.unit);
}

}  // namespace cambium::my_network
