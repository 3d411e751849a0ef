#include "core/parallel/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace cambium {
namespace {

namespace fs = std::filesystem;
constexpr double largest_node = 1e15;  // bytes; twenty times what nodes of 2026 have at most
constexpr double unknown = std::numeric_limits<double>::infinity();

/// A file with one number; none when it is not there or says "max".
std::optional<double> number_in(const fs::path& path) {
  std::ifstream in(path);
  double value = 0.0;
  if (in >> value) return value;
  return {};
}

/// The number after a word that begins a line.
std::optional<double> number_after(const fs::path& path, const std::string& wanted) {
  std::ifstream in(path);
  for (std::string word, rest; in >> word; std::getline(in, rest)) {
    double value = 0.0;
    if (word == wanted && in >> value) return value;
  }
  return {};
}

/// What one control group leaves. Pages of files that it holds are given up when memory is asked for.
double left_in_group(const fs::path& group, const char* limit, const char* used, const char* pages) {
  const auto most = number_in(group / limit), now = number_in(group / used);
  if (!most || !now) return unknown;
  return std::max(0.0, *most - std::max(0.0, *now - number_after(group / "memory.stat", pages).value_or(0.0)));
}

/// What the control groups of this process leave, each inside of the one above it.
double left_in_groups() {
  double least = unknown;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const bool unified = second == first + 1,
               memory = line.substr(first + 1, second - first - 1).find("memory") != std::string::npos;
    if (!unified && !memory) continue;
    const fs::path top = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (fs::path part = fs::path(line.substr(second + 1)).relative_path();; part = part.parent_path()) {
      least = std::min(least, unified ? left_in_group(top / part, "memory.max", "memory.current", "inactive_file")
                                      : left_in_group(top / part, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                                      "total_inactive_file"));
      if (part.empty()) break;
    }
  }
  return least;
}

double left_in_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown;
  const double used = number_in("/proc/self/statm").value_or(0.0) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

}  // namespace

double free_memory() {
  const auto machine = number_after("/proc/meminfo", "MemAvailable:");
  return std::min({machine ? 1024.0 * *machine : unknown, left_in_groups(), left_in_address_space()});
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 7> units{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t k = 0;
  for (; k + 1 < units.size() && bytes >= 999.5; ++k) bytes /= 1000.0;
  return fmt::format("{:.3g} {}", bytes, units[k]);
}

std::string memory_problem(double bytes, const std::string& what, const std::string& remedy, const Comm& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  double wanted = bytes, there = free_memory();
  MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_DOUBLE, MPI_SUM, node);
  MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_DOUBLE, MPI_MIN, node);
  MPI_Comm_free(&node);
  const int lowest = comm.size() - comm.max(wanted > there ? comm.size() - comm.rank() : 0);
  if (lowest == comm.size()) return {};
  double both[2] = {wanted, there};
  comm.broadcast(both, lowest);
  return fmt::format("{} would take at least {} of memory on this node, which has {} left; {}", what,
                     bytes_text(both[0]), bytes_text(both[1]), remedy);
}

void require_memory(double bytes, const std::string& what, const std::string& remedy, const Comm& comm) {
  const std::string problem = memory_problem(bytes, what, remedy, comm);
  if (!problem.empty()) throw InputError(problem);
}

void require_memory(double bytes, const std::string& what, const std::string& remedy, Context& context) {
  const std::string problem = memory_problem(bytes, what, remedy, context.comm);
  if (problem.empty()) return;
  if (!context.dry_run || context.comm.max(bytes) > largest_node) throw InputError(problem);
  context.log.warn(problem);
}

}  // namespace cambium
