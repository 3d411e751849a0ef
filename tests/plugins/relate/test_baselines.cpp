// Baselines of choices whose settings are chosen on validation, against plain forms of themselves.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/relate/tasks/ease.hpp"
#include "plugins/relate/tasks/tuned_baselines.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

std::shared_ptr<const ChoiceTable> made(std::int64_t users, std::int64_t items) {
  MadeChoices keys;
  keys.users = users;
  keys.items = items;
  keys.each = 8;
  return std::make_shared<const ChoiceTable>(make_choices(keys));
}

using Matrix = std::vector<std::vector<double>>;

/// By Gauss and Jordan; for positive definite matrices.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix out(n, std::vector<double>(n, 0.0));
  for (std::size_t k = 0; k < n; ++k) out[k][k] = 1.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = a[k][k];
    for (std::size_t j = 0; j < n; ++j) {
      a[k][j] /= pivot;
      out[k][j] /= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double f = a[i][k];
      if (i == k || f == 0.0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] -= f * a[k][j];
        out[i][j] -= f * out[k][j];
      }
    }
  }
  return out;
}

/// x_u B with B_ji = -P_ji / P_ii off the diagonal.
std::vector<double> closed_form(const ChoiceTable& table, double lambda, std::int32_t user) {
  const auto n = static_cast<std::size_t>(table.items);
  Matrix gram(n, std::vector<double>(n, 0.0));
  for (const auto& list : table.training)
    for (const auto i : list)
      for (const auto j : list) gram[i][j] += 1.0;
  for (std::size_t i = 0; i < n; ++i) gram[i][i] += lambda;
  const auto p = inverse(gram);
  std::vector<double> out(n, 0.0);
  for (const auto j : table.training[user])
    for (std::size_t i = 0; i < n; ++i)
      if (i != static_cast<std::size_t>(j)) out[i] -= p[j][i] / p[i][i];
  return out;
}

}  // namespace

TEST_CASE("EASE is the closed form of its regression, by items and by users") {
  for (const auto& [users, items] : {std::pair{90, 60}, std::pair{40, 110}})
    for (const double lambda : {3.0, 50.0}) {
      const auto table = made(users, items);
      const Ease ease(table, lambda);
      CHECK(Ease::rows(*table) == std::min(users, items));
      for (const std::int32_t user : {0, 17, 39}) {
        const auto found = ease.scores(user), expected = closed_form(*table, lambda, user);
        for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-5));
      }
    }
}

TEST_CASE("item neighbours are the most alike by shrunk and powered counts") {
  const auto table = made(80, 50);
  const auto popular = popularity(*table);
  const NeighbourKeys keys{.user_power = 0.5, .item_power = 0.7, .shrink = 3.0, .neighbours = 6};
  const ItemNeighbours neighbours(*table, keys);
  const auto n = static_cast<std::size_t>(table->items);
  Matrix alike(n, std::vector<double>(n, 0.0));  // of a target the sources
  for (const auto& list : table->training)
    for (const auto i : list)
      for (const auto j : list)
        if (i != j)
          alike[i][j] += std::pow(static_cast<double>(list.size()), -0.5) /
                         (std::pow(popular[j], 0.7) * std::pow(popular[i], 0.3) + 3.0);
  for (auto& row : alike) {
    auto order = row;
    std::sort(order.rbegin(), order.rend());
    for (double& value : row)
      if (value < order[5] * (1.0 - 1e-6)) value = 0.0;
  }
  for (const std::int32_t user : {0, 5, 44}) {
    const auto found = neighbours.scores(table->training[user]);
    for (std::size_t i = 0; i < n; ++i) {
      // Two sources equally alike at the edge of the six may change places.
      if (std::count_if(alike[i].begin(), alike[i].end(), [](double x) { return x > 0.0; }) > 6) continue;
      double expected = 0.0;
      for (const auto j : table->training[user]) expected += alike[i][j];
      CHECK(found[i] == Approx(expected).margin(1e-6));
    }
  }
}

TEST_CASE("settings are chosen on validation, joined or not, else on a tenth of training, and never on tests") {
  auto table = make_choices({});
  const auto apart = tuning_split(table);
  CHECK(apart.training == table.training);
  CHECK(apart.test == table.validation);
  CHECK(apart.held_out == "validation");
  auto joined = table;
  join_validation(joined);
  const auto again = tuning_split(joined);
  CHECK(again.training == table.training);
  CHECK(again.test == table.validation);
  CHECK(again.held_out == "validation");
  joined.joined.clear();
  const auto drawn = tuning_split(joined);
  CHECK(drawn.held_out == "a tenth of training");
  std::size_t held = 0, all = 0;
  for (std::size_t u = 0; u < joined.training.size(); ++u) {
    auto both = drawn.training[u];
    both.insert(both.end(), drawn.test[u].begin(), drawn.test[u].end());
    std::sort(both.begin(), both.end());
    CHECK(both == joined.training[u]);
    held += drawn.test[u].size();
    all += joined.training[u].size();
  }
  CHECK(static_cast<double>(held) == Approx(0.1 * static_cast<double>(all)).epsilon(0.1));
  auto other = table;
  std::swap(other.test[0], other.test[1]);
  double first = 0.0, second = 0.0;
  CHECK(tuned_neighbours(tuning_split(table), 20, first) == tuned_neighbours(tuning_split(other), 20, second));
  CHECK(first == second);
}

TEST_CASE("the ridge of EASE is that of highest recall; a single one is not judged") {
  const auto split = std::make_shared<const ChoiceTable>(tuning_split(make_choices({})));
  double recall = 0.0, best = -1.0;
  const std::vector<double> lambdas{0.3, 10.0, 300.0, 1e5};
  const double chosen = tuned_lambda(split, lambdas, 10, recall);
  for (const double lambda : lambdas) {
    const Ease ease(split, lambda);
    const double found = mean_recall(
        *split, [&](std::int32_t user) { return ease.scores(user); }, 10);
    best = std::max(best, found);
    if (lambda == chosen) CHECK(found == recall);
  }
  CHECK(recall == best);
  CHECK(tuned_lambda(split, std::vector{7.0}, 10, recall) == 7.0);
  CHECK(std::isnan(recall));
}

TEST_CASE("EASE is left out where its matrix takes more memory than allowed, and the summary says so") {
  const auto table = made(90, 60);
  const auto baselines = choice_baselines(table, {.ease_lambda = {10.0}, .ease_memory = 14399.0});
  REQUIRE(baselines[3].method == "EASE");
  CHECK(!baselines[3].scores);
  CHECK(baselines[3].settings ==
        "left out: its matrix of 60 rows takes 1.44e-05 GB, more than ease_memory (1.44e-05 GB)");
  CHECK(choice_baselines(table, {.ease_lambda = {10.0}, .ease_memory = 14400.0})[3].scores);
  CHECK(choice_baselines(table, {})[3].method.starts_with("logistic"));
}

TEST_CASE("a matrix without a Cholesky factor in float32 is refused with the remedy") {
  ChoiceTable table;
  table.users = 3;
  table.items = 2;
  table.training = {{0, 1}, {0, 1}, {0, 1}};
  CHECK_THROWS_WITH(Ease(std::make_shared<const ChoiceTable>(table), 1e-12),
                    "EASE: the matrix of 2 rows has no Cholesky factor in float32 with lambda 1e-12; give larger "
                    "values of ease_lambda");
}
