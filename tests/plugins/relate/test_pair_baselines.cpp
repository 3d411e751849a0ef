// Baselines against plain forms of themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/parallel/random.hpp"
#include "plugins/relate/datasets/click_file.hpp"
#include "plugins/relate/tasks/logistic.hpp"
#include "plugins/relate/tasks/pair_baselines.hpp"
#include "plugins/relate/tasks/scores.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

PairMatrices small() {
  MadePairs keys;
  keys.compounds = 7;
  keys.targets = 5;
  keys.families = 2;
  const auto table = make_pairs(keys);
  return matrices_of(table, std::vector<Role>(table.entries.size(), Role::training));
}

/// Of k % by, k below count.
double mean_of_remainders(int count, int by) {
  double sum = 0.0;
  for (int k = 0; k < count; ++k) sum += k % by;
  return sum / count;
}

/// x of A x = b by elimination.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= f * a[k][j];
      b[i] -= f * b[k];
    }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

}  // namespace

TEST_CASE("additive means are shrunk means of what adds up") {
  PairMatrices m;
  m.compounds = 300;
  m.targets = 200;
  for (std::int64_t i = 0; i < m.compounds; ++i)
    for (std::int64_t j = 0; j < m.targets; ++j) {
      m.value.push_back(5.0 + 0.01 * static_cast<double>(i % 17) - 0.02 * static_cast<double>(j % 13));
      m.known.push_back(1);
    }
  const auto means = additive_means(m);
  // Each mean is shrunk by three pairs, of 200 and of 300.
  double centre = 0.0;
  for (const double value : m.value) centre += value / static_cast<double>(m.value.size());
  const auto expected = [&](std::size_t i, std::size_t j) {
    const double row = 5.0 + 0.01 * static_cast<double>(i % 17) - 0.02 * mean_of_remainders(200, 13) - centre,
                 column = 5.0 + 0.01 * mean_of_remainders(300, 17) - 0.02 * static_cast<double>(j % 13) - centre;
    return centre + row * 200.0 / 203.0 + column * 300.0 / 303.0;
  };
  for (std::size_t k = 0; k < means.size(); k += 997)
    CHECK(means[k] == Approx(expected(k / 200, k % 200)).margin(1e-5));
}

TEST_CASE("the ridge of conjugate gradients is that of a dense solve") {
  const auto m = small();
  const auto base = additive_means(m);
  std::vector<char> held(m.known.size(), 0);
  for (std::size_t k = 0; k < held.size(); k += 4) held[k] = m.known[k];
  KroneckerChoice choice;
  const auto found = kronecker_ridge(m, base, held, choice);
  std::vector<std::size_t> known;
  for (std::size_t k = 0; k < m.known.size(); ++k)
    if (m.known[k]) known.push_back(k);
  const auto columns = static_cast<std::size_t>(m.targets), rows = static_cast<std::size_t>(m.compounds);
  const auto kernel = [&](std::size_t a, std::size_t b) {
    return std::pow(m.compound_similarity[a / columns * rows + b / columns], choice.compound_power) *
           std::pow(m.target_similarity[a % columns * columns + b % columns], choice.target_power);
  };
  std::vector<std::vector<double>> a;
  std::vector<double> left;
  for (const auto i : known) {
    a.emplace_back();
    for (const auto j : known) a.back().push_back(kernel(i, j) + (i == j ? choice.lambda : 0.0));
    left.push_back(m.value[i] - base[i]);
  }
  const auto x = solved(a, left);
  for (std::size_t k = 0; k < found.size(); ++k) {
    double expected = base[k];
    for (std::size_t n = 0; n < known.size(); ++n) expected += kernel(k, known[n]) * x[n];
    CHECK(found[k] == Approx(expected).margin(2e-3));
  }
}

TEST_CASE("what the ridge says of held pairs does not know their values") {
  auto m = small();
  std::vector<char> held(m.known.size(), 0);
  for (std::size_t k = 0; k < held.size(); k += 4) held[k] = m.known[k];
  KroneckerChoice first, second;
  kronecker_ridge(m, additive_means(m), held, first);
  for (std::size_t k = 0; k < held.size(); ++k)
    if (held[k]) m.value[k] += 0.003 * static_cast<double>(k % 3);
  kronecker_ridge(m, additive_means(m), held, second);
  REQUIRE(first.lambda == second.lambda);
  REQUIRE(first.compound_power == second.compound_power);
  REQUIRE(first.without_held.size() == m.value.size());
  CHECK(first.without_held == second.without_held);
  const auto before = pair_baselines(small(), held), after = pair_baselines(m, held);
  for (std::size_t k = 2; k < before.size(); ++k) {
    CHECK(before[k].without_held.size() == m.value.size());
    CHECK(before[k].without_held == after[k].without_held);
    CHECK(before[k].value != after[k].value);
  }
}

TEST_CASE("neighbours weigh what the means leave by similarity") {
  const auto m = small();
  const auto base = additive_means(m);
  const auto found = with_neighbours(m, base, 2);
  REQUIRE(found.size() == 3);
  const auto columns = static_cast<std::size_t>(m.targets);
  for (std::size_t i = 0; i < static_cast<std::size_t>(m.compounds); ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      std::vector<double> others;
      for (std::size_t t = 0; t < columns; ++t) others.push_back(t == j ? 0.0 : m.target_similarity[j * columns + t]);
      auto sorted = others;
      std::sort(sorted.rbegin(), sorted.rend());
      double sum = 0.0, weight = 1e-3;
      for (std::size_t t = 0; t < columns; ++t) {
        if (others[t] < sorted[1] || !m.known[i * columns + t]) continue;
        const double w = std::pow(others[t], 8.0);
        sum += w * (m.value[i * columns + t] - base[i * columns + t]);
        weight += w;
      }
      CHECK(found[1].value[i * columns + j] == Approx(base[i * columns + j] + sum / weight).epsilon(1e-10));
    }
}

TEST_CASE("logistic regression finds weights by which clicks were drawn") {
  MadeClicks keys;
  keys.records = 4000;
  keys.columns = 3;
  keys.rows = 8;
  const LogisticRegression logistic(make_clicks(keys));
  keys.first = 4000;
  const auto fresh = make_clicks(keys);
  CHECK(area_under_curve(fresh.answers, logistic.probabilities(fresh), 0.5) > 0.58);
}

TEST_CASE("L-BFGS finds the minimum of a valley") {
  const auto valley = [](const std::vector<double>& x, std::vector<double>& g) {
    const double a = 1.0 - x[0], b = x[1] - x[0] * x[0];
    g[0] = -2.0 * a - 400.0 * x[0] * b;
    g[1] = 200.0 * b;
    return a * a + 100.0 * b * b;
  };
  const auto x = minimise({-1.2, 1.0}, valley, 500);
  CHECK(x[0] == Approx(1.0).margin(1e-3));
  CHECK(x[1] == Approx(1.0).margin(2e-3));
}

TEST_CASE("with a validation fold a network and the best baseline there are put together, and the table shows that") {
  Comm self(MPI_COMM_SELF);
  SharedScratch scratch(self);
  Place place(self, scratch.file("together"));
  const auto data = [&](const char* part, int validation) {
    return fmt::format("{{type: pairs, made_up: {{compounds: 20, targets: 15}}, folds: {{validation: {}}}, part: {}}}",
                       validation, part);
  };
  place.run("train", fmt::format("{{network: {{type: affinity, width: 4, layers: [8]}}, dataset: {}, batch: 16, steps: "
                                 "40, learning_rate: {{type: constant, start: 0.01}}}}",
                                 data("training", 4)));
  const auto judged = [&](int validation) {
    return place
        .run("predict_affinities", fmt::format("{{models: ['{}/model.h5'], dataset: {}}}", place.context.run_directory,
                                               data("test", validation)))
        ->lines();
  };
  const auto line = [](const std::vector<std::string>& lines, const char* begin) {
    return std::find_if(lines.begin(), lines.end(), [&](const auto& text) { return text.starts_with(begin); });
  };
  const auto lines = judged(4);
  const auto together = line(lines, "network ");
  REQUIRE(together != lines.end());
  const std::string method = together->substr(0, together->find("  "));
  const double share = std::stod(method.substr(8)), rest = std::stod(method.substr(method.rfind(' ')));
  CHECK(share + rest == Approx(1.0));
  CHECK(line(lines, ("highest by " + method).c_str()) != lines.end());
  const auto without = judged(-1);
  CHECK(line(without, "network ") == without.end());
}

TEST_CASE("a median lies between the values in the middle; models that other pairs were kept from are warned of") {
  Comm self(MPI_COMM_SELF);
  SharedScratch scratch(self);
  Place place(self, scratch.file("median"));
  const auto path = scratch.file("pairs.csv");
  std::ofstream(path) << "compound,smiles,target,sequence,pKd,fold\n"
                         "A,CCO,P,MKL,5,0\nB,CCN,P,MKL,6,1\nA,CCO,Q,MKV,7,1\nB,CCN,Q,MKV,4,0\nC,CCC,P,MKL,6,2\n";
  const auto data = [&](int fold, const char* part) {
    return fmt::format("{{type: pairs, file: {}, kmer_length: 1, folds: {{by: given, test_fold: {}}}, split: {}}}",
                       path, fold, part);
  };
  place.run("train",
            fmt::format("{{network: {{type: affinity, embedding_dim: 2, layers: [2]}}, dataset: {}, batch: 2, steps: "
                        "2, learning_rate: {{type: constant, start: 0.01}}}}",
                        data(0, "training")));
  const auto judged = [&](int fold) {
    return place
        .run("predict_affinities",
             fmt::format("{{models: ['{}/model.h5'], dataset: {}}}", place.context.run_directory, data(fold, "test")))
        ->lines();
  };
  const auto lines = judged(0);
  CHECK(std::find(lines.begin(), lines.end(), "AUC: a hit is a value above 4.5") != lines.end());
  CHECK(place.log.warnings().empty());
  judged(1);
  REQUIRE(place.log.warnings().size() == 1);
  CHECK(place.log.warnings()[0].text ==
        fmt::format(
            "models: '{}/model.h5' was trained with other test pairs than those that are evaluated, so that training "
            "may have included some of them; give the data sets of training and of this stage the same folds",
            place.context.run_directory));
}
