#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace cambium::io {

/// A process, distinguishable from a later one with the same PID.
struct ProcessName {
  long pid = 0;
  long long started = 0;  ///< ticks since boot; 0 if the system does not provide it
};
ProcessName this_process();
ProcessName parent_process();
/// True if it is still running on this machine; a zombie is not.
bool is_alive(const ProcessName& process);

/// Who writes to a run directory: the content of its file `run.lock`.
struct LockHolder {
  std::string token;      ///< of this one lock, drawn at random
  std::string host;       ///< name of the machine
  std::string machine;    ///< its boot ID and PID namespace: PIDs are comparable only within one
  ProcessName process;    ///< rank 0
  ProcessName launcher;   ///< the process that started the ranks; PID 0 for a run without a launcher
  std::string since;      ///< UTC
  std::string directory;  ///< absolute, as seen by this machine
  std::string command;
};
std::string lock_text(const LockHolder& holder);
/// Lines that are missing leave their members empty.
LockHolder read_holder(const std::string& text);

/// Locks a directory for one run. The file is created by a hard link, which is atomic on network file systems, too.
/// During its lifetime a thread renews the file's time as a heartbeat and checks whether the file is still this lock's
/// own.
///
/// A lock is taken over if its process has ended on this machine, if it was written on another machine without a
/// heartbeat for `silent` seconds (by the clock of the file system; a younger one is watched until then), if it is a
/// copy of a lock elsewhere, and if the launcher of its ranks is gone: then the new holder waits until that process has
/// noticed and ended.
class RunLock {
 public:
  struct Limits {
    double look = 1.0;     ///< s between two checks of the file
    double beat = 15.0;    ///< s between two heartbeats
    double silent = 60.0;  ///< s without a heartbeat after which another machine's lock is stale
    double leave = 20.0;   ///< s after which a run that lost its directory is ended wherever it is
    double wait = 60.0;    ///< s for which the end of a run without launcher is awaited
  };
  /// `command`: the command line; `launched`: a launcher started the ranks; `say` receives what became of an older
  /// lock.
  /// InputError when another run holds the directory or it cannot be written to.
  RunLock(const std::string& directory, const std::string& command, bool launched,
          const std::function<void(const std::string&)>& say, Limits limits);
  RunLock(const std::string& directory, const std::string& command, bool launched,
          const std::function<void(const std::string&)>& say)
      : RunLock(directory, command, launched, say, Limits{}) {}
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Empty while this run holds the directory, else the reason. `look`: reads the file now instead of using the last
  /// check.
  std::string lost(bool look) const;

 private:
  enum class Verdict { alive, gone, orphan };
  bool claim();
  Verdict judge(const LockHolder& other, std::string& why) const;
  bool is_silent(const LockHolder& other) const;
  void displace(const LockHolder& other) const;
  void wait_for_end(const LockHolder& other, const std::function<void(const std::string&)>& say);
  void watch();
  void release();
  bool mine() const;
  [[noreturn]] void refuse(const LockHolder& other) const;

  std::string directory_, path_;
  LockHolder own_;
  Limits limits_;
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool closing_ = false;
  std::thread watcher_;
};

}  // namespace cambium::io
