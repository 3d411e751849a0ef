#include "core/parallel/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace cambium {
namespace {

namespace fs = std::filesystem;
constexpr double largest_node = 1e15;  // bytes; twenty times the largest nodes of 2026
constexpr double unknown = std::numeric_limits<double>::infinity();

/// Reads a file with one number; none if it does not exist or contains "max".
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

/// Memory left by one control group. Its page cache is reclaimed on demand.
double left_in_group(const fs::path& group, const char* limit, const char* used, const char* pages) {
  const auto most = number_in(group / limit), now = number_in(group / used);
  if (!most || !now) return unknown;
  return std::max(0.0, *most - std::max(0.0, *now - number_after(group / "memory.stat", pages).value_or(0.0)));
}

/// Memory left by the control groups of this process, each inside of the one above it.
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

namespace {

thread_local std::size_t refused_bytes = 0;

/// "8e+03 G", "123 bytes": a number and its unit after `mark`; empty if it does not occur.
std::string size_behind(const std::string& text, const std::string& mark) {
  const auto begin = text.find(mark);
  if (begin == std::string::npos) return {};
  std::istringstream in(text.substr(begin + mark.size()));
  double number = 0.0;
  std::string unit;
  if (!(in >> number >> unit) || !(number > 0)) return {};
  double scale = 1.0;
  for (const char known : {'k', 'K', 'M', 'G', 'T', 'P'})
    if (unit[0] == known)
      scale = known == 'P' ? 0x1p50 : known == 'T' ? 0x1p40 : known == 'G' ? 0x1p30 : known == 'M' ? 0x1p20 : 0x1p10;
  return bytes_text(number * scale);
}

std::string label_in(const std::string& text) {
  const auto begin = text.find("label \""), end = begin == std::string::npos ? begin : text.find('"', begin + 7);
  return end == std::string::npos ? "" : fmt::format(" ('{}')", text.substr(begin + 7, end - begin - 7));
}

std::string refusal_of(const std::string& asked) {
  const double left = free_memory();
  return fmt::format(
      "there is no memory for what was requested{}{}; what the deck sizes is too large for this machine, or for the "
      "limit of its shell or job (ulimit -v): make it smaller, or use more ranks on more nodes (`cambium check` and "
      "`cambium plan` print what a deck needs)",
      asked, std::isfinite(left) ? fmt::format(", where {} are left", bytes_text(left)) : "");
}

}  // namespace

void note_refused_bytes(std::size_t bytes) noexcept { refused_bytes = bytes; }

std::string memory_refusal(const std::exception& error) {
  const std::string text = error.what();
  if (dynamic_cast<const std::bad_array_new_length*>(&error) || dynamic_cast<const std::length_error*>(&error))
    return refusal_of(": an array of more elements than any memory holds");
  if (text.find("Kokkos failed to allocate memory") != std::string::npos) {
    const auto size = size_behind(text, "llocation of size ");
    return refusal_of(fmt::format(": {} in one array{}", size.empty() ? "more than there is" : size, label_in(text)));
  }
  if (const auto size = size_behind(text, "you tried to allocate "); !size.empty())
    return refusal_of(fmt::format(": {} in one tensor", size));
  for (const char* sign : {"Storage size calculation overflowed", "numel: integer multiplication overflow",
                           "CUDA out of memory", "HIP out of memory"})
    if (text.find(sign) != std::string::npos) return refusal_of(": a tensor of more bytes than there are");
  if (!dynamic_cast<const std::bad_alloc*>(&error)) return {};
  return refusal_of(refused_bytes ? fmt::format(": {} in one array", bytes_text(static_cast<double>(refused_bytes)))
                                  : "");
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
