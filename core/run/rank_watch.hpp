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

/// Notices a rank that has died (killed by the system, a crash, a power cut of its container) while it should be
/// working. The ranks of one machine watch each other in a ring: a thread of each sleeps until the process of the next
/// one ends. Its first witness says which rank it was and how the run goes on, on standard error. A launcher then ends
/// the job; where it does not, all ranks of the machine end themselves after a while, and MPI is told to abort the
/// others. Where several are dead, one that had been asked to stop before is not the cause: launchers do so.
///
/// A machine with one rank has no witness there: its launcher speaks alone. Without shared memory nobody watches.
class RankWatch {
 public:
  struct Limits {
    double look = 1.0;    ///< s between two looks at what others have noticed
    double leave = 10.0;  ///< s that the launcher has before the ranks end themselves
  };
  /// Collective. `resume` gives the words that follow "the job cannot go on"; the thread calls it.
  RankWatch(const Comm& comm, std::function<std::string()> resume, Limits limits);
  RankWatch(const Comm& comm, std::function<std::string()> resume) : RankWatch(comm, std::move(resume), Limits{}) {}
  /// Not collective: this rank stops in order, for whatever reason, and nobody is to miss it.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  struct Note {
    std::atomic<int> left;   ///< this rank has stopped in order
    std::atomic<int> asked;  ///< a signal asked this rank to stop
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
  int descriptor_ = -1;     ///< that tells of the next one's end; -1 where the system has none and it is looked for
  int wake_[2] = {-1, -1};  ///< ends of a pipe: closing the second one wakes the thread
  MPI_Comm job_ = MPI_COMM_NULL;
  std::unique_ptr<SharedMemory> notes_;
  std::thread thread_;
};

}  // namespace cambium
