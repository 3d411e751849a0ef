// Baselines on real pairs and clicks: the figures that a network has to beat (CAMBIUM_DATA/relate; shared yardsticks
// computed with numpy).
#include <algorithm>
#include <cmath>

#include "plugins/relate/datasets/click_file.hpp"
#include "plugins/relate/tasks/logistic.hpp"
#include "plugins/relate/tasks/pair_baselines.hpp"
#include "plugins/relate/tasks/scores.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

struct Figure {
  const char* method;
  double concordance, error;
};

/// Baselines on the published test fold; those of `expected` must agree to the digits given.
void compare(const std::string& path, const std::vector<Figure>& expected) {
  const auto table = read_pair_h5(path);
  FoldKeys folds;
  folds.by = FoldKeys::By::given;
  folds.fold = 5;
  folds.validation = 4;
  const auto roles = roles_of(table, folds);
  const auto m = matrices_of(table, roles);
  std::vector<char> held(m.known.size(), 0);
  std::vector<double> truth;
  for (std::size_t k = 0; k < roles.size(); ++k) {
    const auto at = static_cast<std::size_t>(table.entries[k].compound * m.targets + table.entries[k].target);
    if (roles[k] == Role::validation) held[at] = 1;
    if (roles[k] == Role::test) truth.push_back(table.entries[k].value);
  }
  int seen = 0;
  for (const auto& baseline : pair_baselines(m, held)) {
    std::vector<double> predicted;
    for (std::size_t k = 0; k < roles.size(); ++k)
      if (roles[k] == Role::test)
        predicted.push_back(baseline.value[table.entries[k].compound * m.targets + table.entries[k].target]);
    const double order = concordance(truth, predicted), error = mean_squared_error(truth, predicted);
    std::printf("%-50s %.4f %.4f\n", baseline.method.c_str(), order, error);
    for (const auto& figure : expected)
      if (baseline.method.starts_with(figure.method)) {
        ++seen;
        CHECK(std::abs(order - figure.concordance) < 0.0006);
        CHECK(std::abs(error - figure.error) < 0.0006);
      }
  }
  CHECK(seen == static_cast<int>(expected.size()));
}

}  // namespace

TEST_CASE("Davis: means, neighbours and ridge", "[data]") {
  const auto path = relate_data("davis.h5");
  if (path.empty()) return;
  compare(path,
          {{"additive means", 0.792, 0.558}, {"means + 5 nearest targets", 0.886, 0.256}, {"Kronecker", 0.893, 0.253}});
}

TEST_CASE("KIBA: means, neighbours and ridge", "[data]") {
  const auto path = relate_data("kiba.h5");
  if (path.empty()) return;
  compare(path, {{"additive means", 0.780, 0.353}, {"means + both", 0.839, 0.205}, {"Kronecker", 0.825, 0.222}});
}

TEST_CASE("Criteo: logistic regression on names of columns, and on numbers beside", "[data]") {
  const auto path = relate_data("criteo.h5");
  if (path.empty()) return;
  const auto coded = read_clicks({path, "coded_train", "", 4, {}}),
             later = read_clicks({path, "coded_test", "coded_train", 4, {}});
  CHECK(area_under_curve(later.answers, LogisticRegression(coded).probabilities(later), 0.5) > 0.73);
  const auto raw = read_clicks({path, "raw_train", "", 4, {}}),
             test = read_clicks({path, "raw_test", "raw_train", 4, {}});
  CHECK(area_under_curve(test.answers, LogisticRegression(raw).probabilities(test), 0.5) > 0.66);
}
