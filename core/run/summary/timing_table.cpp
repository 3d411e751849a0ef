#include "core/run/summary/timing_table.hpp"

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

/// All ranks must list the same sections in the same order; rank 0's order is used and its names are broadcast.
/// Sections that only an earlier stage entered have no row.
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

static std::string scaled(double rate, const std::string& name) {
  const char* prefix = rate >= 1e6 ? "M" : rate >= 1e3 ? "k" : "";
  return fmt::format("{:.4g} {}{}/s", rate >= 1e6 ? 1e-6 * rate : rate >= 1e3 ? 1e-3 * rate : rate, prefix, name);
}

static std::string rate_line(const Task::Work& work, double seconds) {
  const double items = static_cast<double>(work.items);
  if (!work.steps) return scaled(items / seconds, work.name + "s");
  const double rate = static_cast<double>(*work.steps) / seconds;
  std::string line =
      fmt::format("{:.4g} steps/s, {}", rate, scaled(rate * items, work.name + (work.items_per_step ? "s" : "-steps")));
  if (work.time_unit == "ps" && work.time_per_step > 0.0)
    line += fmt::format(", {:.4g} ns/day", rate * work.time_per_step * 86.4);
  return line;
}

/// Rows of the sections, with the time outside them as the last one; none if no section was timed.
static void add_sections(const Timing& timing, double seconds, const Comm& comm, std::vector<std::string>& lines) {
  const auto names = section_names(timing, comm);
  if (names.empty()) return;
  std::map<std::string, double> mine;
  for (const auto& section : timing.sections()) mine[section.name] = section.seconds;
  lines.push_back(fmt::format("{:<14}{:>10}{:>10}{:>10}{:>9}", "section", "min s", "avg s", "max s", "%"));
  double listed = 0.0, sections = 0.0;
  for (const auto& name : names) sections += comm.sum(mine[name]) / comm.size();
  const double whole = std::max(seconds, sections);  // of a short run: sections before and after its steps are more
  auto row = [&](const std::string& name, double own) {
    const double average = comm.sum(own) / comm.size();
    lines.push_back(fmt::format("{:<14}{:>10.3f}{:>10.3f}{:>10.3f}{:>9.1f}", name, comm.min(own), average,
                                comm.max(own), 100.0 * average / whole));
    listed += own;
  };
  for (const auto& name : names) row(name, mine[name]);
  row("other", std::max(0.0, seconds - listed));
}

std::vector<std::string> timing_table(const Timing& timing, const Task::Work& work, const Comm& comm) {
  const double seconds = std::max(work.seconds.value_or(0.0), 1e-9);
  std::string head = fmt::format("{} {:.2f} s, {} rank{}", work.steps ? "Loop" : "Stage", seconds, comm.size(),
                                 comm.size() == 1 ? "" : "s");
  if (work.steps) head += fmt::format(", {} steps", *work.steps);
  if (work.items > 0) head += fmt::format(", {} {}{}", work.items, work.name, work.items > 1 || work.steps ? "s" : "");
  std::vector<std::string> lines{head};
  if (work.items > 0) lines.push_back(rate_line(work, seconds));
  add_sections(timing, seconds, comm, lines);
  const double memory = peak_memory() / 1048576.0;
  lines.push_back(fmt::format("peak memory per rank: {:.1f} MiB (largest {:.1f})", comm.sum(memory) / comm.size(),
                              comm.max(memory)));
  return lines;
}

}  // namespace cambium
