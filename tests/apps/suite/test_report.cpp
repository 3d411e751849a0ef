// Runs of several benchmarks, batches and ranks side by side.
#include "apps/cambium/suite/suite_report.hpp"
#include "tests/apps/suite/log_text.hpp"
#include "tests/catch.hpp"

using namespace cambium::train;
using namespace cambium::train::test;

namespace {

/// A run of `epochs` epochs, with its batch, ranks and phases.
MlLogFile run(int seed, int epochs, std::int64_t batch, std::int64_t ranks) {
  LogText log = good_log("open", seed, epochs);
  log.of("global_batch_size")["value"] = batch;
  log.point("ranks", ranks);
  log.point("phase_seconds", 3.0 * epochs, {{"phase", "gradient"}});
  log.point("phase_seconds", 1.5 * epochs, {{"phase", "validate"}});
  return log.log("run" + std::to_string(seed));
}

std::vector<MlLogFile> both_batches() {
  std::vector<MlLogFile> out;
  for (int k = 1; k <= 10; ++k) {
    out.push_back(run(k, 2 * k, 64, 1));
    out.push_back(run(k, k, 32, 1));
  }
  out.push_back(run(1, 3, 32, 2));
  return out;
}

}  // namespace

TEST_CASE("runs are put together by benchmark, ranks and batch") {
  const auto sets = sets_of(both_batches());
  REQUIRE(sets.size() == 3);
  CHECK((sets[0].batch == 32 && sets[0].ranks == 1 && sets[0].logs.size() == 10));
  CHECK((sets[1].batch == 64 && sets[1].ranks == 1 && sets[1].logs.size() == 10));
  CHECK((sets[2].batch == 32 && sets[2].ranks == 2 && sets[2].logs.size() == 1));
}

TEST_CASE("a set is summed up by its score, its epochs and its phases") {
  const auto sets = sets_of(both_batches());
  const SetSummary one = summary_of(sets[0]), none = summary_of(sets[2]);
  REQUIRE(one.score.seconds);
  CHECK(*one.score.seconds == Approx(5.0 * 5.5 + 1.0));
  CHECK(one.epochs_mean == Approx(5.5));
  CHECK(one.epochs_sd == Approx(2.8722813233));  // of 1 to 10
  CHECK(one.against_rules == 0);
  CHECK(one.wall == Approx(28.5));
  CHECK(one.explained() == Approx(4.5 * 5.5 / 28.5));
  REQUIRE(one.phases.size() == 3);
  CHECK(one.phases[0].first == "staging");
  CHECK(one.phases[1].second == Approx(3.0 * 5.5));
  const auto split = one.split();
  REQUIRE(split.size() == 4);
  CHECK((split[0].first == "staging" && split[0].second == one.phases[0].second));
  CHECK((split[1].first == "computing" && split[1].second == Approx(3.0 * 5.5)));
  CHECK((split[2].first == "communication" && split[2].second == 0.0));
  CHECK((split[3].first == "evaluation" && split[3].second == Approx(1.5 * 5.5)));
  CHECK_FALSE(none.score.seconds);
  CHECK(none.score.problems.size() == 1);
}

TEST_CASE("the page says what a larger batch costs, and why a set has no score") {
  std::vector<SetSummary> all;
  for (auto& set : sets_of(both_batches())) all.push_back(summary_of(std::move(set)));
  const std::string page = page_of(all);
  CHECK_THAT(page, Catch::Contains("| cosmoflow | 1 | 32 | 10 | 10 | 0 | 5.50 +- 2.87 | 28.500 | 1.00 |"));
  CHECK_THAT(page, Catch::Contains("| cosmoflow | 1 | 64 | 10 | 10 | 0 | 11.00 +- 5.74 | 56.000 | 1.96 |"));
  CHECK_THAT(page, Catch::Contains("No score: there are 1 runs, and a score of cosmoflow takes 10."));
  CHECK_THAT(page, Catch::Contains("Logged by the rules of MLPerf HPC 3.0; no results of MLPerf"));
  const auto json = to_json(all);
  CHECK(json["sets"].size() == 3);
  CHECK(json["sets"][1]["score_seconds"] == Approx(56.0));
  CHECK(json["sets"][2]["score_seconds"].is_null());
}

TEST_CASE("the page says that logs keep the rules only where they do") {
  auto logs = both_batches();
  LogText missed = good_log("open", 11, 3, false);
  logs.push_back(missed.log("run11"));
  std::vector<SetSummary> all;
  for (auto& set : sets_of(std::move(logs))) all.push_back(summary_of(std::move(set)));
  const std::string page = page_of(all);
  CHECK_THAT(
      page, Catch::Contains(
                "1 of 22 logs break rules of MLPerf HPC 3.0 (`cambium suite check` names them); no results of MLPerf"));
  CHECK_THAT(page, !Catch::Contains("ogged by the rules"));
}
