#include "plugins/pretrain/networks/scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/train/data/numbers.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"

namespace cambium::pretrain {

double Scales::Parameter::operator()(double value) const {
  return ((logarithm ? std::log10(std::max(value, 1e-300)) : value) - mean) / deviation;
}

namespace {

Scales::Parameter parameter_scale(std::vector<double> values) {
  Scales::Parameter out;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  out.logarithm = *low > 0.0 && *high > 10.0 * *low;
  double sum = 0.0, squares = 0.0;
  for (double& value : values) {
    if (out.logarithm) value = std::log10(value);
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(values.size());
  out.mean = sum / n;
  const double variance = squares / n - out.mean * out.mean;
  out.deviation = variance > 1e-12 * squares / n && variance > 0.0 ? std::sqrt(variance) : 1.0;
  return out;
}

/// Adds each channel's values, minus a mean, raised to the given power.
void add_field(const train::Sample& sample, const FieldShape& shape, const std::vector<double>& mean, int power,
               std::vector<double>& sum) {
  const auto numbers = numbers_of(sample, "field", shape);
  const auto cells = numbers.size() / static_cast<std::size_t>(shape.channels);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const double x = static_cast<double>(numbers[k]) - mean[k / cells];
    sum[k / cells] += power == 1 ? x : x * x;
  }
}

/// In the field's own unit, however small; for a channel that is constant to rounding, the absolute mean, or 1.
double deviation_of(double squares, double mean) {
  constexpr double rounding = 1e-7;  // of single precision
  const double found = std::sqrt(squares);
  if (found > rounding * std::abs(mean)) return found;
  return mean == 0.0 ? 1.0 : std::abs(mean);
}

}  // namespace

std::span<const float> numbers_of(const train::Sample& sample, const std::string& field, const FieldShape& shape) {
  const auto found = sample.fields.find(field);
  if (found == sample.fields.end())
    throw InputError(
        fmt::format("sample {} has no '{}': an encoder of pairs needs it; give the data set 'pair_offset' "
                    "(field_archive) or 'split_halves' "
                    "(images)",
                    sample.id, field));
  const auto& values = found->second;
  bool same = values.dtype == DType::f32 && values.rank == 1 + static_cast<int>(shape.cells.size()) &&
              values.shape[0] == shape.channels;
  for (int a = 1; same && a < values.rank; ++a) same = values.shape[a] == shape.cells[static_cast<std::size_t>(a) - 1];
  if (!same) {
    std::string here, wanted = std::to_string(shape.channels);
    for (int a = 0; a < values.rank; ++a) here += (a ? " x " : "") + std::to_string(values.shape[a]);
    for (const auto n : shape.cells) wanted += " x " + std::to_string(n);
    throw InputError(
        fmt::format("the encoder reads fields of {} values, sample {} has {} of {}", wanted, sample.id, here, field));
  }
  return {static_cast<const float*>(values.data), static_cast<std::size_t>(values.elements())};
}

Scales Scales::of(train::Dataset& data) {
  Scales out;
  for (const auto& field : data.fields())
    if (field.name == "field" && (field.shape.size() == 3 || field.shape.size() == 4)) {
      out.shape.channels = field.shape[0];
      out.shape.cells.assign(field.shape.begin() + 1, field.shape.end());
    }
  if (out.shape.cells.empty())
    throw InputError(
        "field_encoder reads fields over two or three axes: give a dataset of type field_archive or images");
  const std::int64_t count = std::min<std::int64_t>(1024, data.size());
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < count; ++k) ids.push_back(data.size() * k / count);
  const auto channels = static_cast<std::size_t>(out.shape.channels);
  std::vector<double> sum(channels, 0.0), squares(channels, 0.0);
  const std::vector<double> none(channels, 0.0);
  std::vector<std::vector<double>> parameters;
  const auto samples = data.read(ids);
  for (const auto& sample : samples) {
    add_field(*sample, out.shape, none, 1, sum);
    const auto known = sample->fields.find("parameters");
    if (known == sample->fields.end()) continue;
    std::vector<double> values(known->second.elements());
    train::copy_numbers<double>(known->second, std::span(values));
    parameters.resize(values.size());
    for (std::size_t p = 0; p < values.size(); ++p) parameters[p].push_back(values[p]);
  }
  const auto& periodic = samples.front()->fields.at("periodic");
  out.shape.periodic.resize(out.shape.cells.size());
  train::copy_numbers<std::int64_t>(periodic, std::span(out.shape.periodic));
  const double n =
      static_cast<double>(samples.size()) * static_cast<double>(out.shape.numbers()) / static_cast<double>(channels);
  for (std::size_t c = 0; c < channels; ++c) out.mean.push_back(sum[c] / n);
  for (const auto& sample : samples) add_field(*sample, out.shape, out.mean, 2, squares);
  for (std::size_t c = 0; c < channels; ++c) out.deviation.push_back(deviation_of(squares[c] / n, out.mean[c]));
  for (auto& values : parameters) out.parameters.push_back(parameter_scale(std::move(values)));
  if (const auto* archive = dynamic_cast<const FieldArchive*>(&data)) {
    out.channel_names = archive->channel_names();
    out.parameter_names = archive->parameter_names();
  }
  return out;
}

void Scales::require_channels(const train::Dataset& data, const std::string& model) const {
  const auto* archive = dynamic_cast<const FieldArchive*>(&data);
  if (!archive) return;
  const auto& names = archive->channel_names();
  if (names.size() < 2 || channel_names.size() != names.size() || names == channel_names) return;
  throw InputError(
      fmt::format("model: '{}' reads the fields {} in this order, but the data set has {}; give it the same 'fields'",
                  model, join(channel_names), join(names)));
}

void Scales::require_parameters(const std::vector<std::string>& names, const std::string& model) const {
  if (names.size() != parameter_names.size() || names == parameter_names) return;
  throw InputError(fmt::format("model: '{}' reads the parameters {}, but {} are given; give the same names", model,
                               join(parameter_names), join(names)));
}

std::string Scales::text() const {
  auto list = nlohmann::json::array();
  for (const auto& p : parameters)
    list.push_back({{"logarithm", p.logarithm}, {"mean", p.mean}, {"deviation", p.deviation}});
  return nlohmann::json{{"channels", shape.channels},     {"cells", shape.cells},
                        {"periodic", shape.periodic},     {"mean", mean},
                        {"deviation", deviation},         {"parameters", list},
                        {"channel_names", channel_names}, {"parameter_names", parameter_names}}
      .dump();
}

Scales Scales::from(const std::string& text) {
  const auto in = nlohmann::json::parse(text);
  Scales out;
  in.at("channels").get_to(out.shape.channels);
  in.at("cells").get_to(out.shape.cells);
  in.at("periodic").get_to(out.shape.periodic);
  in.at("mean").get_to(out.mean);
  in.at("deviation").get_to(out.deviation);
  out.channel_names = in.value("channel_names", std::vector<std::string>());  // not in earlier models
  out.parameter_names = in.value("parameter_names", std::vector<std::string>());
  for (const auto& p : in.at("parameters"))
    out.parameters.push_back(
        {p.at("logarithm").get<bool>(), p.at("mean").get<double>(), p.at("deviation").get<double>()});
  return out;
}

}  // namespace cambium::pretrain
