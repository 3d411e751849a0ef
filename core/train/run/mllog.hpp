#pragma once
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/log.hpp"

namespace cambium::train {

/// Lines of the MLPerf logging format, `:::MLLOG {"namespace": "", "time_ms": ..., "event_type": ..., ...}`; silent
/// unless switched on.
class MlLog {
 public:
  MlLog(Log& log, bool on) : log_(log), on_(on) {}
  void event(std::string_view key, const nlohmann::json& value,
             const nlohmann::json& metadata = nlohmann::json::object());
  void start(std::string_view key, const nlohmann::json& metadata = nlohmann::json::object());
  void stop(std::string_view key, const nlohmann::json& metadata = nlohmann::json::object());

 private:
  void line(const char* type, std::string_view key, const nlohmann::json& value, const nlohmann::json& metadata);
  Log& log_;
  bool on_;
};

}  // namespace cambium::train
