#include "apps/cambium/suite/mllog_lines.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

/// What is wrong with the object after the token; empty when nothing is.
std::string problem_of(const Json& j) {
  if (j.is_discarded() || !j.is_object()) return "what follows :::MLLOG is no JSON object";
  for (const char* name : {"time_ms", "event_type", "key", "value", "metadata"})
    if (!j.contains(name)) return fmt::format("'{}' is missing", name);
  if (!j["time_ms"].is_number_integer())
    return fmt::format("time_ms is {}; it must be whole milliseconds", j["time_ms"].dump());
  if (!j["key"].is_string()) return fmt::format("key is {}; it must be a text", j["key"].dump());
  const auto& event = j["event_type"];
  if (event != "INTERVAL_START" && event != "INTERVAL_END" && event != "POINT_IN_TIME")
    return fmt::format("event_type is {}; it must be INTERVAL_START, INTERVAL_END or POINT_IN_TIME", event.dump());
  if (!j["metadata"].is_object()) return fmt::format("metadata is {}; it must be an object", j["metadata"].dump());
  return {};
}

}  // namespace

MlLogFile mllog_of(const std::string& text, const std::string& path) {
  static const std::string token = ":::MLLOG";
  MlLogFile out{path, {}, {}};
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto at = line.find(token);
    if (at == std::string::npos) continue;
    const Json j = Json::parse(line.substr(at + token.size()), nullptr, false);
    if (const auto problem = problem_of(j); !problem.empty()) {
      out.findings.push_back({number, problem});
      continue;
    }
    out.lines.push_back({number, j["time_ms"].get<std::int64_t>(), j["event_type"].get<std::string>(),
                         j["key"].get<std::string>(), j["value"], j["metadata"]});
  }
  if (out.lines.empty() && out.findings.empty())
    out.findings.push_back({0, "there is no line with :::MLLOG; set train.mllog: true"});
  return out;
}

MlLogFile read_mllog(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw InputError(fmt::format("cannot read the log '{}'; give the log.txt of a run", path));
  return mllog_of(text_of_file(path), path);
}

std::vector<const MlLine*> MlLogFile::all(const std::string& key) const {
  std::vector<const MlLine*> out;
  for (const MlLine& line : lines)
    if (line.key == key) out.push_back(&line);
  return out;
}

const MlLine* MlLogFile::first(const std::string& key) const {
  const auto found = all(key);
  return found.empty() ? nullptr : found.front();
}

const MlLine* MlLogFile::last(const std::string& key) const {
  const auto found = all(key);
  return found.empty() ? nullptr : found.back();
}

bool MlLogFile::success() const {
  const MlLine* stop = last("run_stop");
  return stop && stop->metadata.value("status", Json()) == "success";
}

}  // namespace cambium::train
