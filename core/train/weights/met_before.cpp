#include <fmt/format.h>

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <set>
#include <string>

#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// Collects files and folders among the scalars of a YAML value, by full path; the part after '#' is kept, since it
/// names a part of a file.
static void collect_files(const YAML::Node& node, std::set<std::string>& out) {
  if (node.IsScalar()) {
    const auto text = node.Scalar();
    const auto path = text.substr(0, text.rfind('#'));
    std::error_code none;
    if (path.find('/') == std::string::npos && path.find('.') == std::string::npos) return;  // a type or a value
    if (std::filesystem::exists(path, none))
      out.insert(std::filesystem::weakly_canonical(path).string() + text.substr(path.size()));
  } else {
    for (const auto& each : node) collect_files(node.IsMap() ? each.second : each, out);
  }
}

static std::set<std::string> files_of(const std::string& yaml) {
  std::set<std::string> out;
  if (!yaml.empty()) collect_files(YAML::Load(yaml), out);
  return out;
}

/// True if two data sets are different samples of the same files: their `range` values do not overlap.
static bool apart(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  const YAML::Node a = YAML::Load(one), b = YAML::Load(other);
  if (!a.IsMap() || !b.IsMap() || YAML::Dump(a["files"]) != YAML::Dump(b["files"])) return false;
  for (const auto& range : {a["range"], b["range"]})
    if (!range || !range.IsSequence() || range.size() != 2) return false;
  const auto end = [](const YAML::Node& range, int k) { return range[k].as<double>(); };
  return end(a["range"], 1) <= end(b["range"], 0) || end(b["range"], 1) <= end(a["range"], 0);
}

std::string met_before(const ArtifactInfo& info, const std::string& model, const std::string& data) {
  const auto trained = apart(info.training, data) ? std::set<std::string>{} : files_of(info.training);
  const auto chosen = apart(info.chosen_by, data) ? std::set<std::string>{} : files_of(info.chosen_by);
  for (const auto& file : files_of(data)) {
    const bool learnt = trained.contains(file);
    if (learnt || chosen.contains(file))
      return fmt::format(
          "'{}' was {} '{}', so its errors there are smaller than on data that it never met: evaluate it on others",
          model, learnt ? "trained on" : "chosen among its steps by its errors on", file);
  }
  return {};
}

}  // namespace cambium::train
