// Scores of sets of runs, and why some sets have none.
#include "apps/cambium/suite/score.hpp"

#include <cmath>

#include "apps/cambium/suite/suite_report.hpp"
#include "core/train/kinds/quality.hpp"
#include "tests/apps/suite/log_text.hpp"
#include "tests/catch.hpp"

using namespace cambium::train;
using namespace cambium::train::test;

namespace {

/// Runs of 1, 2, ... epochs, each with its seed; an epoch takes 5 s.
std::vector<MlLogFile> runs(int count) {
  std::vector<MlLogFile> out;
  for (int k = 1; k <= count; ++k) out.push_back(good_log("open", k, k).log("run" + std::to_string(k)));
  return out;
}

}  // namespace

TEST_CASE("a score is the mean without the fastest and the slowest run") {
  const Score score = score_of(runs(10));
  CHECK(score.problems.empty());
  CHECK(score.benchmark == "cosmoflow");
  CHECK(score.batch == 32);
  REQUIRE(score.seconds);
  CHECK(*score.seconds == Approx(5.0 * 5.5 + 1.0));  // run_stop comes a second after the last epoch
  CHECK(score.fastest == Approx(6.0));
  CHECK(score.slowest == Approx(51.0));
  CHECK(score.epochs.size() == 10);
}

TEST_CASE("one run may miss its target and then is the slowest, two may not") {
  auto logs = runs(10);
  logs[4] = good_log("open", 5, 40, false).log("run5");
  const Score one = score_of(logs);
  REQUIRE(one.seconds);
  CHECK(*one.seconds == Approx(5.0 * (2 + 3 + 4 + 6 + 7 + 8 + 9 + 10) / 8.0 + 1.0));
  logs[6] = good_log("open", 7, 40, false).log("run7");
  const Score two = score_of(logs);
  CHECK_FALSE(two.seconds);
  CHECK(two.problems == std::vector<std::string>{"2 of 10 runs did not reach their target; one may"});
}

TEST_CASE("of a run that was stopped and went on all counts, from its first start to its last end") {
  LogText whole = good_log("open", 3, 2, false);
  const std::int64_t begin = whole.of("run_start")["time_ms"].get<std::int64_t>(), pause = 100'000;
  const LogText rest = good_log("open", 3, 4);
  for (Json line : rest.lines) {
    line["time_ms"] = line["time_ms"].get<std::int64_t>() - 1'700'000'000'000 + whole.now + pause;
    whole.lines.push_back(line);
  }
  const double all = 1e-3 * static_cast<double>(whole.lines.back()["time_ms"].get<std::int64_t>() - begin);
  auto logs = runs(2);
  logs.push_back(whole.log("run3"));
  const Score score = score_of(logs, 3);
  CHECK(score.problems.empty());
  CHECK(score.reached == 3);
  CHECK(score.slowest == Approx(all));
  CHECK(score.epochs.back() == 4.0);
  const auto summary = summary_of({"cosmoflow", 32, 1, logs}, 3);
  CHECK(summary.resumed == 1);
  CHECK(page_of({summary}).find("1 stopped and went on: the pause counts.") != std::string::npos);
}

TEST_CASE("what is no number reaches no target") {
  for (const bool higher : {false, true}) {
    const Quality quality{0, "error", higher};
    CHECK_FALSE(quality.reached(NAN, 1.0));
    CHECK(quality.reached(1.0, 1.0));
    CHECK(quality.reached(2.0, 1.0) == higher);
    CHECK(quality.reached(0.5, 1.0) == !higher);
  }
}

TEST_CASE("sets that make no score say why") {
  CHECK(score_of(runs(3)).problems == std::vector<std::string>{"there are 3 runs, and a score of cosmoflow takes 10"});
  CHECK(score_of(runs(3), 3).problems.empty());
  auto mixed = runs(10);
  LogText other = good_log("open", 2, 2);
  other.of("global_batch_size")["value"] = 64;
  mixed[1] = other.log("run2");
  CHECK(score_of(mixed).problems ==
        std::vector<std::string>{"global_batch_size is 32 in run1 and 64 in run2; a score takes runs of one"});
  auto same = runs(10);
  same[2] = good_log("open", 1, 3).log("run3");
  CHECK(score_of(same).problems ==
        std::vector<std::string>{"seed is 1 in run1 and in run3; runs of a score have seeds of their own"});
  LogText own = good_log();
  own.of("submission_benchmark")["value"] = "other";
  CHECK(score_of({own.log()}).problems ==
        std::vector<std::string>{"the logs name no benchmark of cosmoflow, deepcam, oc20, openfold; give with --runs "
                                 "how many runs make a score"});
  CHECK(score_of({own.log()}, 3).problems ==
        std::vector<std::string>{"there are 1 runs, and a score of other takes 3"});
}
