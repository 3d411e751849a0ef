// Networks of equal time: the largest that a clock finds fast enough, baselines that leave little of the time, and a
// table that says where no comparison at equal time was possible.
#include <algorithm>
#include <cmath>

#include "core/parallel/random.hpp"
#include "core/train/low_rank/baselines.hpp"
#include "core/train/low_rank/compress_table.hpp"
#include "core/train/low_rank/equal_time.hpp"
#include "core/train/low_rank/ways.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Layers whose ranks cost what they may, with energies of their own.
CostTable random_table(std::uint64_t id) {
  CostTable out;
  out.seconds = 1.0;
  out.candidates.resize(8);
  for (std::size_t l = 0; l < out.candidates.size(); ++l) {
    const Random4 r(3, Stream::test, id, l);
    const double saves = (0.2 + r.uniform(0)) * 0.08;
    const int count = 3 + static_cast<int>(6.0 * r.uniform(1));
    for (int k = 1; k <= count; ++k) {
      const double left = static_cast<double>(k) / (count + 1.0);
      out.candidates[l].push_back(
          {k, 0.0, -saves * (1.0 - left), 1.0 - std::pow(1.0 - left, 1.0 + 3.0 * r.uniform(2))});
    }
    out.candidates[l].push_back({0});
  }
  return out;
}

}  // namespace

TEST_CASE("the last network that is fast enough is found by a clock that is a little uneven") {
  for (std::uint64_t id = 0; id < 60; ++id) {
    const std::size_t count = 1 + 3 * id;
    std::vector<double> true_times;
    for (std::size_t k = 0; k < count; ++k)
      true_times.push_back(0.3 + static_cast<double>(k) / static_cast<double>(count));
    std::uint64_t calls = 0;
    const double noise = id % 2 == 0 ? 0.0 : 0.01;
    const auto clock = [&](std::size_t k) {
      const Random4 r(4, Stream::test, id, calls++);
      return true_times[k] * (1.0 + noise * (2.0 * r.uniform(0) - 1.0));
    };
    INFO(count << " networks, noise " << noise);
    const auto found = last_within(count, 0.8, clock);
    REQUIRE(found);
    CHECK(found->time <= 0.8);
    CHECK(true_times[found->index] <= 0.8 * (1.0 + noise));
    if (found->index + 1 < count) CHECK(true_times[found->index + 1] > 0.8 * (1.0 - noise));
    CHECK(calls <= 3 * (2 + static_cast<std::uint64_t>(std::log2(count))));
    CHECK(!last_within(count, 0.29, clock));
  }
  CHECK(!last_within(0, 1.0, [](std::size_t) { return 0.0; }));
}

TEST_CASE("baselines leave less of the time than any layer's next rank would take") {
  using Rule = std::vector<std::size_t> (*)(const CostTable&, double);
  for (const auto& [name, rule] : {std::pair{"shares", Rule{equal_shares}}, std::pair{"energy", Rule{equal_energy}}})
    for (std::uint64_t id = 0; id < 50; ++id) {
      const auto table = random_table(id);
      const double least = table.predicted(fastest(table));
      for (const double at : {0.1, 0.4, 0.7}) {
        const double seconds = least + at * (1.0 - least);
        INFO(name << " of table " << id << " within " << seconds << " s");
        const auto choice = rule(table, seconds);
        REQUIRE(choice.size() == table.candidates.size());
        CHECK(table.predicted(choice) <= seconds);
        for (std::size_t l = 0; l < choice.size(); ++l) {
          if (choice[l] + 1 == table.candidates[l].size()) continue;
          auto more = choice;
          ++more[l];
          CHECK(table.predicted(more) > seconds);
        }
      }
      CHECK(rule(table, 0.99 * least).empty());
    }
}

TEST_CASE("choices around a time are each there once, and reach from half of it to half more") {
  const Choose choose = [](double seconds) {
    return seconds < 0.6 ? Choice{} : Choice{static_cast<std::size_t>(std::floor(seconds / 0.25 + 1e-9))};
  };
  CHECK(choices_around(choose, 1.0) == std::vector<Choice>{{2}, {3}, {4}, {5}, {6}});
  CHECK(choices_around(choose, 0.1).empty());
}

TEST_CASE("what was not compared at equal time is said") {
  CompressTable table;
  table.chosen = "ranks by search";
  table.rows = {{"whole", 1.0, 2.0, 0.0, 0.0, 100.0},
                {"ranks by search", 1.0, 1.0, 0.98, 0.0, 40.0},
                {"equal shares", 1.2, 1.015, 1.0, 1.015, 42.0},
                {"equal energy", 1.1, 0.91, 1.0, 0.91, 36.0},
                {"equal energy, trained on", 1.0, 0.91, 1.0, 0.91, 36.0},
                {"smaller, from scratch", 1.1, 0.97, 0.0, 0.97, 30.0}};
  std::vector<std::string> said;
  for (const auto& line : table.lines())
    if (line.find("no comparison") != std::string::npos) said.push_back(line);
  CHECK(said ==
        std::vector<std::string>{"equal energy: 0.91 of the time of the ranks by search, no comparison at equal "
                                 "time: its steps come no nearer here"});
  CHECK(table.json().find("\"time_over_chosen\": 0.91") != std::string::npos);
  CHECK(slower_than_allowed("ranks by table", 0.004, 0.0055, 0.005) ==
        "ranks by table: predicted to take 4 ms, measured to take 5.5 ms of 5 ms that are allowed, and none that are "
        "faster were found; measure again on a quiet machine, or allow more");
}

TEST_CASE("where choosing ranks gains nothing, the summary says so") {
  CompressTable table;
  table.chosen = "ranks by search";
  table.rows = {{"whole", 1.0, 2.0},
                {"ranks by search", 1.3, 1.0, 0.0, 0.0, 40.0, {8, 4}},
                {"equal shares", 1.4, 1.0, 0.0, 1.0, 40.0, {8, 4}},
                {"ranks by search, trained on", 1.1, 1.0, 0.0, 0.0, 40.0, {8, 4}}};
  CHECK(gain_of_search(table) == "the ranks by search are those of equal shares: choosing ranks gains nothing here");
  table.rows[2].ranks = {6, 6};
  CHECK(gain_of_search(table).empty());
  table.rows[2].loss = 1.25;
  CHECK(gain_of_search(table) ==
        "equal shares lose no more than the ranks by search (1.25 and 1.3): choosing ranks gains nothing here");
  table.rows.push_back({"equal shares, trained on", 1.2, 1.0, 0.0, 1.0, 40.0, {6, 6}});
  CHECK(gain_of_search(table).empty());  // what counts are the networks that were trained on
  table.rows.back().loss = 1.1;
  CHECK(table.lines().size() > table.rows.size());
  CHECK(gain_of_search(table) ==
        "equal shares lose no more than the ranks by search (1.1 and 1.1): choosing ranks gains nothing here");
  table.rows.erase(table.rows.begin() + 2);
  CHECK(gain_of_search(table).empty());
}

TEST_CASE("a table of multiplications predicts those of the layers, exactly") {
  CostTable table;
  table.layers.resize(2);
  table.layers[0].inputs = 20, table.layers[0].outputs = 30, table.layers[0].places = 7;
  table.layers[1].inputs = 12, table.layers[1].outputs = 8, table.layers[1].taps = 9;
  table.candidates = {{{4}, {10}, {0}}, {{2}, {0}}};
  for (auto& list : table.candidates)
    for (auto& candidate : list) candidate.seconds = 0.5;  // by a clock
  count_multiplications(table);
  CHECK(table.counted);
  CHECK(table.seconds == 7 * 20 * 30 + 9 * 12 * 8);
  CHECK(table.predicted({0, 1}) == 7 * 4 * (20 + 30) + 9 * 12 * 8);
  CHECK(table.predicted({2, 0}) == 7 * 20 * 30 + 9 * 2 * 2 + 2 * 12 + 2 * 8);
  CHECK(table.predicted(fastest(table)) == 7 * 4 * 50 + 9 * 4 + 2 * 20);
}
