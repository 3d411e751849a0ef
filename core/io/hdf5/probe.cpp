#include "core/io/hdf5/probe.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/base/platform.hpp"

namespace cambium::io {
namespace {

/// A file as it is now: device, number, size, time of the last change.
using Identity = std::array<std::int64_t, 5>;

bool identify(const std::string& path, Identity& out) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  out = {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
         static_cast<std::int64_t>(status.st_size), static_cast<std::int64_t>(status.st_mtim.tv_sec),
         static_cast<std::int64_t>(status.st_mtim.tv_nsec)};
  return true;
}

/// Files of this process that were probed or need not be.
struct Trusted {
  std::mutex guard;
  std::set<Identity> files;
};
Trusted& trusted() {
  static Trusted one;
  return one;
}
bool is_trusted(const Identity& file) {
  const std::lock_guard lock(trusted().guard);
  return trusted().files.contains(file);
}

/// Path of the probing program; empty if nothing is to be done.
std::string program() {
  if (const char* given = std::getenv("CAMBIUM_HDF5_PROBE")) return std::string(given) == "none" ? "" : given;
  const auto path = std::filesystem::path(core_library_folder()) / "cambium" / "cambium_hdf5_probe";
  std::error_code none;
  return std::filesystem::exists(path, none) ? path.string() : "";
}

/// Every rank of a small job probes, as each may be the first to open a file; in a large one only rank 0.
bool is_asked() {
  constexpr int most_ranks = 64;
  int started = 0, ended = 0, rank = 0, ranks = 1;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (!started || ended) return true;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return rank == 0 || ranks <= most_ranks;
}

[[noreturn]] void refuse(const std::string& path, int status) {
  const int signal = status - 128;
  const std::string how = signal == SIGXCPU || signal == SIGKILL ? "does not come to an end in it"
                                                                 : fmt::format("ended on it ({})", strsignal(signal));
  throw InputError(
      fmt::format("'{}' is damaged: the HDF5 library {}, in a process that was to open it first; copy it again from "
                  "its source",
                  path, how));
}

}  // namespace

void trust_file(const std::string& path) {
  Identity file;
  if (!identify(path, file)) return;
  const std::lock_guard lock(trusted().guard);
  trusted().files.insert(file);
}

bool is_trusted_file(const std::string& path) {
  Identity file;
  return identify(path, file) && is_trusted(file);
}

void probe_hdf5(const std::vector<std::string>& paths) {
  std::vector<std::string> unknown;
  Identity file;
  for (const auto& path : paths)
    if (identify(path, file) && !is_trusted(file)) unknown.push_back(path);
  if (unknown.empty() || !is_asked()) return;
  const std::string looks = program();
  constexpr std::size_t at_once = 500;  // the length of a command line ends
  for (std::size_t from = 0; !looks.empty() && from < unknown.size(); from += at_once) {
    std::vector<std::string> words{looks};
    const auto first = unknown.begin() + static_cast<std::ptrdiff_t>(from);
    words.insert(words.end(), first, first + static_cast<std::ptrdiff_t>(std::min(at_once, unknown.size() - from)));
    const ChildOutput said = output_of(words);
    // One line for each file that was started. Exit codes of the prober itself (it could not be started) concern no
    // file.
    const auto begun = static_cast<std::size_t>(std::count(said.text.begin(), said.text.end(), '\n'));
    if (said.status > 128) refuse(unknown[from + std::clamp<std::size_t>(begun, 1, words.size() - 1) - 1], said.status);
  }
  for (const auto& path : unknown) trust_file(path);
}

}  // namespace cambium::io
