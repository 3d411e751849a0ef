#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "core/io/run_lock.hpp"

namespace cambium::io {
namespace {

struct Status {
  bool known = false, ended = false;
  long long started = 0;
};

bool gone(long pid) { return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

/// From /proc/PID/stat: the state is the first word after the name in brackets, the start the twentieth (man 5 proc).
Status status_of(long pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;  // getline(), since a bare buffer throws if a process ends between opening and reading
  std::getline(in, text, '\0');
  const auto end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream words(text.substr(end + 1));
  std::string word, state;
  words >> state;
  for (int k = 0; k < 19; ++k) words >> word;
  Status out{true, state == "Z" || state == "X", 0};
  out.started = std::strtoll(word.c_str(), nullptr, 10);
  return out;
}

}  // namespace

ProcessName this_process() { return {getpid(), status_of(getpid()).started}; }

ProcessName parent_process() { return {getppid(), status_of(getppid()).started}; }

bool is_alive(const ProcessName& process) {
  if (process.pid <= 0 || gone(process.pid)) return false;
  const Status status = status_of(process.pid);
  if (!status.known) return !gone(process.pid);
  return !status.ended && (process.started == 0 || status.started == 0 || status.started == process.started);
}

}  // namespace cambium::io
