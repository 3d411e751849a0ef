#include "core/run/rank_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "core/base/error.hpp"
#include "core/base/platform.hpp"
#include "core/parallel/stop_request.hpp"

namespace cambium {

namespace {

/// Ranks with common PIDs: one machine, one PID namespace (a container has its own).
MPI_Comm one_machine(const Comm& comm) {
  MPI_Comm node = MPI_COMM_NULL, out = MPI_COMM_NULL;
  MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node);
  char space[128] = "";
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) space[0] = 0;
  MPI_Comm_split(node, static_cast<int>(std::hash<std::string>{}(space)&0x7fffffff), comm.rank(), &out);
  MPI_Comm_free(&node);
  return out;
}

/// A descriptor that becomes readable when a process has ended; -1 if the system lacks it.
int descriptor_of(long pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
#else
  (void)pid;
  return -1;
#endif
}

/// Signals are for the thread that computes.
std::thread without_signals(std::function<void()> action) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(action));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

RankWatch::RankWatch(const Comm& comm, std::function<std::string()> resume, Limits limits)
    : resume_(std::move(resume)), limits_(limits), job_(comm.handle()) {
  if (comm.size() == 1) return;
  MPI_Comm machine = one_machine(comm);
  const Comm here(machine);
  MPI_Comm_free(&machine);
  rank_ = here.rank();
  next_ = (here.rank() + 1) % here.size();
  const auto own = io::this_process();
  const auto pids = here.all_gather(own.pid), started = here.all_gather(own.started),
             ranks = here.all_gather(comm.rank());
  if (here.size() == 1) return;
  for (std::size_t r = 0; r < pids.size(); ++r)
    members_.push_back({{static_cast<long>(pids[r]), started[r]}, static_cast<int>(ranks[r])});
  notes_ = SharedMemory::make(here, sizeof(Note));  // zeroed
  if (!notes_ || pipe2(wake_, O_CLOEXEC) != 0) return;
  StopRequest::note_in(&note(rank_).asked);
  descriptor_ = descriptor_of(members_[next_].process.pid);
  thread_ = without_signals([this] { watch(); });
}

RankWatch::~RankWatch() {
  StopRequest::note_in(nullptr);
  if (notes_) note(rank_).left = 1;
  if (wake_[1] >= 0) ::close(wake_[1]);
  if (thread_.joinable()) thread_.join();
  if (wake_[0] >= 0) ::close(wake_[0]);
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// False if this rank itself was stopped, true if a rank has died, here or before another witness.
bool RankWatch::next_ends() {
  const int slice = static_cast<int>(1000.0 * (descriptor_ >= 0 ? limits_.look : std::min(limits_.look, 0.2)));
  std::array<pollfd, 2> ends{pollfd{wake_[0], POLLIN, 0}, pollfd{descriptor_, POLLIN, 0}};
  bool watching = true;
  for (;;) {
    poll(ends.data(), descriptor_ >= 0 && watching ? 2 : 1, slice);
    if (ends[0].revents != 0) return false;
    if (note(0).said != 0) return true;
    if (!watching || io::is_alive(members_[next_].process)) continue;
    if (note(next_).left == 0) return true;
    watching = false;  // it left in order
  }
}

void RankWatch::watch() {
  if (!next_ends()) return;
  int nobody = 0;
  if (note(0).said.compare_exchange_strong(nobody, rank_ + 1)) speak(rank_);
  leave();
}

/// A witness may have been killed between noticing and speaking.
void RankWatch::speak_for_the_dead() const {
  int by = note(0).said;
  const int witness = by - 1;
  if (by <= 0 || witness == rank_ || io::is_alive(members_[witness].process)) return;
  if (note(0).said.compare_exchange_strong(by, rank_ + 1)) speak(witness);
}

/// The launcher kills all ranks after the death of one, possibly including a witness: returns the next rank after the
/// witness that is dead and was not requested to stop, or else the next one.
int RankWatch::first_dead(int witness) const {
  const int size = static_cast<int>(members_.size());
  for (int k = 1; k < size; ++k) {
    const int r = (witness + k) % size;
    const Note& of = note(r);
    if (of.left == 0 && of.asked == 0 && !io::is_alive(members_[r].process)) return r;
  }
  return (witness + 1) % size;
}

void RankWatch::speak(int witness) const {
  int first = first_dead(witness);
  for (int look = 0; look < 20 && note(first).asked != 0; ++look) {  // the one that died first may still be dying
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first = first_dead(witness);
  }
  const Member& dead = members_[first];
  const std::string text = fmt::format(
      "cambium: rank {} (process {} on {}) has ended without a message: it was killed, perhaps for lack of memory, or "
      "it crashed; the job cannot continue. {}\n",
      dead.in_job, dead.process.pid, host_name(), resume_());
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  note(0).said = spoken;
}

/// The launcher has precedence. An abort from a thread may hang, and so may its callees: the alarm ends that.
void RankWatch::leave() {
  pollfd end{wake_[0], POLLIN, 0};
  const double look = std::max(0.01, std::min(limits_.look, limits_.leave));
  for (double waited = 0.0; waited < limits_.leave; waited += look) {
    if (poll(&end, 1, static_cast<int>(1000.0 * look)) != 0) return;
    speak_for_the_dead();
  }
  sigset_t all;
  sigemptyset(&all);
  signal(SIGALRM, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  alarm(5);
  if (rank_ == 0 || next_ == 0) MPI_Abort(job_, static_cast<int>(ExitCode::internal_error));
  std::_Exit(static_cast<int>(ExitCode::internal_error));
}

}  // namespace cambium
