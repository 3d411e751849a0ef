#include <algorithm>
#include <filesystem>
#include <fstream>

#include "apps/cambium/suite/suite_report.hpp"

namespace cambium::train {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

/// Rows of rank 0 in the profile of the first training stage in the folder of `log`; null if there is none.
Json rows_beside(const std::string& log) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(log).parent_path(), ignored))
    if (fs::exists(entry.path() / "profile.json", ignored)) found.push_back(entry.path() / "profile.json");
  std::sort(found.begin(), found.end());
  for (const auto& path : found) {
    std::ifstream file(path);
    const Json profile = Json::parse(file, nullptr, false);
    if (!profile.is_object() || !profile.contains("ranks") || !profile["ranks"].is_array() || profile["ranks"].empty())
      continue;
    Json rows = profile["ranks"][0].value("rows", Json::array());
    if (std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row.value("section", "") == "gradient"; }))
      return rows;
  }
  return nullptr;
}

}  // namespace

double PhaseRoof::share() const {
  double floor = 0.0;
  for (const auto& [name, at_best] : roofs) floor += at_best;
  return counted > 0.0 ? floor / counted : 0.0;
}

std::string PhaseRoof::binding() const {
  const auto most =
      std::max_element(roofs.begin(), roofs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == roofs.end() ? "" : most->first;
}

void add_phase_roofs(const MlLogFile& log, std::map<std::string, PhaseRoof>& out) {
  for (const Json& row : rows_beside(log.path)) {
    const std::string section = row.value("section", ""), roof = row.value("roof", "");
    PhaseRoof& phase = out[section.empty() ? "staging" : section];
    const double seconds = row.value("seconds", 0.0);
    phase.seconds += seconds;
    if (roof.empty()) continue;
    phase.counted += seconds;
    phase.roofs[roof] += row.value("roof_seconds", 0.0);
  }
}

}  // namespace cambium::train
