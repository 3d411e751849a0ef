#include "core/run/summary/stage_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"

namespace cambium {

namespace {

using ResultsJson = nlohmann::ordered_json;
constexpr int results_version = 1;

ResultsJson json_of(const Result& result) {
  ResultsJson out{{"key", result.key}, {"label", result.label}, {"value", result.value}, {"unit", result.unit}};
  if (result.uncertainty) out["uncertainty"] = *result.uncertainty;
  if (!result.remark.empty()) out["remark"] = result.remark;
  return out;
}

double value_in(const ResultsJson& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Result read_result(const ResultsJson& json) {
  Result out{json.at("key").get<std::string>(), json.at("label").get<std::string>(), value_in(json.at("value")),
             json.at("unit").get<std::string>()};
  if (json.contains("uncertainty")) out.uncertainty = value_in(json["uncertainty"]);
  out.remark = json.value("remark", "");
  return out;
}

StageResults read_all(const ResultsJson& json) {
  StageResults out;
  for (const auto& result : json.at("results")) out.results.push_back(read_result(result));
  out.seconds = value_in(json.at("seconds"));
  out.ranks = json.at("ranks").get<int>();
  if (json.contains("steps")) out.steps = json["steps"].get<std::int64_t>();
  out.items = json.at("items").get<std::int64_t>();
  out.item = json.at("item").get<std::string>();
  out.memory = value_in(json.at("memory"));
  out.summary = json.at("summary").get<std::vector<std::string>>();
  out.files = json.at("files").get<std::vector<std::string>>();
  for (const auto& warning : json.at("warnings"))
    out.warnings.push_back({warning.at("text").get<std::string>(), warning.at("count").get<int>()});
  return out;
}

bool is_result_key(const std::string& key) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !key.empty() && key[0] >= 'a' && key[0] <= 'z' && std::all_of(key.begin(), key.end(), letter);
}

}  // namespace

std::string json_of(const StageResults& all) {
  ResultsJson out{{"version", results_version}, {"results", ResultsJson::array()}};
  for (const auto& result : all.results) out["results"].push_back(json_of(result));
  out["seconds"] = all.seconds;
  out["ranks"] = all.ranks;
  if (all.steps) out["steps"] = *all.steps;
  out["items"] = all.items;
  out["item"] = all.item;
  out["memory"] = all.memory;
  out["summary"] = all.summary;
  out["files"] = all.files;
  out["warnings"] = ResultsJson::array();
  for (const auto& warning : all.warnings)
    out["warnings"].push_back({{"text", warning.text}, {"count", warning.count}});
  return out.dump(1, ' ', false, ResultsJson::error_handler_t::replace) + "\n";
}

StageResults stage_results_of(const std::string& json, const std::string& path) {
  try {
    const ResultsJson all = ResultsJson::parse(json);
    if (const int found = all.at("version").get<int>(); found > results_version)
      throw InputError(fmt::format("'{}' is of version {}, and this program reads up to {}; use the one that wrote it",
                                   path, found, results_version));
    return read_all(all);
  } catch (const ResultsJson::exception& error) {
    throw InputError(fmt::format("'{}' is damaged or was changed ({}); run its stage again", path, error.what()));
  }
}

std::optional<StageResults> stage_results_in(const std::string& folder) {
  const auto path = (std::filesystem::path(folder) / StageResults::file).string();
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (text.empty()) return {};
  return stage_results_of(text, path);
}

std::vector<Result> with_own_keys(std::vector<Result> results) {
  std::map<std::string, int> seen;
  for (auto& result : results) {
    if (!is_result_key(result.key))
      throw InternalError(fmt::format("'{}' is no key of a result: lower-case letters, digits, _", result.key));
    if (const int times = ++seen[result.key]; times > 1) result.key += fmt::format("_{}", times);
  }
  return results;
}

}  // namespace cambium
