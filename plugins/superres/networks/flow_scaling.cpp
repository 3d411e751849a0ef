#include "plugins/superres/networks/flow_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/error.hpp"
#include "core/train/data/numbers.hpp"
#include "plugins/superres/samples/trained_flow.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

std::vector<double> numbers_of(const train::Sample& sample, const char* field) {
  const auto& values = sample.fields.at(field);
  std::vector<double> out(values.elements());
  train::copy_numbers<double>(values, std::span(out));
  return out;
}

}  // namespace

void FlowScaling::fit(train::Dataset& training) {
  std::int64_t nodes_x = 0;
  for (const auto& field : training.fields()) {
    if (field.name == "coarse" && field.shape.size() == 4) grid = {field.shape[1], field.shape[2], field.shape[3]};
    if (field.name == "values") points = std::max<std::int64_t>(1, field.shape[0]);
    if (field.name == "x") nodes_x = field.shape[0];
    if (field.name == "future") forecasts = true;
  }
  if (grid.empty())
    throw InputError(
        "networks of convection read windows of coarse samples or snapshots: give a data set of the type 'crops' or "
        "'snapshots'");
  conditions = train::conditions_of(training);
  wraps = nodes_x > grid[1];
  const std::int64_t looked_at = std::min<std::int64_t>(256, training.size());
  std::vector<std::int64_t> ids(looked_at);
  for (std::int64_t k = 0; k < looked_at; ++k) ids[k] = training.size() * k / looked_at;
  const std::size_t fields = flow_fields.size();
  std::vector<double> sum(fields, 0.0), squares(fields, 0.0);
  double count = 0.0;
  const auto samples = training.read(ids);
  for (const auto& sample : samples) {
    const auto numbers = numbers_of(*sample, forecasts ? "coarse" : "values");
    const std::size_t each = numbers.size() / fields;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::size_t f = forecasts ? k / each : k % fields;
      sum[f] += numbers[k];
      squares[f] += numbers[k] * numbers[k];
    }
    count += static_cast<double>(each);
  }
  mean.clear();
  deviation.clear();
  for (std::size_t f = 0; f < fields; ++f) {
    mean.push_back(sum[f] / count);
    deviation.push_back(std::max(1e-12, std::sqrt(std::max(0.0, squares[f] / count - mean[f] * mean[f]))));
  }
  if (forecasts) fit_change(samples);
}

/// Changes from the last frame of each window to the first that follows.
void FlowScaling::fit_change(const std::vector<train::SamplePtr>& samples) {
  const std::size_t fields = flow_fields.size(), nodes = static_cast<std::size_t>(grid[1] * grid[2]);
  std::vector<double> squares(fields, 0.0);
  for (const auto& sample : samples) {
    const auto before = numbers_of(*sample, "coarse"), after = numbers_of(*sample, "future");
    const std::size_t seen = before.size() / (fields * nodes), ahead = after.size() / (fields * nodes);
    for (std::size_t f = 0; f < fields; ++f)
      for (std::size_t n = 0; n < nodes; ++n)
        squares[f] += std::pow(after[f * ahead * nodes + n] - before[((f + 1) * seen - 1) * nodes + n], 2);
  }
  change.clear();
  const double count = static_cast<double>(samples.size() * nodes);
  for (std::size_t f = 0; f < fields; ++f)
    change.push_back(std::max(1e-12, std::sqrt(squares[f] / count) / deviation[f]));
}

std::string FlowScaling::text() const {
  nlohmann::json out{{"grid", grid}, {"wraps", wraps}, {"mean", mean}, {"deviation", deviation}, {"points", points}};
  if (forecasts) out["change"] = change;
  return with_conditions(out.dump(), conditions);
}

void FlowScaling::restore(const std::string& text) {
  const auto in = nlohmann::json::parse(text);
  in.at("grid").get_to(grid);
  in.at("wraps").get_to(wraps);
  in.at("mean").get_to(mean);
  in.at("deviation").get_to(deviation);
  points = in.value("points", std::int64_t{1});
  conditions = conditions_in(text);
  forecasts = in.contains("change");
  if (forecasts) in.at("change").get_to(change);
}

void FlowScaling::require_coarse(const std::array<std::int64_t, 3>& found) const {
  if (found[0] == grid[0] && found[1] == grid[1] && found[2] == grid[2]) return;
  throw InputError(
      fmt::format("the model reads crops of {} x {} x {} coarse samples (t, x, z), these have {} x {} x {}", grid[0],
                  grid[1], grid[2], found[0], found[1], found[2]));
}

}  // namespace cambium::superres
