#include "plugins/superres/samples/trained_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"

namespace cambium::superres {
namespace {

constexpr double digits = 1e-6;  ///< of a parameter in single precision

/// Name and value of a condition in a message.
std::string words_of(const train::Condition& range) {
  if (range.name == "no_slip")
    return range.lowest != range.highest ? "no_slip and free_slip plates"
           : range.lowest > 0.5          ? "no_slip plates"
                                         : "free_slip plates";
  const std::string name = range.name == "rayleigh" ? "Rayleigh" : "Prandtl";
  if (range.lowest == range.highest) return fmt::format("the {} number {}", name, number_text(range.lowest));
  return fmt::format("{} numbers from {} to {}", name, number_text(range.lowest), number_text(range.highest));
}

bool within(double value, const train::Condition& range) {
  return value >= range.lowest * (1.0 - digits) && value <= range.highest * (1.0 + digits);
}

}  // namespace

std::vector<train::Condition> conditions_of(const StatedFlow& flow) {
  std::vector<train::Condition> out;
  if (flow.rayleigh) out.push_back({"rayleigh", *flow.rayleigh, *flow.rayleigh});
  if (flow.prandtl) out.push_back({"prandtl", *flow.prandtl, *flow.prandtl});
  if (flow.plates)
    out.push_back({"no_slip", *flow.plates == "no_slip" ? 1.0 : 0.0, *flow.plates == "no_slip" ? 1.0 : 0.0});
  return out;
}

std::vector<train::Condition> conditions_of_files(const std::vector<std::string>& paths) {
  auto out = conditions_of(StatedFlow::of(paths.front()));
  for (const auto& path : paths) out = train::of_both(out, conditions_of(StatedFlow::of(path)));
  return out;
}

std::string with_conditions(const std::string& state, const std::vector<train::Condition>& conditions) {
  if (conditions.empty()) return state;
  auto out = nlohmann::json::parse(state);
  for (const auto& range : conditions) out["conditions"][range.name] = {range.lowest, range.highest};
  return out.dump();
}

std::vector<train::Condition> conditions_in(const std::string& state) {
  std::vector<train::Condition> out;
  const auto in = nlohmann::json::parse(state, nullptr, false);
  if (!in.is_object() || !in.contains("conditions")) return out;
  for (const char* name : {"rayleigh", "prandtl", "no_slip"})  // the most telling difference first
    if (const auto range = in["conditions"].find(name); range != in["conditions"].end())
      out.push_back({name, range->at(0).get<double>(), range->at(1).get<double>()});
  return out;
}

std::string other_flow(const train::ArtifactInfo& info, const StatedFlow& flow, const std::string& where) {
  const auto known = conditions_of(flow);
  for (const auto& range : conditions_in(info.state)) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& c) { return c.name == range.name; });
    const bool input = std::any_of(info.fields.begin(), info.fields.end(),
                                   [&](const auto& field) { return field.info.name == range.name; });
    if (found == known.end() || input || within(found->lowest, range)) continue;
    return fmt::format("was trained on flows with {}, and {} has {}", words_of(range), where, words_of(*found));
  }
  return {};
}

void require_trained_on(const train::ArtifactInfo& info, const StatedFlow& flow, const Applied& applied,
                        Context& context) {
  const auto difference = other_flow(info, flow, applied.where);
  if (difference.empty()) return;
  const auto what = fmt::format("model '{}' {}", applied.model, difference);
  if (applied.allowed) return context.log.warn(what + ": its errors are unknown there");
  throw KeyError("superres.model.flow", applied.key,
                 what + ": give a model of this flow, or set allow_other_parameters: true");
}

}  // namespace cambium::superres
