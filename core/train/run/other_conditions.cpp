#include "core/train/run/other_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::train {

namespace {

std::string words_of(const Condition& range) {
  return range.lowest == range.highest ? fmt::format("{} {:g}", range.name, range.lowest)
                                       : fmt::format("{} from {:g} to {:g}", range.name, range.lowest, range.highest);
}

/// Within the digits of a parameter in single precision.
bool within(const Condition& here, const Condition& trained) {
  constexpr double digits = 1e-6;
  return here.lowest >= trained.lowest - digits * std::fabs(trained.lowest) &&
         here.highest <= trained.highest + digits * std::fabs(trained.highest);
}

}  // namespace

std::string other_conditions(const LoadedModel& model, const Dataset& data) {
  const HasConditions* trained = model.network->traits().conditions;
  if (!trained) return {};
  const auto here = conditions_of(data);
  for (const auto& range : trained->conditions()) {
    const auto same = [&](const auto& other) { return other.name == range.name; };
    const auto found = std::find_if(here.begin(), here.end(), same);
    const bool input = std::any_of(model.info.fields.begin(), model.info.fields.end(),
                                   [&](const auto& field) { return same(field.info); });
    if (found == here.end() || input || within(*found, range)) continue;
    return fmt::format("was trained on samples with {}, and the data set has {}", words_of(range), words_of(*found));
  }
  return {};
}

void require_conditions(const LoadedModel& model, const std::string& path, const Dataset& data, bool allowed,
                        Log& log) {
  const auto difference = other_conditions(model, data);
  if (difference.empty()) return;
  const auto what = fmt::format("model '{}' {}", path, difference);
  if (allowed) return log.warn(what + ": its errors are unknown there");
  throw KeyError("train.model.conditions", "dataset",
                 what + ": give data of a system of its training, or set allow_other_parameters: true");
}

}  // namespace cambium::train
