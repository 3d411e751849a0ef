#include "core/io/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using io::LockHolder;
using io::RunLock;

namespace {

const RunLock::Limits quick{.look = 0.01, .beat = 0.02, .silent = 100.0, .leave = 60.0, .wait = 30.0};

struct Place {
  Scratch scratch{"run_lock"};
  std::string folder = scratch.file("run"), file = folder + "/run.lock";
  std::vector<std::string> said;
  Place() { std::filesystem::create_directories(folder); }

  std::unique_ptr<RunLock> taken(bool launched = false, RunLock::Limits limits = quick) {
    return std::make_unique<RunLock>(
        folder, "cambium run new.yaml", launched, [this](const std::string& text) { said.push_back(text); }, limits);
  }
  std::string refusal(RunLock::Limits limits = quick) {
    try {
      taken(false, limits);
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  }
  std::string text() const {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const LockHolder& holder) const { std::ofstream(file) << io::lock_text(holder); }
  /// Sets the time of the file back.
  void age(long seconds) const {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const timespec times[2] = {{now.tv_sec - seconds, 0}, {now.tv_sec - seconds, 0}};
    REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
  }
  /// A lock as this machine would write it.
  LockHolder sample() {
    const auto lock = taken();
    return io::read_holder(text());
  }
};

pid_t child(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  return pid;
}

int status_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <class Condition>
bool soon(Condition&& condition) {
  for (int k = 0; k < 3000 && !condition(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

}  // namespace

TEST_CASE("one run holds a directory until it ends") {
  Place place;
  {
    const auto lock = place.taken();
    CHECK(lock->lost(true).empty());
    const auto holder = io::read_holder(place.text());
    CHECK(holder.process.pid == getpid());
    CHECK(
        place.refusal() ==
        fmt::format("'{}' is in use: process {} on this machine has been writing to it since {} (`cambium run "
                    "new.yaml`); wait for its end, stop it with `kill {}`, or write elsewhere with run.directory=PATH",
                    place.folder, getpid(), holder.since, getpid()));
  }
  CHECK_FALSE(std::filesystem::exists(place.file));
  CHECK(std::filesystem::is_empty(place.folder));
  CHECK(place.refusal() == "taken");
  CHECK(place.said.empty());
}

TEST_CASE("the lock of a process that has ended is nobody's") {
  Place place;
  LockHolder holder = place.sample();
  const pid_t ended = child([] { return 0; });
  SECTION("waited for") { status_of(ended), holder.process = {ended, 0}; }
  SECTION("not yet waited for") {
    CHECK(soon([&] { return !io::is_alive({ended, 0}); }));
    holder.process = {ended, 0};
  }
  SECTION("its number given to another one") { holder.process = {getpid(), io::this_process().started - 5}; }
  place.write(holder);
  CHECK(place.refusal() == "taken");
  CHECK(std::filesystem::is_empty(place.folder));
  waitpid(ended, nullptr, WNOHANG);
}

TEST_CASE("the lock of another machine holds as long as it gives signs of life") {
  Place place;
  LockHolder holder = place.sample();
  holder.host = "node17";
  holder.machine = "other";
  holder.process = {4711, 12};
  place.write(holder);
  {
    std::atomic<bool> ended{false};
    std::thread signs([&] {
      for (int k = 0; !ended; ++k) {
        place.age(k % 2);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    CHECK(place.refusal() ==
          fmt::format("'{}' is in use: process 4711 on node17 has been writing to it since {} (`cambium run "
                      "new.yaml`); wait for its end, stop it there, or write elsewhere with run.directory=PATH",
                      place.folder, holder.since));
    ended = true;
    signs.join();
  }
  SECTION("its last sign is long ago") { place.age(200); }
  SECTION("none comes while it is watched") { place.age(99); }
  const auto lock = place.taken();
  REQUIRE(place.said.size() == 1);
  CHECK(place.said[0] ==
        fmt::format("the run on node17 (process 4711) that held '{}' gives no sign of life: taken over", place.folder));
  place.age(60);
  struct stat info {};
  CHECK(soon([&] { return stat(place.file.c_str(), &info) == 0 && std::time(nullptr) - info.st_mtime < 30; }));
}

TEST_CASE("a copied folder is not held by the run of the original") {
  Place place;
  const auto lock = place.taken();
  const std::string copy = place.scratch.file("copy");
  std::filesystem::copy(place.folder, copy, std::filesystem::copy_options::recursive);
  RunLock other(
      copy, "cambium restart copy", false, [](const std::string&) {}, quick);
  CHECK(other.lost(true).empty());
  CHECK(lock->lost(true).empty());
}

TEST_CASE("a run that lost its directory is told so and leaves the lock to the other") {
  Place place;
  auto lock = place.taken();
  LockHolder other = io::read_holder(place.text());
  SECTION("to another run") {
    other.token = "another";
    other.command = "cambium restart run";
    other.process.pid = 4711;
    place.write(other);
    const std::string text = fmt::format(
        "this run no longer holds '{}': process 4711 on {} has taken it over (`cambium restart run`); it stops, and "
        "what is there belongs to the other run",
        place.folder, other.host);
    CHECK(lock->lost(true) == text);
    CHECK(soon([&] { return !lock->lost(false).empty(); }));
    CHECK(lock->lost(false) == text);
    lock.reset();
    CHECK(io::read_holder(place.text()).token == "another");
  }
  SECTION("to a hand that removed it") {
    std::filesystem::remove(place.file);
    CHECK(lock->lost(true) == fmt::format("this run no longer holds '{}': its run.lock was removed; it stops, and what "
                                          "is there belongs to the other run",
                                          place.folder));
  }
}

TEST_CASE("a run that goes on without its directory is ended") {
  Place place;
  const pid_t deaf = child([&] {
    RunLock::Limits limits = quick;
    limits.leave = 0.05;
    close(STDERR_FILENO);
    const auto lock = place.taken(false, limits);
    std::this_thread::sleep_for(std::chrono::minutes(5));
    return 0;
  });
  CHECK(soon([&] { return std::filesystem::exists(place.file); }));
  std::filesystem::remove(place.file);
  CHECK(status_of(deaf) == 2);
}

TEST_CASE("a run whose launcher is gone is taken over, and the next one waits for its end") {
  Place place;
  const std::string ready = place.scratch.file("ready"), leave = place.scratch.file("leave"),
                    last = place.scratch.file("last");
  bool stubborn = false;
  SECTION("it notices") {}
  SECTION("it does not") { stubborn = true; }
  const pid_t launcher = child([&] {
    child([&] {
      RunLock::Limits limits = quick;
      const auto lock = place.taken(true, limits);
      std::ofstream(ready) << getpid() << std::flush;
      while (stubborn || lock->lost(false).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::ofstream(last) << "written";
      return 0;
    });
    while (!std::filesystem::exists(leave)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 0;
  });
  CHECK(soon([&] { return std::filesystem::exists(ready); }));
  CHECK(place.refusal().find(" is in use: ") != std::string::npos);  // as long as the launcher lives
  std::ofstream(leave) << "now" << std::flush;
  CHECK(status_of(launcher) == 0);
  long orphan = 0;
  std::ifstream(ready) >> orphan;
  if (stubborn) {
    RunLock::Limits limits = quick;
    limits.wait = 0.2;
    CHECK(place.refusal(limits) ==
          fmt::format("process {} has written to '{}', its parent process is gone, and it does "
                      "not end: end it with `kill -9 {}`, then continue",
                      orphan, place.folder, orphan));
    CHECK_FALSE(std::filesystem::exists(place.file));
    kill(static_cast<pid_t>(orphan), SIGKILL);
  } else {
    const auto lock = place.taken();
    CHECK(std::filesystem::exists(last));  // everything it wrote was there before this one began
    REQUIRE(place.said.size() == 2);
    CHECK(place.said[0] ==
          fmt::format(
              "process {} writes to '{}', but its parent process is gone: this run takes over and waits for its end",
              orphan, place.folder));
    CHECK(place.said[1] == fmt::format("process {} has ended", orphan));
  }
}

TEST_CASE("of many that come at once one holds the directory") {
  for (int trial = 0; trial < 5; ++trial) {
    Place place;
    LockHolder stale = place.sample();
    const pid_t ended = child([] { return 0; });
    status_of(ended);
    stale.process = {ended, 0};
    if (trial % 2) place.write(stale);
    const std::string go = place.scratch.file("go"), done = place.scratch.file("done");
    std::vector<pid_t> all;
    const auto tried = [&](int k) { return place.scratch.file(fmt::format("tried{}", k)); };
    for (int k = 0; k < 8; ++k)
      all.push_back(child([&, k] {
        while (!std::filesystem::exists(go)) usleep(100);
        try {
          const auto lock = place.taken();
          std::ofstream(tried(k)) << "holds";
          while (!std::filesystem::exists(done)) usleep(1000);
          return lock->lost(true).empty() ? 1 : 2;
        } catch (const InputError&) {
          std::ofstream(tried(k)) << "refused";
          return 0;
        }
      }));
    std::ofstream(go) << "go";
    for (int k = 0; k < 8; ++k) CHECK(soon([&] { return std::filesystem::exists(tried(k)); }));
    std::ofstream(done) << "done";
    int holders = 0;
    for (const pid_t pid : all) {
      const int status = status_of(pid);
      CHECK((status == 0 || status == 1));
      holders += status;
    }
    CHECK(holders == 1);
  }
}

TEST_CASE("a process may end while one asks whether it lives") {
  for (int turn = 0; turn < 500; ++turn) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    const io::ProcessName name{child, 0};
    std::atomic<bool> over{false};
    std::thread asks([&] {
      while (!over) io::is_alive(name);  // its file may vanish between opening and reading
    });
    waitpid(child, nullptr, 0);
    over = true;
    asks.join();
    CHECK_FALSE(io::is_alive(name));
  }
}
