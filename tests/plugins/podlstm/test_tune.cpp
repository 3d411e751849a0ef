// The stage `tune`: a search over keys of a stage `train`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/base/error.hpp"
#include "core/deck/resolve.hpp"
#include "core/run/deck_file.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "core/train/tune/journal.hpp"
#include "core/train/tune/tune.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;
using namespace cambium::tune;
namespace fs = std::filesystem;

namespace {

const std::string data =
    "dataset: {type: expression, samples: 200, box: {x: [-1, 1]}, target: {z: sin(3*x)}}, hold_out: 0.2, batch: 20, "
    "validate: {every: 10}, reduce: {mode: ordered, micro_batches: 4}";

std::string deck_of(const std::string& open, const std::string& rest) {
  return "{train: {" + open + ", " + data + "}, " + rest + "}";
}

const std::string small =
    "network: {type: mlp, layers: !choice [[4], [8, 8]], activation: tanh}, steps: 40, learning_rate: {type: constant, "
    "start: !choice [1e-4, 1e-2, 3e-2]}";

struct Tuning : Stage {
  Tuning() { train::register_training(registry); }
  std::vector<Trial> tune(const std::string& yaml) {
    run("tune", yaml);
    comm.barrier();
    return read_trials(file("journal.h5"));
  }
  std::string text(const std::string& name) const {
    std::ifstream in(file(name));
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
};

}  // namespace

TEST_CASE("every deck is trained once, and the best is the one that says so", "[tune]") {
  Tuning stage;
  const auto trials = stage.tune(deck_of(small, "strategy: random, trials: 40, keep: 2"));
  std::map<Genome, double> rewards;
  for (const auto& t : trials) {
    CHECK_FALSE(t.failed);
    CHECK(t.genome.size() == 2);
    if (t.copy_of < 0)
      CHECK(rewards.emplace(t.genome, t.reward).second);
    else
      CHECK(rewards.at(t.genome) == t.reward);
  }
  CHECK(trials.size() == 40);
  CHECK(rewards.size() == 6);  // 40 draws miss one of 2 x 3 decks once in 250 seeds; this seed misses none
  const auto best = std::ranges::max_element(rewards, {}, [](const auto& r) { return r.second; });
  CHECK(best->first[1] > 0);  // the smallest rate learns nothing in 40 steps
  CHECK(rewards.at({0, 0}) < -0.3);
  CHECK(best->second > -0.3);
  if (!stage.comm.root()) return;
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(stage.file("trials")))
    folders.insert(entry.path().filename().string());
  CHECK(folders.size() == 2);
  CHECK(fs::exists(stage.file("best/model.h5")));
  const auto again = deck::parse(stage.text("best.yaml"), "best.yaml")["stages"][0]["train"];
  CHECK(deck::decisions_of(again).empty());
  const auto table = stage.text("trials.csv");
  CHECK(
      table.starts_with("trial,error,step,steps,attempts,seconds,copy_of,failed,network.layers,learning_rate.start\n"));
  CHECK(std::ranges::count(table, '\n') == 41);
}

TEST_CASE("the best deck trains to the error that was found, on one rank or two", "[tune]") {
  Tuning stage;
  const auto trials = stage.tune(
      deck_of(small, fmt::format("trials: 12, population: 4, sample: 2, ranks_per_trial: {}", stage.comm.size())));
  double best = -1e300;
  for (const auto& t : trials) best = std::max(best, t.reward);
  const auto keys = deck::parse(stage.text("best.yaml"), "best.yaml")["stages"][0]["train"];
  Tuning other;
  auto task = other.registry.make<Task>("train", keys, other.context);
  task->run(other.context);
  std::istringstream lines(other.text("validation.csv"));
  double least = 1e300;
  for (std::string line; std::getline(lines, line);)
    if (std::isdigit(line[0])) least = std::min(least, std::stod(line.substr(line.find(',') + 1)));
  CHECK(least == -best);  // bit for bit: sums are ordered
}

TEST_CASE("alternatives that diverge are scored, hopeless ones end early", "[tune]") {
  Tuning stage;
  const auto trials =
      stage.tune(deck_of("network: {type: mlp, layers: !choice [[8], [8, 8], [6, 6]]}, steps: 80, optimizer: sgd, "
                         "learning_rate: {type: constant, start: !choice [1e-5, 1e-2, 3e-2, 1e30]}",
                         "strategy: random, trials: 30, halving: {rungs: 1, keep: 0.5}"));
  int ended = 0;
  for (const auto& t : trials) {
    if (t.copy_of < 0) CHECK(t.failed == (t.genome[1] == 3));
    if (t.failed) CHECK(t.reward == failed_reward);
    if (t.failed || t.copy_of >= 0 || t.epochs == 80) continue;
    ++ended;
    CHECK(t.epochs == 40);
  }
  CHECK(ended > 0);
}

TEST_CASE("a search of trainings goes on where it ended", "[tune]") {
  Tuning stage;
  const auto first = stage.tune(deck_of(small, "strategy: random, trials: 4, keep: 9"));
  stage.context.resume = true;
  const auto all = stage.tune(deck_of(small, "strategy: random, trials: 9, keep: 9"));
  REQUIRE(all.size() == 9);
  for (std::size_t k = 0; k < 4; ++k) CHECK((all[k].number == first[k].number && all[k].seconds == first[k].seconds));
  CHECK_THAT(stage.message("tune", deck_of(small, "strategy: tpe, trials: 9")),
             Catch::Contains("records another search"));
}

TEST_CASE("a resolved deck of tune, in which every default is written, is read again", "[tune]") {
  Tuning stage;
  const auto* entry = stage.registry.find(Task::kind, "tune");
  const auto resolved = [&](const std::string& yaml) {
    return deck::parse(deck::resolved(deck::parse(yaml, "test"), entry->schema, stage.registry), "resolved");
  };
  const auto keys = resolved(deck_of(small, "trials: 2, halving: {rungs: 1}"));
  CHECK(keys["train"]["ensemble_size"].text() == "1");
  CHECK_NOTHROW(stage.registry.make<Task>("tune", keys, stage.context));
  CHECK(deck::to_yaml(resolved(deck::to_yaml(keys))) == deck::to_yaml(keys));
  // No validation is none, written or filled in.
  auto blind = deck_of(small, "trials: 2");
  blind.replace(blind.find("hold_out: 0.2"), 13, "hold_out: 0.0");
  CHECK_THAT(stage.message("tune", blind), Catch::Contains("train: without validation there is nothing to choose by"));
  CHECK_THAT(stage.message("tune", deck_of("models: !choice [1, 2], " + small, "trials: 2, halving: {rungs: 1}")),
             Catch::Contains("halving ends one training early"));
}

TEST_CASE("the journal of a run that was moved is that of the same search", "[tune]") {
  Tuning stage;
  if (!stage.comm.root()) return;
  const auto context_at = [&](const std::string& folder, const std::string& deck) {
    Context out = stage.context;
    out.run_directory = folder;
    out.resolved_deck = deck;
    return out;
  };
  const auto record = [&](const std::string& key, const Context& context) {
    fs::remove(stage.file("journal.jsonl"));
    Journal journal(stage.file("journal.h5"), key, context);
    Trial trial;
    trial.genome = {1};
    trial.rungs = {0.5};
    journal.add(trial);
    journal.flush();
  };
  const auto goes_on = [&](const std::string& key, const Context& context) {
    try {
      return Journal(stage.file("journal.h5"), key, context).load();
    } catch (const InputError& error) {
      CHECK_THAT(error.what(), Catch::Contains("records another search"));
      return false;
    }
  };
  const std::string deck = "run: {directory: /a/run}\n";
  const auto here = context_at("/a/run/search", deck),
             there = context_at("moved/to/search", "run: {directory: moved/to}\n");
  record("file: /a/run/pod/pod.h5, more: [\"/a/run/x\", /a/runs/y]", here);
  CHECK(goes_on("file: /a/run/pod/pod.h5, more: [\"/a/run/x\", /a/runs/y]", here));
  CHECK(goes_on("file: moved/to/pod/pod.h5, more: [\"moved/to/x\", /a/runs/y]", there));
  CHECK_FALSE(goes_on("file: /a/run/pod/pod.h5, more: [\"moved/to/x\", /a/runs/y]", there));
  CHECK_FALSE(goes_on("file: moved/to/pod/other.h5, more: [\"moved/to/x\", /a/runs/y]", there));
  // An earlier version wrote the directory itself.
  record("file: /a/run/pod/pod.h5", context_at("", deck));
  CHECK_FALSE(goes_on("file: moved/to/pod.h5", there));
  CHECK(goes_on("file: moved/to/pod/pod.h5", there));
  record("file: /a/run/pod/pod.h5", context_at("", deck));
  CHECK(goes_on("file: /a/run/pod/pod.h5", here));
}

TEST_CASE("a recorded search of trainings is repeated bit for bit", "[tune]") {
  Tuning stage;
  const std::string halved = "trials: 14, population: 4, sample: 2, halving: {rungs: 1, keep: 0.5}";
  const auto trials = stage.tune(deck_of(small, halved));
  CHECK(trials.size() == 14);
  stage.comm.barrier();  // everyone has read it
  if (stage.comm.root()) fs::rename(stage.file("journal.h5"), stage.file("recorded.h5"));
  stage.comm.barrier();
  const std::string again = halved + ", replay: " + stage.file("recorded.h5");
  CHECK(stage.run("tune", deck_of(small, again)) == Task::Outcome::done);
  CHECK_FALSE(fs::exists(stage.file("journal.h5")));  // nothing was searched
  // Another training is found out, trial by trial: those that were evaluated and did not fail.
  std::string other = small;
  other.replace(other.find("tanh"), 4, "relu");  // one step more leaves a trial as it was whose best step came before
  std::string said;
  try {
    stage.run("tune", deck_of(other, again));
  } catch (const NumericalError& error) {
    said = error.what();
  }
  const auto evaluated =
      std::count_if(trials.begin(), trials.end(), [](const Trial& t) { return t.copy_of < 0 && !t.failed; });
  CHECK(said ==
        fmt::format(
            "{} trials of '{}' came out otherwise than recorded; was it made with another deck, program or machine?",
            evaluated, stage.file("recorded.h5")));
}

TEST_CASE("decks that leave nothing to choose, or nothing to choose by", "[tune]") {
  Tuning stage;
  const std::string model = "network: {type: mlp, layers: [4]}, learning_rate: {type: constant, start: 1e-3}, steps: 4";
  CHECK_THAT(stage.message("tune", deck_of(model, "trials: 2")),
             Catch::Contains("nothing is left to choose: write !choice [a, b] instead of a value inside 'train', or "
                             "use the stage 'train'"));
  CHECK_THAT(
      stage.message(
          "tune",
          deck_of("network: {type: mlp, layers: [4]}, learning_rate: {type: constant, start: !choice [1e-3]}, steps: 4",
                  "trials: 2")),
      Catch::Contains("train.learning_rate.start: !choice has one alternative; write the value itself, or add others"));
  CHECK_THAT(
      stage.message(
          "tune",
          "{train: {network: {type: mlp, layers: !choice [[4], [5]]}, dataset: {type: expression, samples: 9, box: {x: "
          "[0, 1]}, target: {z: x}}, batch: 3, learning_rate: {type: constant, start: 1e-3}, steps: 4}, trials: 2}"),
      Catch::Contains("train: without validation there is nothing to choose by; give validation (a data set) or "
                      "hold_out (a fraction of the training set)"));
  CHECK_THAT(
      stage.message("tune", deck_of("models: 2, " + small, "trials: 2, halving: {rungs: 1}")),
      Catch::Contains("halving ends one training early, but train.ensemble_size requests several; remove one of them"));
  CHECK_THAT(stage.message("tune", deck_of("network: {type: mlp, layers: !choice [[4], [0]]}, learning_rate: {type: "
                                           "constant, start: !choice [1, -1]}, steps: 4",
                                           "trials: 2")),
             Catch::Contains("2 problems in test"));
  CHECK_THAT(stage.message("tune", deck_of("network: {type: mlp, layers: !choice [[4], [5]]}, steps: 4, learning_rate: "
                                           "{type: constant, start: 1e30}, optimizer: sgd",
                                           "trials: 2, strategy: random")),
             Catch::Contains("none of the 2 trials succeeded; the reasons are in"));
  if (stage.comm.size() == 1)
    CHECK(stage.message("tune", deck_of(small, "trials: 2, ranks_per_trial: 3")) ==
          "ranks_per_trial: 3 does not divide the 1 rank of this run; use a divisor, or other ranks");
  stage.message("tune", deck_of(small, "trials: 1, time_limit: 1e-9"));
  CHECK_THAT(stage.text("trials/0000/log.txt"), Catch::Contains("failed: longer than time_limit, 1e-09 s"));
}
