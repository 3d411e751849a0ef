#include "plugins/assimilate/twin/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/assimilate/observations/network.hpp"

namespace cambium::assimilate {

ModelTruth::ModelTruth(ForecastModel& model, std::vector<double> state) : model_(model), state_(std::move(state)) {}

std::vector<double> ModelTruth::at(double time) {
  model_.advance(state_, time_, time);
  time_ = time;
  const auto network = centres(model_.space());
  std::vector<double> out(network.size());
  network.apply(state_, out);
  return out;
}

FileTruth::FileTruth(const ForecastModel& model, const std::string& path)
    : path_(path), record_(model.read(path)), places_(model.space().places()) {
  for (const auto& field : model.space().fields)
    field_.push_back(static_cast<std::size_t>(std::find(record_.names.begin(), record_.names.end(), field.name) -
                                              record_.names.begin()));
}

std::vector<double> FileTruth::at(double time) {
  const auto& times = record_.times;
  const auto found = std::min_element(times.begin(), times.end(),
                                      [&](double a, double b) { return std::fabs(a - time) < std::fabs(b - time); });
  const double slack = times.size() > 1 ? 0.01 * (times[1] - times[0]) : 1e-6;
  if (std::fabs(*found - time) > slack)
    throw KeyError(
        "assimilate.data.times", "observations.every",
        fmt::format("'{}' has {} frames from t = {:g} to {:g} and none at t = {:g}: let 'every' be a multiple "
                    "of their interval, and 'cycles' times 'every' at most their time",
                    path_, times.size(), times.front(), times.back(), time));
  const auto frame = static_cast<std::size_t>(found - times.begin());
  std::vector<double> out(field_.size() * places_, 0.0);
  for (std::size_t f = 0; f < field_.size(); ++f)
    std::copy_n(record_.values[field_[f]].begin() + static_cast<std::ptrdiff_t>(frame * places_), places_,
                out.begin() + static_cast<std::ptrdiff_t>(f * places_));
  return out;
}

}  // namespace cambium::assimilate
