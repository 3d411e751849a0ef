#include "apps/cambium/command_line/keep_going.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/run/node_memory.hpp"

extern char** environ;

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// The command line without the supervisor's own options.
struct Supervised {
  std::vector<int> ranks;              ///< of the first start and of those after a loss
  std::vector<std::string> launcher;   ///< words before the number of ranks
  std::vector<std::string> arguments;  ///< of the program, from "run" or "restart" on
  std::int64_t copy_every = 0;         ///< steps between two copies in memory
};

std::vector<int> rank_numbers(const std::string& text) {
  std::vector<int> out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, number);
    if (error != std::errc() || end != text.data() + to || number < 1)
      throw InputError(
          fmt::format("--ranks is '{}', expected comma-separated numbers of ranks, for example --ranks 4,4,2", text));
    out.push_back(number);
    from = to + 1;
  }
  return out;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

Supervised supervised(int argc, char** argv) {
  Supervised out;
  out.launcher = {"mpirun"};
  std::string ranks;
  const auto option = [&](int& k, std::string_view name, std::string& value) {
    const std::string_view word = argv[k];
    if (word == name && k + 1 < argc) {
      value = argv[++k];
      return true;
    }
    if (!word.starts_with(std::string(name) + "=")) return false;
    value = word.substr(name.size() + 1);
    return true;
  };
  std::string launcher, copies;
  for (int k = 1; k < argc; ++k) {
    if (std::string_view(argv[k]) == keep_going_flag || option(k, "--ranks", ranks) ||
        option(k, "--launcher", launcher) || option(k, "--copy-every", copies))
      continue;
    out.arguments.emplace_back(argv[k]);
  }
  if (!launcher.empty()) out.launcher = words_of(launcher);
  if (!copies.empty()) {
    const auto [end, error] = std::from_chars(copies.data(), copies.data() + copies.size(), out.copy_every);
    if (error != std::errc() || end != copies.data() + copies.size() || out.copy_every < 0)
      throw InputError(
          fmt::format("--copy-every is '{}', but takes the number of steps between two copies in memory, for example "
                      "--copy-every 1",
                      copies));
  }
  if (ranks.empty())
    throw InputError(
        "--keep-going starts the ranks itself; give the number of ranks of the first start, and of those after a loss, "
        "for example --ranks 4,4,2");
  out.ranks = rank_numbers(ranks);
  if (out.ranks.size() < 2)
    throw InputError(
        fmt::format("--ranks {} leaves nothing to continue with after the loss of a rank; give the numbers of ranks of "
                    "later starts, too, for example --ranks {},{}",
                    ranks, ranks, ranks));
  return out;
}

/// A program of the PATH, or one with its path.
bool is_found(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  const std::string folders = path ? path : "";
  for (std::size_t from = 0; from <= folders.size();) {
    const std::size_t to = std::min(folders.find(':', from), folders.size());
    if (::access((fs::path(folders.substr(from, to - from)) / program).c_str(), X_OK) == 0) return true;
    from = to + 1;
  }
  return false;
}

void require_launcher(const Supervised& job) {
  for (const char* mark : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"})
    if (std::getenv(mark))
      throw InputError(
          "--keep-going was started by a launcher such as mpirun, but starts the ranks itself; run it without one, and "
          "give the number of ranks by --ranks");
  if (job.launcher.empty() || !is_found(job.launcher.front()))
    throw InputError(
        fmt::format("--keep-going starts the ranks by '{}', which is not in the PATH; install Open MPI's mpirun, or "
                    "name another launcher, for example --launcher \"srun\"",
                    job.launcher.empty() ? "" : job.launcher.front()));
}

volatile std::sig_atomic_t asked = 0;
volatile std::time_t asked_at = 0;
volatile pid_t running = 0;

/// Launchers pass SIGUSR1 to the ranks, which then write a checkpoint. At SIGTERM or SIGINT mpirun kills them a second
/// later, so that these are handed on as they are only when the run was asked before, as the ranks themselves do
/// (StopRequest): a second SIGINT, or a second SIGTERM after some seconds.
void hand_on(int number) {
  constexpr std::time_t patience = 5;
  const std::time_t now = std::time(nullptr);
  const bool again = asked == number && (number == SIGINT || (number == SIGTERM && now - asked_at >= patience));
  if (asked != number) asked_at = now;
  asked = number;
  if (running > 0) ::kill(running, again ? number : SIGUSR1);
}

/// Exit status; 128 + the number of a signal that ended it.
int status_of(std::vector<std::string> words) {
  pid_t child = 0;
  if (const int failed =
          posix_spawnp(&child, words.front().c_str(), nullptr, nullptr, null_ended(words).data(), environ))
    throw InputError(fmt::format("'{}' cannot be started: {}", words.front(), std::strerror(failed)));
  running = child;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> start_words(const Supervised& job, int ranks) {
  auto words = job.launcher;
  const auto name = fs::path(words.front()).filename().string();
  // Open MPI passes variables to other nodes only on request; others do so by default.
  if (name == "mpirun" || name == "mpiexec" || name == "orterun")
    words.insert(words.end(), {"-x", node_memory_variable});
  words.insert(words.end(), {"-n", fmt::format("{}", ranks), fs::read_symlink("/proc/self/exe").string()});
  return words;
}

/// True if a rank has died, as far as a launcher's status shows. The program's own codes are all below.
bool is_loss(int status) { return status > 128; }

int run_ranks(const Supervised& job, const std::string& memory) {
  auto arguments = job.arguments;
  for (std::size_t start = 0;; ++start) {
    auto words = start_words(job, job.ranks[start]);
    words.insert(words.end(), arguments.begin(), arguments.end());
    const int status = status_of(words);
    if (!is_loss(status) || asked) return status;
    if (start + 1 == job.ranks.size()) {
      std::fprintf(stderr,
                   "cambium: a rank was lost (the launcher ended with %d) and no start is left of --ranks; the run "
                   "continues from its newest checkpoint on disk by cambium restart\n",
                   status);
      return status;
    }
    const auto directory = noted_directory(memory);
    if (!directory.empty()) arguments = {"restart", directory};
    std::fprintf(stderr, "cambium: a rank was lost (the launcher ended with %d); start %zu of %zu, with %d ranks\n",
                 status, start + 2, job.ranks.size(), job.ranks[start + 1]);
  }
}

}  // namespace

std::optional<int> keep_going(int argc, char** argv) {
  const bool meant = argc > 1 && (argv[1] == std::string_view("run") || argv[1] == std::string_view("restart"));
  if (!meant ||
      std::none_of(argv + 1, argv + argc, [](const char* word) { return word == std::string_view(keep_going_flag); }))
    return {};
  try {
    const Supervised job = supervised(argc, argv);
    require_launcher(job);
    const auto memory = new_node_memory(job.copy_every);
    setenv(node_memory_variable, memory.c_str(), 1);
    for (const int number : {SIGINT, SIGTERM, SIGUSR1}) std::signal(number, hand_on);
    const int status = run_ranks(job, memory);
    std::error_code ignored;
    fs::remove_all(memory, ignored);
    return status;
  } catch (const InputError& error) {
    std::fprintf(stderr, "cambium: %s\n", error.what());
    return static_cast<int>(ExitCode::bad_input);
  }
}

}  // namespace cambium
