#include "apps/cambium/profile/profile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace cambium {

namespace {

constexpr std::size_t longest_rows = 12;

/// Sums over some rows.
struct Sum {
  double calls = 0.0, seconds = 0.0, flops = 0.0, bytes = 0.0;
  double counted = 0.0, floor = 0.0;  ///< seconds of rows with amounts, and their minimum time at the peaks
};

void add(Sum& sum, const Recorder::Row& row, const Peaks& peaks) {
  sum.calls += static_cast<double>(row.calls);
  sum.seconds += row.seconds;
  sum.flops += row.flops;
  sum.bytes += row.bytes;
  if (row.flops > 0.0 || row.bytes > 0.0) {
    sum.counted += row.seconds;
    sum.floor += peaks.floor(row);
  }
}

std::string rate(double amount, double seconds) {
  return amount > 0.0 && seconds > 0.0 ? fmt::format("{:.3g}", 1e-9 * amount / seconds) : "-";
}

/// Messages include waiting for others, so their fraction is less meaningful than that of other classes.
std::string share_of_roof(const Sum& sum) {
  return sum.counted > 0.0 && sum.floor > 0.0 ? fmt::format("{:.0f}", std::min(999.0, 100.0 * sum.floor / sum.counted))
                                              : "-";
}

std::string class_row(const std::string& name, const Sum& own, double wall, const Comm& comm) {
  const double least = comm.min(own.seconds), most = comm.max(own.seconds);
  std::vector<double> all{own.calls, own.seconds, own.flops, own.bytes, own.counted, own.floor, wall};
  comm.sum(all);
  const Sum sum{all[0], all[1], all[2], all[3], all[4], all[5]};
  return fmt::format("{:<16} {:>9.0f} {:>8.3f} {:>8.3f} {:>8.3f} {:>6.1f} {:>9} {:>9} {:>7}", name, sum.calls, least,
                     sum.seconds / comm.size(), most, 100.0 * sum.seconds / all[6], rate(sum.flops, sum.counted),
                     rate(sum.bytes, sum.counted), share_of_roof(sum));
}

std::vector<std::string> longest(const Recorder& recorder, const Peaks& peaks) {
  const auto& rows = recorder.rows();
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return rows[a].seconds > rows[b].seconds; });
  order.resize(std::min(order.size(), longest_rows));
  std::vector<std::string> lines{fmt::format("{:<33} {:<14} {:>8} {:>8} {:>6} {:>9} {:>9} {:>7}", "longest on rank 0",
                                             "class", "calls", "s", "%", "Gflop/s", "GB/s", "roof %")};
  for (const std::size_t k : order) {
    const auto& row = rows[k];
    Sum sum;
    add(sum, row, peaks);
    std::string name =
        row.section.empty() || row.section == row.name ? row.name : fmt::format("{} / {}", row.section, row.name);
    if (row.word == 4) name += " (float)";
    if (name.size() > 33) name = fmt::format("{:.30}...", name);
    lines.push_back(fmt::format("{:<33} {:<14} {:>8} {:>8.3f} {:>6.1f} {:>9} {:>9} {:>7}", name, name_of(row.kind),
                                row.calls, row.seconds, 100.0 * row.seconds / recorder.seconds(),
                                rate(row.flops, row.seconds), rate(row.bytes, row.seconds), share_of_roof(sum)));
  }
  return lines;
}

}  // namespace

std::vector<std::string> profile_table(const Recorder& recorder, const Peaks& peaks, const Comm& comm) {
  std::array<Sum, work_kinds> classes{};
  for (const auto& row : recorder.rows()) add(classes[static_cast<std::size_t>(row.kind)], row, peaks);
  const double wall = recorder.seconds(), idle = recorder.idle();
  const double named = comm.min(100.0 * (1.0 - idle / wall)),
               lost = comm.sum(static_cast<double>(recorder.lost_events()));
  std::vector<std::string> lines{
      fmt::format("profile of {:.3f} s: at least {:.1f} % of each rank's time has a name", comm.max(wall), named),
      fmt::format("{:<16} {:>9} {:>8} {:>8} {:>8} {:>6} {:>9} {:>9} {:>7}", "class", "calls", "min s", "avg s", "max s",
                  "%", "Gflop/s", "GB/s", "roof %")};
  for (int k = 0; k < work_kinds; ++k) {
    const Sum& own = classes[k];
    if (comm.max(own.calls) > 0.0) lines.push_back(class_row(name_of(static_cast<WorkKind>(k)), own, wall, comm));
  }
  lines.push_back(class_row("idle", {0.0, idle}, wall, comm));
  for (auto& line : longest(recorder, peaks)) lines.push_back(std::move(line));
  lines.push_back(
      fmt::format("peaks of a rank: matrix {:.0f} (float {:.0f}), vector {:.0f} (float {:.0f}) Gflop/s; memory {:.1f}, "
                  "messages {:.2f}, files {:.2f} GB/s",
                  1e-9 * peaks.matrix_double, 1e-9 * peaks.matrix_float, 1e-9 * peaks.vector_double,
                  1e-9 * peaks.vector_float, 1e-9 * peaks.memory, 1e-9 * peaks.network, 1e-9 * peaks.files));
  if (lost > 0.0)
    lines.push_back(
        fmt::format("trace.json holds the first regions; {:.0f} later ones are in profile.json alone", lost));
  return lines;
}

}  // namespace cambium
