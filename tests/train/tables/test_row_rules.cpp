// What a step makes of one row, against the formulas.
#include <cmath>
#include <vector>

#include "core/train/tables/row_rule.hpp"
#include "tests/catch.hpp"

using namespace cambium::train;

TEST_CASE("sgd, adagrad and row-wise adam follow their formulas") {
  const std::vector<std::vector<double>> gradients{{0.5, -1.0, 2.0}, {0.1, 0.2, -0.3}};
  TableKeys keys;
  const double rate = 0.05;
  std::vector<double> w{1.0, 2.0, 3.0}, state;

  keys.optimizer = TableKeys::Rule::sgd;
  CHECK(state_width(keys.optimizer, 3) == 0);
  update_row<double>(keys, rate, 3, gradients[0].data(), w.data(), nullptr);
  for (std::size_t k = 0; k < 3; ++k) CHECK(w[k] == Approx(1.0 + static_cast<double>(k) - rate * gradients[0][k]));

  keys.optimizer = TableKeys::Rule::adagrad;
  w = {1.0, 2.0, 3.0};
  state.assign(3, 0.0);
  REQUIRE(state_width(keys.optimizer, 3) == 3);
  for (const auto& g : gradients) update_row<double>(keys, rate, 3, g.data(), w.data(), state.data());
  for (std::size_t k = 0; k < 3; ++k) {
    const double a = gradients[0][k], b = gradients[1][k];
    CHECK(state[k] == Approx(a * a + b * b));
    CHECK(w[k] == Approx(1.0 + static_cast<double>(k) - rate * a / (std::abs(a) + 1e-8) -
                         rate * b / (std::sqrt(a * a + b * b) + 1e-8)));
  }

  keys.optimizer = TableKeys::Rule::adam;
  w = {1.0, 2.0, 3.0};
  state.assign(5, 0.0);
  REQUIRE(state_width(keys.optimizer, 3) == 5);
  std::vector<double> m(3, 0.0), expected = w;
  double v = 0.0;
  for (int t = 1; t <= 2; ++t) {
    const auto& g = gradients[t - 1];
    v = 0.999 * v + 0.001 * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / 3.0;
    for (std::size_t k = 0; k < 3; ++k) {
      m[k] = 0.9 * m[k] + 0.1 * g[k];
      expected[k] -= rate * m[k] / (1.0 - std::pow(0.9, t)) / (std::sqrt(v / (1.0 - std::pow(0.999, t))) + 1e-8);
    }
    update_row<double>(keys, rate, 3, g.data(), w.data(), state.data());
  }
  for (std::size_t k = 0; k < 3; ++k) CHECK(w[k] == Approx(expected[k]).epsilon(1e-12));
  CHECK(state[4] == 2.0);
}

TEST_CASE("decay shrinks a row before each rule, by its rate") {
  const std::vector<double> g{0.5, -1.0, 2.0};
  for (const auto rule : {TableKeys::Rule::sgd, TableKeys::Rule::adagrad, TableKeys::Rule::adam}) {
    TableKeys keys;
    keys.optimizer = rule;
    std::vector<double> plain{0.75 * 1.0, 0.75 * 2.0, 0.75 * 3.0}, shrunk{1.0, 2.0, 3.0};
    std::vector<double> a(state_width(rule, 3), 0.0), b = a;
    update_row<double>(keys, 0.05, 3, g.data(), plain.data(), a.data());
    keys.decay = 5.0;  // 1 - 0.05 x 5
    update_row<double>(keys, 0.05, 3, g.data(), shrunk.data(), b.data());
    for (std::size_t k = 0; k < 3; ++k) CHECK(shrunk[k] == Approx(plain[k]).epsilon(1e-14));
    CHECK(a == b);
  }
}
