#include "apps/cambium/profile/stage_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/cambium/profile/gathered_text.hpp"
#include "apps/cambium/profile/peaks.hpp"
#include "apps/cambium/profile/profile_table.hpp"
#include "apps/cambium/profile/trace.hpp"
#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium {

namespace {

/// For all ranks together, so that the trace stays a file that a browser opens.
constexpr std::size_t events_in_all = 400000;

std::size_t events_of_rank(const Comm& comm) {
  return std::min<std::size_t>(100000, events_in_all / static_cast<std::size_t>(comm.size()));
}

nlohmann::json rows_of(const Recorder& recorder, const Peaks& peaks, int rank) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& row : recorder.rows()) {
    const Peaks::Roof roof = peaks.roof(row);
    rows.push_back({{"rank", rank},
                    {"section", row.section},
                    {"name", row.name},
                    {"class", name_of(row.kind)},
                    {"bytes_of_a_number", row.word},
                    {"calls", row.calls},
                    {"seconds", row.seconds},
                    {"flops", row.flops},
                    {"bytes", row.bytes},
                    {"roof", roof.name},
                    {"roof_seconds", roof.seconds}});
  }
  return {{"rank", rank},
          {"wall_seconds", recorder.seconds()},
          {"idle_seconds", recorder.idle()},
          {"events_not_in_trace", recorder.lost_events()},
          {"rows", rows}};
}

std::string profile_text(const std::vector<std::string>& ranks, const Peaks& peaks) {
  nlohmann::json all{{"peaks_of_a_rank", to_json(peaks)}, {"ranks", nlohmann::json::array()}};
  for (const auto& rank : ranks) all["ranks"].push_back(nlohmann::json::parse(rank));
  return all.dump(1);
}

}  // namespace

StageProfile::StageProfile(Context& context) : context_(context), recorder_(events_of_rank(context.comm)) {
  context.comm.barrier();  // the ranks' clocks begin together
  recorder_.begin();
}

std::vector<std::string> StageProfile::finish() {
  recorder_.end();
  const Comm& comm = context_.comm;
  const Peaks peaks = machine_peaks(context_);
  const auto ranks = gathered_text(
      comm, rows_of(recorder_, peaks, comm.rank()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  const auto traces = gathered_text(comm, trace_events(recorder_, comm.rank()));
  auto lines = profile_table(recorder_, peaks, comm);
  if (!comm.root()) return lines;
  const auto write = [&](const std::string& name, const std::string& text) {
    try {
      io::write_file_atomically((std::filesystem::path(context_.run_directory) / name).string(), text);
      files_.push_back(name);
    } catch (const InputError& error) {
      context_.log.warn(fmt::format("the run continues without this part of its profile: {}", error.what()));
    }
  };
  write("profile.json", profile_text(ranks, peaks));
  write("trace.json", trace_text(traces));
  return lines;
}

}  // namespace cambium
