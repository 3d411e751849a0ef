// Ranks under a budget: never slower than allowed, and no choice that is as fast loses less.
#include <limits>

#include "core/parallel/random.hpp"
#include "core/train/low_rank/baselines.hpp"
#include "core/train/low_rank/choose_ranks.hpp"
#include "core/train/low_rank/smaller_network.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

using Table = std::vector<std::vector<RankCandidate>>;

Table random_table(std::uint64_t id, std::size_t layers, std::size_t candidates) {
  Table out(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    for (std::size_t c = 0; c + 1 < candidates; ++c) {
      const Random4 r(8, Stream::test, 100 * id + l, c);
      out[l].push_back({static_cast<std::int64_t>(c + 1), r.uniform(0), -r.uniform(1)});
    }
    out[l].push_back({0, 0.0, 0.0});
  }
  return out;
}

std::pair<double, double> sums(const Table& table, const std::vector<std::size_t>& choice) {
  double loss = 0.0, seconds = 0.0;
  for (std::size_t l = 0; l < choice.size(); ++l) {
    loss += table[l][choice[l]].loss;
    seconds += table[l][choice[l]].seconds;
  }
  return {loss, seconds};
}

double least_loss(const Table& table, double seconds) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> choice(table.size(), 0);
  for (;;) {
    const auto [loss, time] = sums(table, choice);
    if (time <= seconds) best = std::min(best, loss);
    std::size_t l = 0;
    while (l < table.size() && ++choice[l] == table[l].size()) choice[l++] = 0;
    if (l == table.size()) return best;
  }
}

}  // namespace

TEST_CASE("chosen ranks are within the time, and lose as little as any") {
  for (std::uint64_t id = 0; id < 40; ++id) {
    const auto table = random_table(id, 5, 5);
    for (const double seconds : {0.0, -0.5, -1.5, -2.5}) {
      INFO("table " << id << ", " << seconds << " s");
      const auto choice = choose_ranks(table, seconds);
      const double best = least_loss(table, seconds);
      REQUIRE(choice.empty() == (best == std::numeric_limits<double>::infinity()));
      if (choice.empty()) continue;
      const auto [loss, time] = sums(table, choice);
      CHECK(time <= seconds + 1e-12);
      // Times are rounded to thousandths of their span: a choice just within the limit may be missed.
      CHECK(loss <= least_loss(table, seconds - 0.01) + 1e-12);
      CHECK(loss >= best - 1e-12);
    }
  }
}

TEST_CASE("candidates cost less than the whole layer, which comes last") {
  FactorLayer matrix;
  matrix.inputs = 200;
  matrix.outputs = 100;
  FactorLayer kernel;
  kernel.inputs = 16;
  kernel.outputs = 32;
  kernel.taps = 27;
  kernel.places = 64;
  CHECK(matrix.multiplications(10) == 3000);
  CHECK(kernel.multiplications(8) == 64 * (27 * 64 + 8 * 16 + 8 * 32));
  // No fewer channels than there are: that product is left out.
  CHECK(kernel.multiplications(16) == 64 * (27 * 256 + 16 * 32));
  for (const auto& layer : {matrix, kernel}) {
    const auto ranks = candidate_ranks(layer, 8);
    CHECK(ranks.back() == 0);
    CHECK(ranks.size() > 4);
    for (std::size_t k = 0; k + 1 < ranks.size(); ++k) {
      CHECK(layer.multiplications(ranks[k]) < layer.multiplications(0));
      CHECK((ranks[k] < 8 || ranks[k] % 8 == 0));
      if (k > 0) CHECK(ranks[k] > ranks[k - 1]);
    }
  }
  const auto all = candidate_ranks(matrix, 8), few = candidate_ranks(matrix, 8, 4);
  REQUIRE(few.size() == 5);
  CHECK(few[0] == all[0]);
  CHECK(few[3] == all[all.size() - 2]);
  CHECK(few[4] == 0);
  FactorLayer tiny;
  tiny.inputs = tiny.outputs = 1;
  CHECK(candidate_ranks(tiny, 8) == std::vector<std::int64_t>{0});
}

TEST_CASE("measured times are made to rise, nearest to what was measured") {
  std::vector<double> values{-3, -5, -4, -1, -2, 0};
  make_rising(values);
  CHECK(values == std::vector<double>{-4, -4, -4, -1.5, -1.5, 0});
  std::vector<double> falling{2, 1};
  make_rising(falling);
  CHECK(falling == std::vector<double>{1.5, 1.5});
  std::vector<double> none;
  make_rising(none);
  CHECK(none.empty());
}

TEST_CASE("equal shares are the largest that are fast enough, layer after layer") {
  CostTable table;
  table.seconds = 1.0;
  table.candidates = {{{1, 0.3, -0.4}, {2, 0.1, -0.2}, {0, 0.0, 0.0}}, {{1, 0.3, -0.4}, {2, 0.1, -0.1}, {0, 0.0, 0.0}}};
  CHECK(equal_shares(table, 1.0) == std::vector<std::size_t>{2, 2});
  CHECK(equal_shares(table, 0.75) == std::vector<std::size_t>{1, 1});
  CHECK(equal_shares(table, 0.95) == std::vector<std::size_t>{2, 1});
  CHECK(equal_shares(table, 0.3) == std::vector<std::size_t>{0, 0});
  CHECK(equal_shares(table, 0.1).empty());
}

TEST_CASE("equal energy keeps the same share of every layer's squares, the largest that is fast enough") {
  CostTable table;
  table.seconds = 1.0;
  table.candidates = {{{1, 0.3, -0.4, 0.5}, {2, 0.1, -0.2, 0.9}, {0, 0.0, 0.0, 1.0}},
                      {{1, 0.3, -0.4, 0.8}, {2, 0.1, -0.1, 0.95}, {0, 0.0, 0.0, 1.0}}};
  CHECK(equal_energy(table, 1.0) == std::vector<std::size_t>{2, 2});
  CHECK(equal_energy(table, 0.75) == std::vector<std::size_t>{1, 1});  // 0.9 of either
  CHECK(equal_energy(table, 0.85) == std::vector<std::size_t>{1, 2});  // the first would take too long, the second not
  CHECK(equal_energy(table, 0.45) == std::vector<std::size_t>{1, 0});  // 0.8 of either: the first needs its rank 2
  CHECK(equal_energy(table, 0.2) == std::vector<std::size_t>{0, 0});
  CHECK(equal_energy(table, 0.1).empty());
  CHECK(fastest(table) == std::vector<std::size_t>{0, 0});
}

TEST_CASE("a narrower network has a share of every width, and no ranks") {
  const auto keys = deck::parse("{layers: [100, 30, 1], hidden: 8, kernel: 3, ranks: [1, 2, 3]}", "test");
  const auto half = narrowed(keys, {{"layers"}, {"hidden", 4}, {"absent"}}, 0.4);
  CHECK(half["layers"][0].text() == "40");
  CHECK(half["layers"][1].text() == "12");
  CHECK(half["layers"][2].text() == "1");
  CHECK(half["hidden"].text() == "4");
  CHECK(half["kernel"].text() == "3");
  CHECK(half["ranks"].size() == 0);
}
