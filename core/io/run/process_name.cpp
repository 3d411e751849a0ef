#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/io/run/run_lock.hpp"

namespace cambium::io {
namespace {

struct Status {
  bool known = false, ended = false;
  long long started = 0;
};

/// From /proc/PID/stat: the state is the first word behind the name in brackets, the start the twentieth (man 5 proc).
Status status_of(long pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
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
  if (process.pid <= 0 || (kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH)) return false;
  const Status status = status_of(process.pid);
  if (!status.known) return true;
  return !status.ended && (process.started == 0 || status.started == 0 || status.started == process.started);
}

}  // namespace cambium::io
