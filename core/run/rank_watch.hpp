#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/io/run_lock.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/shared_memory.hpp"

namespace cambium {

/// Detects a rank that has died (killed by the system, a crash, a power cut of its container) while it should be
/// working. The ranks of one machine watch each other in a ring: a thread of each sleeps until the process of the next
/// one ends. The first witness reports to standard error which rank it was and how to resume the run. A launcher then
/// ends the job; otherwise all ranks of the machine exit after a while and call MPI_Abort for the others. If several
/// are dead, one that had been requested to stop is not the cause: launchers do so.
///
/// A single rank on a machine has no witness there: only its launcher reports. Without shared memory nobody watches.
class RankWatch {
 public:
  struct Limits {
    double look = 1.0;    ///< s between two checks of what others have noticed
    double leave = 10.0;  ///< s that the launcher has before the ranks end themselves
  };
  /// Collective. `resume` returns the text after "the job cannot go on"; called by the thread.
  RankWatch(const Comm& comm, std::function<std::string()> resume, Limits limits);
  RankWatch(const Comm& comm, std::function<std::string()> resume) : RankWatch(comm, std::move(resume), Limits{}) {}
  /// Not collective: this rank stops in order, for whatever reason, and is no longer watched.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  struct Note {
    std::atomic<int> left;   ///< this rank has stopped in order
    std::atomic<int> asked;  ///< a signal requested this rank to stop
    std::atomic<int> said;   ///< of the first rank: a death was noticed by this rank + 1; or `spoken`
  };
  static constexpr int spoken = -1;
  struct Member {
    io::ProcessName process;
    int in_job = 0;  ///< its rank there
  };
  Note& note(int rank) const { return *reinterpret_cast<Note*>(notes_->of(rank)); }
  void watch();
  bool next_ends();
  int first_dead(int witness) const;
  void speak(int witness) const;
  void speak_for_the_dead() const;
  void leave();

  std::function<std::string()> resume_;
  Limits limits_;
  int rank_ = 0, next_ = 0;      ///< among those of this machine
  std::vector<Member> members_;  ///< those of this machine
  int descriptor_ = -1;          ///< signals the end of the next one; -1 if the system lacks it: then polled
  int wake_[2] = {-1, -1};       ///< ends of a pipe: closing the second one wakes the thread
  MPI_Comm job_ = MPI_COMM_NULL;
  std::unique_ptr<SharedMemory> notes_;
  std::thread thread_;
};

}  // namespace cambium
