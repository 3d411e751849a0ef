// Parameters with keys of their own.
#include "core/base/key_error.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/bounded_gradient.hpp"
#include "core/train/optimizers/lion.hpp"
#include "core/train/optimizers/sgd.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

Comm& self() {
  static Comm world(MPI_COMM_SELF);
  return world;
}
Log quiet;
Timing timing_of_groups;
Context context() { return Context{self(), quiet, timing_of_groups}; }

using Numbers = std::vector<double>;

std::vector<ParameterInfo> parameters() {
  return {{"first.weight", {7, 5}, true}, {"first.bias", {7}, false}, {"second.weight", {3, 2, 4}, true},
          {"second.bias", {3}, false},    {"scale", {1}, true},       {"tall.weight", {40, 3}, true}};
}

Numbers wide(const FlatBuffer& buffer, std::size_t k) {
  const auto values = buffer.values<double>(k);
  return {values.begin(), values.end()};
}

std::string refusal(const ParameterGroups& groups) {
  try {
    require_matches(groups, parameters());
  } catch (const KeyError& error) {
    return error.key() + ": " + error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("parameter groups: rate, decay and frozen parameters by name") {
  auto ctx = context();
  const ParameterGroups groups{{.match = "first.*", .freeze = true},
                               {.match = "*.bias", .rate = 0.25, .weight_decay = 0.5},
                               {.match = "tall*", .rate = 2.0}};
  const FlatLayout layout(parameters(), 60);
  Sgd sgd({.momentum = 0.9, .weight_decay = 0.1, .groups = groups}, ctx);
  AdamW adamw({{.weight_decay = 0.1, .groups = groups}}, ctx);
  Lion lion({.weight_decay = 0.1, .groups = groups}, ctx);
  for (Optimizer* optimizer :
       {static_cast<Optimizer*>(&sgd), static_cast<Optimizer*>(&adamw), static_cast<Optimizer*>(&lion)}) {
    // Each tensor beside an optimizer that has its keys for all.
    for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
      const double rates[] = {0, 0, 1, 0.25, 1, 2}, decays[] = {0, 0, 0.1, 0.5, 0.1, 0.1};
      ParameterInfo info = layout.tensors()[k].info;
      info.decay = true;
      const FlatLayout alone({info}, 60);
      Sgd sgd_alone({.momentum = 0.9, .weight_decay = decays[k]}, ctx);
      AdamW adamw_alone({{.weight_decay = decays[k]}}, ctx);
      Lion lion_alone({.weight_decay = decays[k]}, ctx);
      Optimizer& other = optimizer == &sgd     ? static_cast<Optimizer&>(sgd_alone)
                         : optimizer == &adamw ? static_cast<Optimizer&>(adamw_alone)
                                               : lion_alone;
      FlatBuffer w(layout, DType::f64), g(layout, DType::f64), one(alone, DType::f64), h(alone, DType::f64);
      fill(w, 1, 0.5);
      std::copy(w.values<double>(k).begin(), w.values<double>(k).end(), one.values<double>(0).begin());
      auto states = make_states(*optimizer, layout, DType::f64), few = make_states(other, alone, DType::f64);
      for (int step = 1; step <= 8; ++step) {
        fill(g, 100 + step, 0.1);
        std::copy(g.values<double>(k).begin(), g.values<double>(k).end(), h.values<double>(0).begin());
        optimizer->step({w, g, states, 0.01, step});
        if (rates[k] > 0) other.step({one, h, few, 0.01 * rates[k], step});
      }
      CHECK(wide(w, k) == wide(one, 0));
    }
  }
}

TEST_CASE("the norm of a gradient is that of the parameters that are not frozen") {
  const FlatLayout layout(parameters(), 60);
  FlatBuffer g(layout, DType::f64);
  fill(g, 3, 0.1);
  double all = 0.0, trained = 0.0;
  for (std::size_t k = 0; k < layout.tensors().size(); ++k)
    for (const double x : wide(g, k)) {
      all += 0.25 * x * x;
      if (k >= 2) trained += 0.25 * x * x;
    }
  const std::vector<ParameterGroup> groups{{.match = "scale", .rate = 0.0}, {.match = "first.*", .freeze = true}};
  const Numbers before = wide(g, 2);
  const Clip clip{0.01, {}};
  FlatBuffer other(layout, DType::f64);
  other.copy_from(g);
  CHECK(bound_gradient(other, 0.5, clip) == Approx(std::sqrt(all)).epsilon(1e-14));
  CHECK(bound_gradient(g, 0.5, clip, groups) == Approx(std::sqrt(trained)).epsilon(1e-14));
  CHECK(wide(g, 2)[3] == Approx(0.5 * before[3] * 0.01 / std::sqrt(trained)).epsilon(1e-14));
}

TEST_CASE("groups that no parameter belongs to, and rates that are none, are refused") {
  CHECK(refusal({{.match = "*.bias"}}) == "none");
  CHECK(refusal({{.match = "*.gain"}}) ==
        "optimizer.groups: no parameter of the network is named like '*.gain'; it has: first.weight, first.bias, "
        "second.weight, second.bias, scale, tall.weight");
  CHECK(cambium::train::detail::betas_problem({0.9, 0.99}).empty());
  CHECK(cambium::train::detail::betas_problem({0.9, 1.0}) ==
        "betas: 1 is no decay rate; give numbers from 0 to below 1");
}
