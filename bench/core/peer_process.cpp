#include "bench/core/peer_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>

#include "core/base/child.hpp"

namespace cambium {

PeerProcess::PeerProcess(const std::vector<std::string>& words) {
  std::signal(SIGPIPE, SIG_IGN);  // a reference process that died must not end this one
  std::array<int, 2> in{}, out{};
  // Closed on exec: a second child that inherited the input of this one would keep it waiting forever.
  if (pipe2(in.data(), O_CLOEXEC) != 0) return;
  if (pipe2(out.data(), O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return;
  }
  std::vector<std::string> arguments = words, variables = environment_of_no_rank();
  variables.insert(variables.begin(), {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"});
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  for (int end : {in[0], in[1], out[0], out[1]}) posix_spawn_file_actions_addclose(&actions, end);
  if (posix_spawnp(&child_, arguments.front().c_str(), &actions, nullptr, null_ended(arguments).data(),
                   null_ended(variables).data()) != 0)
    child_ = 0;
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

PeerProcess::~PeerProcess() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

std::optional<std::string> PeerProcess::ask(const std::string& line) {
  if (child_ <= 0) return std::nullopt;
  const std::string text = line + "\n";
  if (write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return std::nullopt;
  std::string answer;
  for (char c = 0; read(from_, &c, 1) == 1;) {
    if (c == '\n') return answer;
    answer.push_back(c);
  }
  return std::nullopt;
}

}  // namespace cambium
