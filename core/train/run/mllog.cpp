#include "core/train/run/mllog.hpp"

#include <chrono>

namespace cambium::train {

void MlLog::line(const char* type, std::string_view key, const nlohmann::json& value, const nlohmann::json& metadata) {
  if (!on_) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  nlohmann::ordered_json out;
  out["namespace"] = "";
  out["time_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  out["event_type"] = type;
  out["key"] = key;
  out["value"] = value;
  out["metadata"] = metadata;
  log_.info(":::MLLOG " + out.dump());
}

void MlLog::event(std::string_view key, const nlohmann::json& value, const nlohmann::json& metadata) {
  line("POINT_IN_TIME", key, value, metadata);
}
void MlLog::start(std::string_view key, const nlohmann::json& metadata) {
  line("INTERVAL_START", key, nullptr, metadata);
}
void MlLog::stop(std::string_view key, const nlohmann::json& metadata) { line("INTERVAL_END", key, nullptr, metadata); }

}  // namespace cambium::train
