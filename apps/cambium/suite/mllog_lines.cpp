#include "apps/cambium/suite/mllog_lines.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

/// Marks of a number that JSON has no word for, while a line is parsed.
const std::string nan_mark = "<NaN>", infinity_mark = "<Infinity>", minus_mark = "<-Infinity>";

/// Replaces bare NaN and Infinity outside of strings, as written by Python, by marked strings.
std::string with_marks(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '"' && (k == 0 || text[k - 1] != '\\')) quoted = !quoted;
    std::string mark;
    for (const auto& [word, name] : {std::pair<std::string_view, std::string>{"NaN", nan_mark},
                                     {"Infinity", infinity_mark},
                                     {"-Infinity", minus_mark}})
      if (!quoted && mark.empty() && text.compare(k, word.size(), word) == 0) {
        mark = '"' + name + '"';
        k += word.size() - 1;
      }
    out += mark.empty() ? std::string(1, text[k]) : mark;
  }
  return out;
}

/// Converts Latin-1 to UTF-8, for lines that are not UTF-8.
std::string from_latin1(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) out += c;
    if (byte >= 0x80) (out += static_cast<char>(0xC0 | byte >> 6)) += static_cast<char>(0x80 | (byte & 0x3F));
  }
  return out;
}

/// The JSON object of a line; discarded if it is none.
Json object_of(const std::string& text) {
  const Json plain = Json::parse(text, nullptr, false);
  if (!plain.is_discarded()) return plain;
  Json out = Json::parse(with_marks(from_latin1(text)), nullptr, false);
  if (!out.is_object() || !out.contains("value")) return out;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (out["value"] == nan_mark) out["value"] = std::numeric_limits<double>::quiet_NaN();
  if (out["value"] == infinity_mark) out["value"] = infinity;
  if (out["value"] == minus_mark) out["value"] = -infinity;
  return out;
}

std::optional<double> time_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? parse_number(value.get<std::string>()) : std::nullopt;
}

/// Fault of the object after the token, and whether the line is lost by it; no text when nothing is.
Finding problem_of(const Json& j) {
  if (j.is_discarded() || !j.is_object()) return {0, "what follows :::MLLOG is no JSON object"};
  for (const char* name : {"time_ms", "key", "value", "metadata"})
    if (!j.contains(name)) return {0, fmt::format("'{}' is missing", name)};
  if (!time_of(j["time_ms"])) return {0, fmt::format("time_ms is {}; it must be milliseconds", j["time_ms"].dump())};
  if (!j["key"].is_string()) return {0, fmt::format("key is {}; a text is usual", j["key"].dump()), false};
  const Json event = j.value("event_type", Json());
  if (event != "INTERVAL_START" && event != "INTERVAL_END" && event != "POINT_IN_TIME")
    return {0, fmt::format("event_type is {}; INTERVAL_START, INTERVAL_END or POINT_IN_TIME is usual", event.dump()),
            false};
  if (!j["metadata"].is_object())
    return {0, fmt::format("metadata is {}; an object is usual", j["metadata"].dump()), false};
  return {0, "", false};
}

}  // namespace

MlLogFile mllog_of(const std::string& text, const std::string& path) {
  static const std::string token = ":::MLLOG ";
  MlLogFile out{path, {}, {}};
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto at = line.rfind(token);
    if (at == std::string::npos) continue;
    const Json j = object_of(line.substr(at + token.size()));
    if (Finding problem = problem_of(j); !problem.text.empty()) {
      problem.line = number;
      out.findings.push_back(problem);
      if (problem.fails || !j["key"].is_string()) continue;
    }
    const Json event = j.value("event_type", Json());
    out.lines.push_back({number, static_cast<std::int64_t>(*time_of(j["time_ms"])),
                         event.is_string() ? event.get<std::string>() : "", j["key"].get<std::string>(), j["value"],
                         j["metadata"].is_object() ? j["metadata"] : Json::object()});
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
