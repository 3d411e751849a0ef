#include <fmt/format.h>
#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>

#include "apps/cambium/doctor/parts.hpp"
#include "apps/cambium/profile/gathered_text.hpp"
#include "core/base/platform.hpp"
#include "core/base/text.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/memory.hpp"
#include "core/parallel/shared_memory.hpp"

namespace cambium::doctor {

namespace {

/// A communicator that is freed; Comm takes a copy of it.
struct OneMachine {
  MPI_Comm handle = MPI_COMM_NULL;
  explicit OneMachine(const Comm& comm) {
    MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &handle);
  }
  ~OneMachine() { MPI_Comm_free(&handle); }
  OneMachine(const OneMachine&) = delete;
  OneMachine& operator=(const OneMachine&) = delete;
};

constexpr int most_cores = 1024;
using Cores = std::array<double, most_cores>;

/// Cores that this rank may use.
Cores own_cores() {
  Cores out{};
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int k = 0; k < std::min<int>(most_cores, CPU_SETSIZE); ++k) out[k] = CPU_ISSET(k, &set) ? 1.0 : 0.0;
  return out;
}

int count(const Cores& cores) {
  return static_cast<int>(std::count_if(cores.begin(), cores.end(), [](double c) { return c > 0.0; }));
}

/// Texts of the first ranks of all machines, one text from each.
std::vector<std::string> of_machines(const Machines& machines, const Comm& comm, const std::string& text) {
  auto all = gathered_text(comm, machines.here.root() ? text : "");
  std::erase(all, "");
  return all;
}

/// "4 machines with 8 ranks", or one line per machine if they differ.
std::string distinct(const std::vector<std::string>& all) {
  std::vector<std::string> kinds;
  for (const auto& text : all)
    if (std::find(kinds.begin(), kinds.end(), text) == kinds.end()) kinds.push_back(text);
  std::string out;
  for (const auto& kind : kinds) {
    const auto n = std::count(all.begin(), all.end(), kind);
    out += fmt::format("{}{} machine{}: {}", out.empty() ? "" : "; ", n, n == 1 ? "" : "s", kind);
  }
  return out;
}

void check_cores(const Machines& machines, const Comm& comm, Findings& findings) {
  Cores all = own_cores();
  const int own = count(all);
  machines.here.sum(all);
  // Device threads take no cores.
  const int threads = HostExec().concurrency(), blas = blas_info().threads, ranks = machines.here.size(),
            cores = count(all);
  const bool narrow = machines.here.min(static_cast<double>(own)) < machines.here.max(static_cast<double>(threads));
  const auto texts = of_machines(
      machines, comm,
      fmt::format("{} rank{} x {} thread{} on {} core{}, a rank may use {} of them", ranks, ranks == 1 ? "" : "s",
                  threads, threads == 1 ? "" : "s", cores, cores == 1 ? "" : "s", own));
  const bool crowded = comm.max(ranks * threads > cores ? 1 : 0) > 0,
             many = comm.max(blas > 1 && ranks * blas > cores ? 1 : 0) > 0, bound = comm.max(narrow ? 1 : 0) > 0;
  findings.judge(
      !crowded, Mark::note, "ranks and cores", distinct(texts),
      "several threads share a core, and steps take longer: start fewer ranks, or fewer threads (OMP_NUM_THREADS)");
  findings.judge(!many, Mark::note, "BLAS threads", fmt::format("{} a rank", blas),
                 "export OPENBLAS_NUM_THREADS=1 for one rank per core");
  findings.judge(
      !bound, Mark::note, "binding",
      bound ? fmt::format("a rank is bound to fewer cores than its {} threads", threads)
            : "every thread of a rank has a core",
      "give each rank its cores (mpirun --map-by slot:PE=THREADS, srun --cpus-per-task), or OMP_NUM_THREADS=1");
}

void check_memory(const Machines& machines, const Comm& comm, Findings& findings) {
  const double left = machines.here.min(free_memory());
  const auto texts = of_machines(machines, comm,
                                 std::isfinite(left) ? fmt::format("{} free, {} for each rank", bytes_text(left),
                                                                   bytes_text(left / machines.here.size()))
                                                     : "not known");
  const bool little = comm.max(left / machines.here.size() < 256e6 ? 1 : 0) > 0;
  findings.judge(!little, Mark::note, "memory", distinct(texts),
                 "less than 256 MB a rank is little for a start: take fewer ranks of a machine");
}

/// Training reduces gradients through shared memory of a machine, and ranks use it to watch each other.
void check_shared_memory(const Machines& machines, const Comm& comm, Findings& findings) {
  constexpr std::int64_t bytes = 16 << 20;
  const bool made = SharedMemory::make(machines.here, bytes) != nullptr;
  struct statvfs info {};
  const double left =
      statvfs("/dev/shm", &info) == 0 ? static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize) : 0.0;
  const auto texts = of_machines(machines, comm, fmt::format("{} free in /dev/shm", bytes_text(left)));
  const bool all = comm.min(made ? 1.0 : 0.0) > 0.0;
  findings.judge(
      all, Mark::note, "shared memory",
      distinct(texts) + (all ? ", 16 MB a rank made"
                             : fmt::format(", 16 MB for each of {} ranks cannot be had", machines.here.size())),
      "messages go through MPI instead, slower, and a rank that dies is named by the launcher alone: give /dev/shm "
      "room (docker run --shm-size=1g, --ipc=host)");
}

/// Seconds by which the clock of `other` goes before that of rank 0, by the quickest of a few questions. On both.
double skew(const Comm& comm, int other) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  double best = 0.0, shortest = 1e30;
  for (int k = 0; k < 8; ++k) {
    double theirs = 0.0;
    if (comm.root()) {
      const double asked = now();
      MPI_Send(nullptr, 0, MPI_DOUBLE, other, 7, comm.handle());
      MPI_Recv(&theirs, 1, MPI_DOUBLE, other, 7, comm.handle(), MPI_STATUS_IGNORE);
      const double answered = now();
      if (answered - asked < shortest) {
        shortest = answered - asked;
        best = theirs - 0.5 * (asked + answered);
      }
    } else {
      MPI_Recv(nullptr, 0, MPI_DOUBLE, 0, 7, comm.handle(), MPI_STATUS_IGNORE);
      theirs = now();
      MPI_Send(&theirs, 1, MPI_DOUBLE, 0, 7, comm.handle());
    }
  }
  return best;
}

void check_clocks(const Comm& comm, Findings& findings) {
  double worst = 0.0;
  int where = 0;
  for (int other = 1; other < comm.size(); ++other) {
    if (!comm.root() && comm.rank() != other) continue;
    const double found = skew(comm, other);
    if (std::abs(found) > std::abs(worst)) {
      worst = found;
      where = other;
    }
  }
  const auto hosts = gathered_text(comm, host_name());
  const bool good = comm.max(comm.root() && std::abs(worst) > 1.0 ? 1 : 0) == 0;
  findings.judge(
      good, Mark::note, "clocks",
      fmt::format("rank {}{} differs most from rank 0, by {:.2g} s; less than 1 s is expected", where,
                  hosts.empty() ? "" : " on " + hosts[where], worst),
      "times in files and logs of this job do not fit together: have the clocks of the machines set (chronyd)");
}

}  // namespace

Machines::Machines(const Comm& comm) : here(OneMachine(comm).handle) {
  const auto first = comm.all_gather(here.root() ? 1 : 0);
  count = 0;
  std::int64_t own = here.root() ? std::count(first.begin(), first.begin() + comm.rank(), 1) : 0;
  MPI_Bcast(&own, 1, MPI_INT64_T, 0, here.handle());
  number = static_cast<int>(own);
  count = static_cast<int>(std::count(first.begin(), first.end(), 1));
}

void check_machines(const Machines& machines, Context& context, Findings& findings) {
  const Comm& comm = context.comm;
  findings.heading("this job");
  check_cores(machines, comm, findings);
  check_memory(machines, comm, findings);
  check_shared_memory(machines, comm, findings);
  if (comm.size() > 1) check_clocks(comm, findings);
}

}  // namespace cambium::doctor
