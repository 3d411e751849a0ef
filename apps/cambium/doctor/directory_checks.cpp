#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "apps/cambium/doctor/parts.hpp"
#include "apps/cambium/profile/gathered_text.hpp"
#include "core/base/platform.hpp"
#include "core/base/timing.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/run_lock.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/memory.hpp"

namespace cambium::doctor {

namespace fs = std::filesystem;

namespace {

void check_disk(const std::string& scratch, const Comm& comm, Findings& findings) {
  constexpr std::size_t bytes = std::size_t{32} << 20;
  double left = 0.0, seconds = 0.0;
  std::string failed;
  if (comm.root()) {
    struct statvfs info {};
    if (statvfs(scratch.c_str(), &info) == 0)
      left = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
    const double start = wall_seconds();
    try {
      io::write_file_atomically((fs::path(scratch) / "room").string(), std::string(bytes, 'x'));
    } catch (const InputError& error) {
      failed = error.what();
    }
    seconds = wall_seconds() - start;
  }
  comm.broadcast(failed);
  if (!failed.empty())
    return findings.add(Mark::wrong, "disk", failed, "give run.directory a location with free space");
  findings.judge(
      left > 1e9, Mark::note, "disk",
      fmt::format("{} free; 34 MB reached it in {:.2g} s ({:.0f} MB/s)", bytes_text(left), seconds,
                  1e-6 * static_cast<double>(bytes) / seconds),
      "less than 1 GB is little for checkpoints and trajectories: run.directory=PATH chooses another location");
}

/// Ranks that do not see a file that rank 0 has just brought to the disk.
void check_seen(const std::string& scratch, const Comm& comm, Findings& findings) {
  const std::string path = (fs::path(scratch) / "seen").string();
  io::on_root(comm, [&] { io::write_file_atomically(path, "seen"); });
  std::string blind;
  for (int attempt = 0; attempt < 40; ++attempt) {  // network file systems cache negative lookups for a while
    std::ifstream in(path);
    std::string word;
    blind = in >> word && word == "seen" ? "" : host_name();
    if (comm.max(blind.empty() ? 0 : 1) == 0) break;
    usleep(100000);
  }
  const auto hosts = gathered_text(comm, blind);
  std::string first;
  std::size_t lost = 0;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    if (!hosts[rank].empty() && ++lost == 1) first = fmt::format("rank {} on {}", rank, hosts[rank]);
  comm.broadcast(first);
  findings.judge(first.empty(), Mark::wrong, "seen by all",
                 first.empty() ? fmt::format("all {} ranks read what rank 0 wrote", comm.size())
                               : fmt::format("{} cannot read what rank 0 wrote in '{}', and {} more", first,
                                             fs::path(scratch).parent_path().string(), lost == 0 ? 0 : lost - 1),
                 "put run.directory on a file system that all machines share");
}

/// A directory that is held must be refused to a second run: from this machine, and from the last one.
void check_locks(const std::string& scratch, const Machines& machines, const Comm& comm, Findings& findings) {
  const std::string directory = (fs::path(scratch) / "held").string();
  const auto silent = [](const std::string&) {};
  io::RunLock::Limits limits;
  limits.look = limits.beat = 0.25;
  limits.silent = 5.0;
  std::unique_ptr<io::RunLock> held;
  io::on_root(comm, [&] {
    fs::create_directories(directory);
    held = std::make_unique<io::RunLock>(directory, "cambium doctor", comm.size() > 1, silent, limits);
  });
  const bool tries = machines.here.root() && (machines.number == machines.count - 1 || machines.number == 0);
  bool refused = true;
  if (tries) {
    try {
      const io::RunLock second(directory, "cambium doctor, again", comm.size() > 1, silent, limits);
      refused = false;
    } catch (const InputError&) {
    }
  }
  const bool good = comm.min(refused ? 1.0 : 0.0) > 0.0;
  findings.judge(
      good, Mark::wrong, "locks",
      good ? fmt::format("a second run is refused a directory in use{}",
                         machines.count > 1 ? ", from another machine, too" : "")
           : "a second run was given a directory in use, expected a refusal",
      "two runs may destroy each other's files here: use a directory of its own for each, on another file system");
}

/// Checks a file with a checksum, as in checkpoints: sound as written, and damaged after one bit flip.
void check_seals(const std::string& scratch, const Comm& comm, Findings& findings) {
  const std::string path = (fs::path(scratch) / "sealed.h5").string();
  io::on_root(comm, [&] {
    io::write_sealed_h5(path, [](io::File& file) { file.write("/numbers", std::vector<double>(4096, 1.5)); });
  });
  const bool whole = io::seal_of(path, comm) == io::Seal::sound;
  io::on_root(comm, [&] {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(8192);
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(8192);
    file.put(byte);
  });
  comm.barrier();
  const bool noticed = io::seal_of(path, comm) == io::Seal::broken;
  findings.judge(whole && noticed, Mark::wrong, "checkpoints",
                 whole && noticed ? "checksums hold, and one changed bit is noticed"
                                  : fmt::format("a file as written {} its checksum, and one changed bit is {}",
                                                whole ? "fits" : "does not fit", noticed ? "noticed" : "not noticed"),
                 "this file system does not give back what was written: use another one (run.directory)");
}

}  // namespace

void check_directory(const std::string& scratch, const Machines& machines, Context& context, Findings& findings) {
  findings.heading(fmt::format("the directory '{}'", fs::path(scratch).parent_path().string()));
  check_disk(scratch, context.comm, findings);
  check_seen(scratch, context.comm, findings);
  check_locks(scratch, machines, context.comm, findings);
  check_seals(scratch, context.comm, findings);
}

}  // namespace cambium::doctor
