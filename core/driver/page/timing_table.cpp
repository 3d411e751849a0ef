#include "core/driver/page/timing_table.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>

namespace cambium {

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// All ranks must list the same sections in the same order; rank 0's order is used and its names are shared. What an
/// earlier stage entered and this one did not has no row.
static std::vector<std::string> section_names(const Timing& timing, const Comm& comm) {
  std::string joined;
  for (const auto& section : timing.sections())
    if (section.calls > 0) joined += section.name + "\n";
  comm.broadcast(joined);
  std::vector<std::string> names;
  for (std::size_t from = 0, to; (to = joined.find('\n', from)) != std::string::npos; from = to + 1)
    names.push_back(joined.substr(from, to - from));
  return names;
}

static std::string rate_line(const LoopSummary& loop) {
  const double rate = static_cast<double>(loop.steps) / std::max(loop.seconds, 1e-9);
  std::string line = fmt::format("{:.4g} steps/s", rate);
  const double items = rate * static_cast<double>(loop.work.items);
  const char* prefix = items >= 1e6 ? "M" : items >= 1e3 ? "k" : "";
  const double scale = items >= 1e6 ? 1e6 : items >= 1e3 ? 1e3 : 1.0;
  line +=
      fmt::format(", {:.4g} {}{}{}/s", items / scale, prefix, loop.work.name, loop.items_per_second ? "s" : "-steps");
  if (loop.time_unit == "ps" && loop.time_per_step > 0.0)
    line += fmt::format(", {:.4g} ns/day", rate * loop.time_per_step * 86.4);
  return line;
}

std::vector<std::string> timing_table(const Timing& timing, const LoopSummary& loop, const Comm& comm) {
  std::map<std::string, double> mine;
  for (const auto& section : timing.sections()) mine[section.name] = section.seconds;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("Loop {:.2f} s, {} rank{}, {} steps, {} {}s", loop.seconds, comm.size(),
                              comm.size() == 1 ? "" : "s", loop.steps, loop.work.items, loop.work.name));
  lines.push_back(rate_line(loop));
  lines.push_back(fmt::format("{:<14}{:>10}{:>10}{:>10}{:>9}", "section", "min s", "avg s", "max s", "%"));
  double listed = 0.0;
  auto row = [&](const std::string& name, double seconds) {
    const double average = comm.sum(seconds) / comm.size();
    lines.push_back(fmt::format("{:<14}{:>10.3f}{:>10.3f}{:>10.3f}{:>9.1f}", name, comm.min(seconds), average,
                                comm.max(seconds), 100.0 * average / std::max(loop.seconds, 1e-9)));
    listed += seconds;
  };
  for (const auto& name : section_names(timing, comm)) row(name, mine[name]);
  row("other", std::max(0.0, loop.seconds - listed));
  const double memory = peak_memory() / 1048576.0;
  lines.push_back(fmt::format("peak memory per rank: {:.1f} MiB (largest {:.1f})", comm.sum(memory) / comm.size(),
                              comm.max(memory)));
  return lines;
}

}  // namespace cambium
