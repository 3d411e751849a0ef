#include "apps/cambium/profile/trace.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace cambium {

static std::string in_quotes(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string trace_events(const Recorder& recorder, int rank) {
  std::string out =
      fmt::format(R"({{"ph":"M","name":"process_name","pid":{0},"tid":0,"args":{{"name":"rank {0}"}}}})", rank);
  std::vector<std::string> heads;
  for (const auto& row : recorder.rows())
    heads.push_back(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":0,"args":{{"section":{}}},)",
                                in_quotes(row.name), name_of(row.kind), rank, in_quotes(row.section)));
  for (const auto& event : recorder.events())
    fmt::format_to(std::back_inserter(out), ",\n{}\"ts\":{:.3f},\"dur\":{:.3f}}}", heads[event.row], 1e6 * event.start,
                   1e6 * event.seconds);
  return out;
}

std::string trace_text(const std::vector<std::string>& ranks) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const auto& rank : ranks) out += (&rank == &ranks.front() ? "" : ",\n") + rank;
  return out + "\n]}\n";
}

}  // namespace cambium
