// The search engine on any number of ranks, with evaluators that cost nothing.
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "core/train/tune/policy.hpp"
#include "core/train/tune/search.hpp"
#include "plugins/podlstm/tasks/search.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;
using namespace cambium::tune;

namespace {

using Found = cambium::podlstm::Outcome;

/// Ten decisions of four choices, of which the last changes nothing; the reward counts how many are 2.
SearchSpace small_space() {
  SearchSpace s;
  s.choices.assign(10, 4);
  s.canonical = [](const Genome& g) { return genome_text({g.begin(), g.end() - 1}); };
  return s;
}

Found count_twos(const Job& job) {
  Found o;
  for (std::size_t k = 0; k + 1 < job.genome.size(); ++k) o.reward += job.genome[k] == 2;
  o.epochs = o.best_epoch = 1;
  return o;
}

SearchOptions options(std::int64_t trials, Strategy strategy) {
  SearchOptions o;
  o.trials = trials;
  o.strategy.strategy = strategy;
  o.strategy.population = 20;
  o.strategy.sample = 6;
  o.log_every = 1 << 20;
  return o;
}

struct Run : Stage {
  std::optional<Journal> journal;
  Run() { reset(); }
  void reset() {
    if (comm.root()) journal.emplace(file("journal.h5"), "test", context);
  }
  SearchReport search(const SearchOptions& o, const Evaluate& evaluate) {
    Search s(small_space(), o, journal ? &*journal : nullptr, evaluate, context);
    tasks::WorkGroups groups(comm, 1);
    CHECK(s.run(groups));
    comm.barrier();
    return s.report();
  }
};

void each_number_once(const std::vector<Trial>& trials, std::int64_t n) {
  std::set<std::int64_t> numbers;
  for (const auto& t : trials) numbers.insert(t.number);
  CHECK(std::ssize(trials) == n);
  CHECK(std::ssize(numbers) == n);
}

/// Did every round of as many trials as workers end before one of the next did? An order, which a loaded machine keeps,
/// where times would not compare.
bool in_rounds(const std::vector<Trial>& trials, int workers) {
  for (std::size_t place = 0; place < trials.size(); ++place)
    if (trials[place].number / workers != static_cast<std::int64_t>(place) / workers) return false;
  return true;
}

double mean_reward(const std::vector<Trial>& trials) {
  double sum = 0.0;
  for (const auto& t : trials) sum += t.reward / static_cast<double>(trials.size());
  return sum;
}

}  // namespace

TEST_CASE("every trial is finished once, equal networks are evaluated once, and a record can be repeated", "[search]") {
  for (Strategy strategy : {Strategy::evolution, Strategy::random, Strategy::tpe, Strategy::ppo}) {
    Run run;
    const auto o = options(150, strategy);
    const auto report = run.search(o, [](const Job& job, const auto& breathe) {
      breathe();
      return count_twos(job);
    });
    if (!run.comm.root()) continue;
    const auto trials = read_trials(run.file("journal.h5"));
    each_number_once(trials, 150);
    std::set<std::string> forms;
    for (std::size_t k = 0; k < trials.size(); ++k) {
      const auto& t = trials[k];
      forms.insert(small_space().canonical(t.genome));
      const std::vector<Trial> known(trials.begin(), trials.begin() + t.known);
      CHECK(propose(small_space(), o.strategy, t.number, known) == t.genome);
      CHECK(t.reward == count_twos({0, 1, t.genome, {}}).reward);
    }
    CHECK(report.evaluated == std::ssize(forms));
    CHECK(report.evaluated + report.copied == 150);
  }
}

TEST_CASE("evolution, TPE and PPO find more than chance", "[search]") {
  double mean[4];
  for (Strategy strategy : {Strategy::evolution, Strategy::random, Strategy::tpe, Strategy::ppo}) {
    Run run;
    run.search(options(300, strategy), [](const Job& job, const auto&) { return count_twos(job); });
    mean[static_cast<int>(strategy)] = run.comm.root() ? mean_reward(run.journal->trials()) : std::nan("");
  }
  if (std::isnan(mean[0])) return;
  CHECK(mean[1] == Approx(9.0 / 4.0).margin(0.35));
  CHECK(mean[0] > mean[1] + 1.0);
  CHECK(mean[2] > mean[1] + 1.0);
  CHECK(mean[3] > mean[1] + 1.0);
}

TEST_CASE("a policy moves to the better choice by no more than its clip, and forgets nothing", "[search]") {
  const SearchSpace space{{2, 3}, [](const Genome& g) { return genome_text(g); }};
  PolicyOptions o;
  o.batch = 4;
  o.epochs = 400;
  o.rate = 0.05;
  o.entropy = 0.0;
  std::vector<Trial> finished;
  for (std::int64_t k = 0; k < 4; ++k) {
    Trial t;
    t.number = k;
    t.genome = {static_cast<int>(k % 2), static_cast<int>(k % 3)};
    t.reward = k % 2 == 0 ? 1.0 : -1.0;
    finished.push_back(t);
  }
  const std::vector<Trial> three(finished.begin(), finished.begin() + 3);
  for (const auto& p : taught_policy(space, o, three))
    for (const double x : p) CHECK(x == 1.0 / static_cast<double>(p.size()));
  const auto once = taught_policy(space, o, finished);
  CHECK(once[0][0] > 0.59);  // of 1/2 by a fifth, and by the step that goes beyond
  CHECK(once[0][0] < 0.63);
  CHECK(once[0][0] + once[0][1] == Approx(1.0));
  for (std::int64_t k = 0; k < 4; ++k) {  // proposed by the policy as it became
    finished.push_back(finished[k]);
    finished.back().known = 4;
  }
  const auto twice = taught_policy(space, o, finished);
  CHECK(twice[0][0] > 1.19 * once[0][0]);
  CHECK(twice[0][0] < 1.26 * once[0][0]);
  finished[5].failed = true;
  finished[5].reward = failed_reward;
  CHECK(taught_policy(space, o, finished)[0][0] == Approx(twice[0][0]).margin(1e-12));
  for (auto& t : finished) t.reward = 0.3;
  finished[5].failed = false;
  CHECK(taught_policy(space, o, finished)[0][0] == Approx(0.5));
}

TEST_CASE("a failure is tried again, then scored", "[search]") {
  Run run;
  auto o = options(40, Strategy::random);
  const auto report = run.search(o, [](const Job& job, const auto&) {
    Found out = count_twos(job);
    out.failed = job.number % 5 == 0 || (job.number % 5 == 1 && job.attempt == 1);
    return out;
  });
  if (!run.comm.root()) return;
  each_number_once(run.journal->trials(), 40);
  CHECK(report.failed == 8);
  for (const auto& t : run.journal->trials()) {
    CHECK(t.failed == (t.number % 5 == 0));
    if (t.copy_of < 0) CHECK(t.attempts == (t.number % 5 <= 1 ? 2 : 1));
    if (t.failed) CHECK(t.reward == failed_reward);
  }
}

TEST_CASE("a search goes on from its journal", "[search]") {
  Run run;
  run.search(options(25, Strategy::evolution), [](const Job& job, const auto&) { return count_twos(job); });
  run.reset();
  if (run.comm.root()) {
    const auto before = read_trials(run.file("journal.h5"));
    CHECK(run.journal->load());
    CHECK(std::ssize(run.journal->trials()) == 25);
  }
  std::int64_t again = 0;
  run.search(options(60, Strategy::evolution), [&](const Job& job, const auto&) {
    again += job.number < 25;
    return count_twos(job);
  });
  CHECK(run.comm.sum(again) == 0);
  if (run.comm.root()) each_number_once(run.journal->trials(), 60);
}

TEST_CASE("a torn line of the log is cut off, and what stands before it is kept", "[search]") {
  Run run;
  if (!run.comm.root()) return;
  Trial t;
  t.genome = {3, 1};
  t.reward = 0.1 + 0.2;
  t.rungs = {std::nan(""), 1.0 / 3.0};
  t.copy_of = 7;
  run.journal->add(t);
  t.number = 1;
  run.journal->add(t);
  run.journal->flush();
  const auto log = run.journal->log_path(), table = run.journal->path();
  run.journal.reset();
  std::filesystem::remove(table);  // killed before the table was written
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 5);
  run.reset();
  CHECK(run.journal->load());
  REQUIRE(std::ssize(run.journal->trials()) == 1);
  const Trial& back = run.journal->trials().front();
  CHECK(back.reward == t.reward);
  CHECK((std::isnan(back.rungs[0]) && back.rungs[1] == 1.0 / 3.0 && back.genome == t.genome && back.copy_of == 7));
  run.journal->add(t);
  CHECK(std::ssize(read_trials(log)) == 2);
  run.journal.emplace(table, "another search", run.context);
  CHECK_THROWS_WITH(run.journal->load(), Catch::Contains("records another search"));
}

TEST_CASE("hopeless trials end at a rung", "[search]") {
  std::vector<Trial> finished(8);
  for (std::size_t k = 0; k < 8; ++k)
    finished[k].rungs = {static_cast<double>(k), k < 4 ? std::nan("") : static_cast<double>(10 + k)};
  SearchOptions o;
  o.rungs = 2;
  o.keep = 0.25;
  const auto t = thresholds_of(finished, o);
  CHECK(t[0] == 6.0);   // two of eight pass
  CHECK(t[1] == 17.0);  // one of four
}

TEST_CASE("trials that a rung ends are counted, at the last rung, too", "[search]") {
  Run run;
  auto o = options(60, Strategy::random);
  o.rungs = 2;
  std::int64_t ended = 0;
  const auto report = run.search(o, [&](const Job& job, const auto&) {
    Found out = count_twos(job);
    out.rungs.assign(2, std::nan(""));
    for (std::size_t k = 0; k < 2; ++k) {
      out.rungs[k] = out.reward + static_cast<double>(k);
      if (out.rungs[k] < job.thresholds[k]) {
        ++ended;
        break;
      }
    }
    return out;
  });
  ended = run.comm.sum(ended);
  if (!run.comm.root()) return;
  CHECK(report.stopped == ended);
  CHECK(ended > 5);
}

TEST_CASE("asynchronous workers do not wait for each other", "[search]") {
  Run run;
  if (run.comm.size() < 3) return;
  auto uneven = [](const Job& job, const auto&) {
    const double seconds = 0.01 + 0.04 * static_cast<double>((job.number * 7) % 10) / 9.0;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    Found out = count_twos(job);
    out.seconds = seconds;
    return out;
  };
  auto o = options(60, Strategy::random);
  o.root_evaluates = false;
  const int workers = run.comm.size() - 1;
  run.search(o, uneven);
  const bool asynchronous_in_rounds = run.comm.root() && in_rounds(run.journal->trials(), workers);
  run.reset();
  o.synchronous = true;
  run.search(o, uneven);
  if (!run.comm.root()) return;
  each_number_once(run.journal->trials(), 60);
  CHECK_FALSE(asynchronous_in_rounds);
  CHECK(in_rounds(run.journal->trials(), workers));
}

TEST_CASE("the trial of a rank that hangs goes to another, and what the rank says later is not heard", "[search]") {
  Run run;
  if (run.comm.size() < 3) return;
  const int hangs = run.comm.size() - 1;
  auto o = options(60, Strategy::random);
  o.hang_limit = 0.4;
  bool hung = false;
  const auto report = run.search(o, [&](const Job& job, const auto& breathe) {
    const bool now = run.comm.rank() == hangs && !std::exchange(hung, true);
    for (int part = 0; part < (now ? 1 : 6); ++part) {  // the others take a while, too, but breathe
      std::this_thread::sleep_for(std::chrono::milliseconds(now ? 1500 : 15));
      breathe();
    }
    Found out = count_twos(job);
    if (now) out.reward = 1e6;
    return out;
  });
  if (!run.comm.root()) return;
  each_number_once(run.journal->trials(), 60);
  int back = 0;
  for (const auto& t : run.journal->trials()) {
    CHECK(t.reward == count_twos({0, 1, t.genome, {}}).reward);
    CHECK(t.attempts == 1);  // what a rank had that hung is no failure
    back += t.worker == hangs;
  }
  CHECK(report.repeated == 1);
  CHECK(back > 0);
}

TEST_CASE("groups of ranks evaluate together and find what single ranks find", "[search]") {
  Run run;
  for (int size = 1; size <= run.comm.size(); ++size) {
    if (run.comm.size() % size != 0) continue;
    run.reset();
    tasks::WorkGroups groups(run.comm, size);
    const Evaluate parts = [&](const Job& job, const auto& breathe) {
      Found own, whole = count_twos(job);
      for (std::size_t k = 0; k + 1 < job.genome.size(); ++k)
        if (static_cast<int>(k) % groups.own().size() == groups.own().rank()) own.reward += job.genome[k] == 2;
      breathe();
      whole.reward = groups.own().sum(own.reward);
      return whole;
    };
    Search search(small_space(), options(40, Strategy::random), run.journal ? &*run.journal : nullptr, parts,
                  run.context);
    CHECK(search.run(groups));
    run.comm.barrier();
    if (!run.comm.root()) continue;
    CHECK(search.report().evaluators == run.comm.size() / size);
    each_number_once(run.journal->trials(), 40);
    for (const auto& t : run.journal->trials()) CHECK(t.reward == count_twos({0, 1, t.genome, {}}).reward);
  }
}
