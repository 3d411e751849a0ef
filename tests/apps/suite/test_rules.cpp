// Logs that keep the rules of MLPerf HPC 3.0, and damaged ones, each with its reason.
#include <algorithm>
#include <functional>
#include <utility>

#include "apps/cambium/suite/rules.hpp"
#include "core/base/error.hpp"
#include "tests/apps/suite/log_text.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::test;

namespace {

std::vector<std::string> failures(const MlLogFile& log) {
  std::vector<std::string> out;
  for (const Finding& f : check_log(log))
    if (f.fails) out.push_back(f.text);
  return out;
}

/// What is found after `damage`, of a log of this division; one thing each time.
std::string reason(const std::string& division, const std::function<void(LogText&)>& damage) {
  LogText log = good_log(division);
  damage(log);
  const auto found = failures(log.log());
  if (found.size() != 1) return fmt::format("{} findings: {}", found.size(), fmt::join(found, "; "));
  return found.front();
}
std::string open(const std::function<void(LogText&)>& damage) { return reason("open", damage); }
/// The one warning after `damage` of a log of the division open that nothing else is found in.
std::string warning(const std::function<void(LogText&)>& damage) {
  LogText log = good_log("open");
  damage(log);
  const auto found = check_log(log.log());
  if (found.size() != 1 || found.front().fails) return fmt::format("{} findings", found.size());
  return found.front().text;
}
std::string closed(const std::function<void(LogText&)>& damage) { return reason("closed", damage); }
std::function<void(LogText&)> without(const std::string& key) {
  return [=](LogText& log) { log.remove(key); };
}
std::function<void(LogText&)> with(const std::string& key, const Json& value) {
  return [=](LogText& log) { log.of(key)["value"] = value; };
}
std::function<void(LogText&)> beside(const std::string& key, const Json& metadata) {
  return [=](LogText& log) { log.of(key)["metadata"] = metadata; };
}

}  // namespace

TEST_CASE("logs that keep the rules pass") {
  CHECK(failures(good_log("open").log()).empty());
  CHECK(failures(good_log("closed").log()).empty());
  CHECK(failures(good_log("closed", 1, 3, false).log()) ==
        std::vector<std::string>{"no eval_error is above 0 and at most 0.124; the lowest is 0.3"});
}

TEST_CASE("keys that are missing or stand twice are named") {
  for (const char* key : {"submission_org", "submission_platform", "submission_division", "submission_status",
                          "submission_benchmark", "train_samples", "eval_samples", "run_stop"})
    CHECK(open(without(key)) == fmt::format("there is no {}; exactly one is required", key));
  CHECK(open(without("init_stop")) ==
        "2 findings: there is no init_stop; exactly one is required; run_start comes before init_stop");
  CHECK(open(without("run_start")) ==
        "2 findings: there is no run_start; exactly one is required; run_stop comes before run_start");
  CHECK(open(without("cache_clear")) == "there is no cache_clear; at least one is required");
  CHECK(open(without("init_start")) ==
        "2 findings: there is no init_start; at least one is required; init_stop comes before init_start");
  const auto no_epochs = failures([] {
    LogText log = good_log();
    log.remove("epoch_start");
    log.remove("epoch_stop");
    log.remove("eval_start");
    log.remove("eval_stop");
    return log.log();
  }());
  CHECK(no_epochs == std::vector<std::string>{"there is no epoch_start or block_start; at least one is required",
                                              "there is no epoch_stop or block_stop; at least one is required",
                                              "there is no eval_start or block_start; at least one is required",
                                              "there is no eval_stop or block_stop; at least one is required"});
  CHECK(open([](LogText& log) { log.point("train_samples", 7); }) ==
        "train_samples is 7, but 2000 in line 12; exactly one is required");
  LogText twice = good_log();
  twice.point("submission_org", "mine");
  CHECK(failures(twice.log()).empty());
  REQUIRE(check_log(twice.log()).size() == 1);
  CHECK(check_log(twice.log())[0].text == "submission_org occurs 2 times, with equal values");
}

TEST_CASE("values that the rules do not allow are named") {
  CHECK(open(with("submission_org", "")) == "submission_org is \"\"; it must be a text");
  CHECK(open(with("submission_division", "ajar")) == "submission_division is 'ajar'; it must be closed or open");
  CHECK(open(with("submission_status", "home")) ==
        "submission_status is 'home'; it must be cloud or onprem or preview or research");
  CHECK(open(with("eval_samples", "")) == "eval_samples is \"\"; it must be a whole number above 0");
  CHECK(warning(with("train_samples", 0)) == "train_samples is 0; it must be a whole number above 0");
  CHECK(warning(with("submission_org", nullptr)) == "submission_org is null; it must be a text");
  CHECK(warning(beside("run_stop", {{"status", "done"}})) ==
        "status of run_stop is \"done\"; success or aborted is usual");
  CHECK(open(beside("run_stop", Json::object())) == "run_stop has no status in its metadata");
  for (const char* key : {"epoch_start", "epoch_stop", "eval_start", "eval_stop"})
    CHECK(open(beside(key, Json::object())) == fmt::format("{} has no epoch_num in its metadata", key));
  CHECK(open([](LogText& log) {
          log.add("INTERVAL_START", "block_start", nullptr, {{"first_epoch_num", 1}, {"epoch_count", 0}});
        }) == "epoch_count of block_start is 0; it must be above 0");
}

TEST_CASE("lines that are none are named") {
  const auto broken = [](const std::string& line) {
    const auto found = failures(mllog_of(good_log().text() + line + "\n"));
    return found.size() == 1 ? found.front() : std::to_string(found.size());
  };
  CHECK(broken(":::MLLOG {\"key\": ") == "what follows :::MLLOG is no JSON object");
  CHECK(broken(":::MLLOG {\"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": \"a\", \"metadata\": {}}") ==
        "'value' is missing");
  CHECK(broken(":::MLLOG {\"time_ms\": \"now\", \"event_type\": \"POINT_IN_TIME\", \"key\": \"a\", \"value\": 1, "
               "\"metadata\": {}}") == "time_ms is \"now\"; it must be milliseconds");
  const auto odd = [](const std::string& line) {
    const auto found = check_log(mllog_of(good_log().text() + line + "\n"));
    return found.size() == 1 && !found.front().fails ? found.front().text : std::to_string(found.size());
  };
  CHECK(odd(":::MLLOG {\"time_ms\": 1, \"event_type\": \"POINT\", \"key\": \"a\", \"value\": 1, \"metadata\": {}}") ==
        "event_type is \"POINT\"; INTERVAL_START, INTERVAL_END or POINT_IN_TIME is usual");
  CHECK(odd(":::MLLOG {\"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": 3, \"value\": 1, \"metadata\": "
            "{}}") == "key is 3; a text is usual");
  CHECK(odd(":::MLLOG {\"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": \"a\", \"value\": 1, "
            "\"metadata\": 3}") == "metadata is 3; an object is usual");
  CHECK(failures(mllog_of(good_log().text() + ":::MLLOG {\"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": "
                                              "\"loss\", \"value\": NaN, \"metadata\": {\"a\": \"NaN \xe9\"}}\n"))
            .empty());
  CHECK(failures(mllog_of("nothing\n")) ==
        std::vector<std::string>{"there is no line with :::MLLOG; set train.mllog: true"});
  CHECK_THROWS_WITH(read_mllog("/nowhere/log.txt"),
                    "cannot read the log '/nowhere/log.txt'; give the log.txt of a run");
  CHECK_THROWS_WITH(read_mllog("/tmp"), "cannot read the log '/tmp'; give the log.txt of a run");
}

TEST_CASE("what comes in another order than the rules allow is named") {
  const auto late = [](std::int64_t ms) {
    return [=](LogText& log) {
      log.of("init_start")["time_ms"] = log.of("init_stop")["time_ms"].get<std::int64_t>() - ms;
    };
  };
  CHECK(open(late(30 * 60 * 1000)) == "init_stop comes 30.0 minutes after init_start; less than 30 are allowed");
  CHECK(open(late(30 * 60 * 1000 - 1)) == "0 findings: ");
  CHECK(warning([](LogText& log) { log.of("init_start")["time_ms"] = log.now; }) ==
        "init_stop has an earlier time than init_start");
  CHECK(warning([](LogText& log) {
          log.of("run_stop")["time_ms"] = log.of("run_start")["time_ms"].get<std::int64_t>() - 1;
        }) == "run_stop has an earlier time than run_start");
  CHECK(open([](LogText& log) { log.add("INTERVAL_START", "init_start", nullptr); }) ==
        "init_start comes after init_stop");
  CHECK(open([](LogText& log) { log.add("INTERVAL_END", "init_stop", nullptr); }) == "init_stop comes after run_start");
  CHECK(open([](LogText& log) { log.add("INTERVAL_END", "staging_stop", nullptr); }) ==
        "staging_stop comes before staging_start");
  CHECK(open([](LogText& log) {
          log.add("INTERVAL_START", "block_start", nullptr, {{"first_epoch_num", 1}, {"epoch_count", 1}});
          std::rotate(log.lines.begin(), log.lines.end() - 1, log.lines.end());
        }) == "block_start comes before run_start");
}

TEST_CASE("intervals that do not close are warned of, one that the end closes is not") {
  const auto without_last = [](const char* key) {
    return [=](LogText& log) {
      const auto last =
          std::find_if(log.lines.rbegin(), log.lines.rend(), [&](const Json& line) { return line["key"] == key; });
      log.lines.erase(std::next(last).base());
    };
  };
  CHECK(open(without_last("epoch_stop")) == "0 findings: ");
  CHECK(open(without_last("eval_stop")) == "0 findings: ");
  CHECK(warning([](LogText& log) {
          log.add("INTERVAL_END", "epoch_stop", nullptr, {{"epoch_num", 9}});
        }) == "epoch_stop without epoch_start");
  CHECK(warning([](LogText& log) {
          log.lines.erase(std::find_if(log.lines.begin(), log.lines.end(),
                                       [](const Json& line) { return line["key"] == "epoch_stop"; }));
        }) == "epoch_start, but that of line 19 has no epoch_stop");
}

TEST_CASE("the division closed asks for the keys of its benchmark and for its target") {
  for (const char* key :
       {"submission_benchmark", "number_of_nodes", "accelerators_per_node", "global_batch_size", "opt_name",
        "opt_base_learning_rate", "opt_learning_rate_warmup_epochs", "opt_learning_rate_warmup_factor",
        "opt_learning_rate_decay_boundary_epochs", "opt_learning_rate_decay_factor"})
    CHECK(closed(without(key)) == fmt::format("there is no {}; exactly one is required", key));
  CHECK(closed(without("dropout")) == "0 findings: ");
  CHECK(closed(with("dropout", 1.0)) == "dropout is 1.0; it must be a number from 0 to below 1");
  CHECK(closed(with("opt_name", "adam")) == "opt_name is \"adam\"; it must be sgd or SGD");
  CHECK(closed(with("opt_base_learning_rate", -1)) ==
        "opt_base_learning_rate is -1; it must be a number of at least 0");
  CHECK(closed(with("number_of_nodes", 0)) == "number_of_nodes is 0; it must be a number above 0");
  CHECK(closed(with("opt_learning_rate_decay_boundary_epochs", 4)) == "0 findings: ");
  CHECK(closed(with("submission_benchmark", "resnet")) ==
        "submission_benchmark is \"resnet\"; the benchmarks are cosmoflow, deepcam, oc20, openfold");
  CHECK(closed(without("eval_error")) == "there is no eval_error; at least one is required");
  CHECK(closed(beside("eval_error", Json::object())) == "eval_error has no epoch_num in its metadata");
  CHECK(closed(with("eval_error", "low")) == "eval_error is \"low\"; it must be a number");
  CHECK(closed([](LogText& log) { log.point("eval_error", -0.5, {{"epoch_num", 4}}); }) == "0 findings: ");
  CHECK(closed([](LogText& log) {
          for (auto& line : log.lines)
            if (line["key"] == "eval_error") line["value"] = 0.2;
        }) == "no eval_error is above 0 and at most 0.124; the lowest is 0.2");
  LogText other = good_log("closed");
  other.of("submission_benchmark")["value"] = "deepcam";
  const auto deepcam = failures(other.log());
  CHECK(std::find(deepcam.begin(), deepcam.end(), "train_samples is 2000; it must be 121266") != deepcam.end());
  CHECK(std::find(deepcam.begin(), deepcam.end(), "there is no opt_betas; exactly one is required") != deepcam.end());
  other.point("eval_accuracy", 0.7, {{"epoch_num", 1}});
  CHECK(failures(other.log()).back() == "no eval_accuracy is at most 1 and at least 0.82; the highest is 0.7");
}

TEST_CASE("benchmarks and how many runs make a score") {
  CHECK(runs_of("cosmoflow") == 10);
  CHECK(runs_of("deepcam") == 5);
  CHECK(runs_of("oc20") == 5);
  CHECK(runs_of("openfold") == 10);
  CHECK(runs_of("other") == 0);
}
