#include "core/io/run_lock.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/platform.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::io {

namespace fs = std::filesystem;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path);
  std::string text;  // getline(), since a bare buffer throws if a file system returns an error
  std::getline(in, text, '\0');
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Boot ID and PID namespace: a container has its own PIDs.
std::string machine_name() {
  char space[128] = "";
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) space[0] = 0;
  return first_line(content("/proc/sys/kernel/random/boot_id")) + " " + space;
}

std::string drawn_token() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

using Line = std::pair<const char*, std::string LockHolder::*>;
const std::vector<Line>& lines() {
  static const std::vector<Line> all{{"token", &LockHolder::token},         {"host", &LockHolder::host},
                                     {"machine", &LockHolder::machine},     {"since", &LockHolder::since},
                                     {"directory", &LockHolder::directory}, {"command", &LockHolder::command}};
  return all;
}

void write_new(const std::string& path, const std::string& text, const std::string& named) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file < 0) refuse_write(named, std::strerror(errno));
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  const int failed = errno;
  ::close(file);
  if (whole) return;
  ::unlink(path.c_str());
  refuse_write(named, std::strerror(failed));
}

/// Modification time of a file in seconds, by the clock of its file system; -1 without the file. It is opened because
/// network file systems query their server only then.
double changed_at(const std::string& path) {
  struct stat info {};
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) return -1.0;
  const bool known = fstat(file, &info) == 0;
  ::close(file);
  return known ? static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec) : -1.0;
}

}  // namespace

std::string lock_text(const LockHolder& h) {
  std::string text;
  for (const auto& [name, member] : lines()) text += fmt::format("{}: {}\n", name, first_line(h.*member));
  return text + fmt::format("process: {} {}\nlauncher: {} {}\n", h.process.pid, h.process.started, h.launcher.pid,
                            h.launcher.started);
}

LockHolder read_holder(const std::string& text) {
  LockHolder h;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon), value = line.substr(colon + 2);
    for (const auto& [known, member] : lines())
      if (name == known) h.*member = value;
    ProcessName* process = name == "process" ? &h.process : name == "launcher" ? &h.launcher : nullptr;
    if (process) std::istringstream(value) >> process->pid >> process->started;
  }
  return h;
}

RunLock::RunLock(const std::string& directory, const std::string& command, bool launched,
                 const std::function<void(const std::string&)>& say, Limits limits)
    : directory_(directory), path_((fs::path(directory) / "run.lock").string()), limits_(limits) {
  own_ = {drawn_token(),
          host_name(),
          machine_name(),
          this_process(),
          launched ? parent_process() : ProcessName{},
          fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
          fs::absolute(directory).lexically_normal().string(),
          command};
  LockHolder orphan;
  for (int attempt = 0; !claim(); ++attempt) {
    const LockHolder other = read_holder(content(path_));
    if (!fs::exists(path_) || (other.token.empty() && attempt < 3)) continue;  // it may have come or gone since
    std::string why;
    const Verdict verdict = judge(other, why);
    if (verdict == Verdict::alive || attempt > 20) refuse(other);
    if (verdict == Verdict::orphan) orphan = other;
    if (!why.empty()) say(why);
    displace(other);
  }
  watcher_ = std::thread([this] { watch(); });
  if (orphan.process.pid == 0) return;
  try {
    wait_for_end(orphan, say);
  } catch (...) {
    release();
    throw;
  }
}

RunLock::~RunLock() { release(); }

void RunLock::release() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    wake_.notify_one();
  }
  watcher_.join();
  if (mine()) ::unlink(path_.c_str());
}

/// One attempt. The link is the atomic step; on some network file systems its reply may be lost, and the link count of
/// the file shows whether it was made.
bool RunLock::claim() {
  const std::string candidate = path_ + "." + own_.token;
  const std::string text = lock_text(own_);
  write_new(candidate, text, path_);
  bool done = ::link(candidate.c_str(), path_.c_str()) == 0;
  const int failed = errno;
  struct stat info {};
  if (!done && ::stat(candidate.c_str(), &info) == 0 && info.st_nlink == 2) done = true;
  ::unlink(candidate.c_str());
  if (done || failed == EEXIST) return done;
  if (fs::exists(path_)) return false;
  write_new(path_, text, path_);  // a file system without hard links
  return true;
}

RunLock::Verdict RunLock::judge(const LockHolder& other, std::string& why) const {
  std::error_code ignored;
  const fs::path elsewhere = fs::path(other.directory) / "run.lock";
  if (!other.directory.empty() && other.directory != own_.directory && fs::exists(elsewhere, ignored) &&
      !fs::equivalent(elsewhere, path_, ignored) && read_holder(content(elsewhere.string())).token == other.token)
    return Verdict::gone;  // a copy of a directory whose run continues there
  if (other.machine == own_.machine && other.host == own_.host && other.process.pid > 0) {
    if (!is_alive(other.process)) return Verdict::gone;
    if (other.launcher.pid == 0 || is_alive(other.launcher)) return Verdict::alive;
    why = fmt::format(
        "process {} writes to '{}', but its parent process is gone: this run takes over and waits for its end",
        other.process.pid, directory_);
    return Verdict::orphan;
  }
  if (!is_silent(other)) return Verdict::alive;
  why = fmt::format("the run on {} (process {}) that held '{}' gives no sign of life: taken over",
                    other.host.empty() ? "an unknown machine" : other.host, other.process.pid, directory_);
  return Verdict::gone;
}

/// Watches the time of the file until it changes or has stayed long enough.
bool RunLock::is_silent(const LockHolder& other) const {
  const std::string probe = path_ + "." + own_.token;
  write_new(probe, "", path_);
  const double seen = changed_at(path_), age = changed_at(probe) - seen;
  ::unlink(probe.c_str());
  const auto start = std::chrono::steady_clock::now();
  const auto waited = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  while (std::max(age, 0.0) + waited() < limits_.silent) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.25, 0.1 * limits_.silent)));
    if (changed_at(path_) != seen || read_holder(content(path_)).token != other.token) return false;
  }
  return true;
}

/// Removes a lock found stale. Others may have found the same: who holds the flock() of that very file removes it, the
/// rest find another file, or none, under its name. The lock of a run that came meanwhile is never touched.
void RunLock::displace(const LockHolder& other) const {
  int file = ::open(path_.c_str(), O_RDWR);  // NFS locks no file that is open for reading alone
  if (file < 0) file = ::open(path_.c_str(), O_RDONLY);
  if (file < 0) return;
  // Without flock() (a file system mounted without it) the file may be replaced between the comparison and its removal.
  while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat held {
  }, named{};
  const bool same = ::fstat(file, &held) == 0 && ::stat(path_.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
                    held.st_ino == named.st_ino;
  if (same && read_holder(content(path_)).token == other.token) ::unlink(path_.c_str());
  ::close(file);
}

void RunLock::wait_for_end(const LockHolder& other, const std::function<void(const std::string&)>& say) {
  const auto start = std::chrono::steady_clock::now();
  while (is_alive(other.process)) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > limits_.wait)
      throw InputError(
          fmt::format("process {} has written to '{}', its parent process is gone, and it does not end: end it with "
                      "`kill -9 {}`, then continue",
                      other.process.pid, directory_, other.process.pid));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  say(fmt::format("process {} has ended", other.process.pid));
}

void RunLock::refuse(const LockHolder& other) const {
  const bool here = other.host == own_.host && other.machine == own_.machine;
  const std::string who = fmt::format("'{}' is in use: process {} on {} has been writing to it since {} (`{}`)",
                                      directory_, other.process.pid,
                                      here                 ? "this machine"
                                      : other.host.empty() ? "an unknown machine"
                                                           : other.host,
                                      other.since, other.command);
  if (here)
    throw InputError(
        fmt::format("{}; wait for its end, stop it with `kill {}`, or write elsewhere with run.directory=PATH", who,
                    other.process.pid));
  throw InputError(fmt::format("{}; wait for its end, stop it there, or write elsewhere with run.directory=PATH", who));
}

/// An unreadable file is inconclusive: a network file system may be away for a while.
bool RunLock::mine() const {
  const int file = ::open(path_.c_str(), O_RDONLY);
  if (file < 0) return errno != ENOENT;
  char text[4096];
  const ssize_t n = ::read(file, text, sizeof text);
  ::close(file);
  return n <= 0 || read_holder(std::string(text, static_cast<std::size_t>(n))).token == own_.token;
}

std::string RunLock::lost(bool look) const {
  if (!lost_ && !(look && !mine())) return {};
  const LockHolder now = read_holder(content(path_));
  const std::string who = now.token.empty() ? "its run.lock was removed"
                                            : fmt::format("process {} on {} has taken it over (`{}`)", now.process.pid,
                                                          now.host, now.command);
  return fmt::format("this run no longer holds '{}': {}; it stops, and what is there belongs to the other run",
                     directory_, who);
}

void RunLock::watch() {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](double s) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  auto beat = Clock::now();
  Clock::time_point lost_at;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, seconds(limits_.look), [this] { return closing_; })) {
    if (!lost_ && !mine()) {
      lost_ = true;
      lost_at = Clock::now();
    }
    if (lost_ && Clock::now() - lost_at > seconds(limits_.leave)) {
      // Whatever the run is doing, it may not write: files appear under their names complete or not at all.
      std::fprintf(stderr, "cambium: %s\n", lost(false).c_str());
      std::fflush(stderr);
      std::_Exit(static_cast<int>(ExitCode::bad_input));
    }
    if (lost_ || Clock::now() - beat < seconds(limits_.beat)) continue;
    beat = Clock::now();
    utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
  }
}

}  // namespace cambium::io
