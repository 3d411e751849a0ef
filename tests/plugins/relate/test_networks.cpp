// Gradients of weights and rows against differences of the loss, in float64.
#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/relate/datasets/click_file.hpp"
#include "plugins/relate/datasets/pairs.hpp"
#include "plugins/relate/networks/affinity.hpp"
#include "plugins/relate/networks/dlrm.hpp"
#include "plugins/relate/networks/factorization_machine.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
};

double made(std::uint64_t what, std::size_t k) { return Random4(3, Stream::test, k, what).normal(0); }

void check_gradients(train::Network& network, const RecordPtr& records) {
  World world;
  Held data(records);
  network.fit_statistics(data, world.context);
  NetworkCase use(network);
  for (std::size_t p = 0; p < use.layout.tensors().size(); ++p) {
    const auto w = use.weights.values<double>(p);
    for (std::size_t k = 0; k < w.size(); ++k) w[k] = 0.4 * made(10 + p, k);
  }
  const auto infos = use.user.tables();
  std::vector<std::vector<double>> rows(infos.size());
  for (std::size_t t = 0; t < infos.size(); ++t)
    for (std::int64_t k = 0; k < infos[t].rows * infos[t].width; ++k)
      rows[t].push_back(0.4 * made(100 + t, static_cast<std::size_t>(k)));
  use.set_rows(rows);
  const auto samples = samples_of(records);
  constexpr double step = 1e-6;
  use.gradient(samples);
  const auto gradient = train::packed<double>(use.gradients);
  use.tables->step(1.0, 1.0);  // rows move by minus their gradients
  std::vector<std::vector<double>> moved;
  for (std::size_t t = 0; t < infos.size(); ++t) moved.push_back(use.rows(t));
  use.set_rows(rows);
  const auto difference = [&](double& value) {
    const double first = value;
    value = first + step;
    use.set_rows(rows);
    const double above = use.gradient(samples);
    value = first - step;
    use.set_rows(rows);
    const double below = use.gradient(samples);
    value = first;
    return (above - below) / (2.0 * step);
  };
  std::size_t number = 0;
  for (std::size_t p = 0; p < use.layout.tensors().size(); ++p) {
    const auto w = use.weights.values<double>(p);
    for (std::size_t k = 0; k < w.size(); ++k, ++number)
      if (number % 7 == 0) CHECK(gradient[number] == Approx(difference(w[k])).epsilon(1e-5).margin(1e-7));
  }
  int seen = 0;
  for (std::size_t t = 0; t < infos.size(); ++t)
    for (std::size_t k = 0; k < rows[t].size(); ++k) {
      const double expected = rows[t][k] - moved[t][k];
      if (expected == 0.0 || ++seen % 11 != 0) continue;
      CHECK(expected == Approx(difference(rows[t][k])).epsilon(1e-5).margin(1e-7));
    }
  CHECK(seen > 20);
}

}  // namespace

TEST_CASE("dlrm: gradients are those of its loss, with numbers or without, wide or not") {
  World world;
  for (const int numbers : {0, 3})
    for (const bool wide : {false, true})
      for (const auto loss : {Dlrm::Params::Objective::cross_entropy, Dlrm::Params::Objective::squared}) {
        Dlrm::Params params;
        params.width = 3;
        params.bottom = {4};
        params.top = {5};
        params.wide = wide;
        params.loss = loss;
        params.precision = Precision::float64;
        Dlrm network(params, world.context);
        MadeClicks keys;
        keys.records = 6;
        keys.columns = 3;
        keys.rows = 4;
        keys.numbers = numbers;
        check_gradients(network, share(make_clicks(keys)));
      }
}

TEST_CASE("factors: gradients are those of its loss, with numbers or without, with products or without") {
  World world;
  for (const int numbers : {0, 3})
    for (const int width : {0, 3})
      for (const auto loss :
           {FactorizationMachine::Params::Objective::cross_entropy, FactorizationMachine::Params::Objective::squared}) {
        FactorizationMachine::Params params;
        params.width = width;
        params.loss = loss;
        params.precision = Precision::float64;
        FactorizationMachine network(params, world.context);
        MadeClicks keys;
        keys.records = 40;
        keys.columns = 3;
        keys.rows = 20;
        keys.numbers = numbers;
        check_gradients(network, share(make_clicks(keys)));
      }
}

TEST_CASE("factors: gradients with bags of several rows") {
  World world;
  FactorizationMachine::Params params;
  params.width = 3;
  params.loss = FactorizationMachine::Params::Objective::squared;
  params.precision = Precision::float64;
  FactorizationMachine network(params, world.context);
  MadePairs keys;
  keys.compounds = 4;
  keys.targets = 3;
  keys.families = 2;
  keys.known = 1.0;
  const auto table = std::make_shared<const PairTable>(make_pairs(keys));
  const std::vector<Role> roles(table->entries.size(), Role::training);
  check_gradients(network, share(pair_records(table, roles, Role::training, {1, 50, 1})));
}

TEST_CASE("affinity: gradients are those of its loss") {
  World world;
  Affinity::Params params;
  params.width = 3;
  params.layers = {4};
  params.precision = Precision::float64;
  Affinity network(params, world.context);
  MadePairs keys;
  keys.compounds = 4;
  keys.targets = 3;
  keys.families = 2;
  keys.known = 1.0;
  const auto table = std::make_shared<const PairTable>(make_pairs(keys));
  const std::vector<Role> roles(table->entries.size(), Role::training);
  check_gradients(network, share(pair_records(table, roles, Role::training, {1, 50, 1})));
}

TEST_CASE("a network refuses rows outside its tables and records of another kind") {
  World world;
  Dlrm network({}, world.context);
  MadeClicks keys;
  keys.records = 50;
  keys.columns = 3;
  keys.rows = 4;
  Held few(share(make_clicks(keys)));
  network.fit_statistics(few, world.context);
  keys.rows = 40;
  const auto many = share(make_clicks(keys));
  std::string said;
  try {
    network.bags(samples_of(many));
  } catch (const InputError& error) {
    said = error.what();
  }
  CHECK(said.find(
            "is outside its table, which has 4 rows, numbered from 0; give records of the things that this dlrm was "
            "trained on") != std::string::npos);
  keys.columns = 4;
  keys.rows = 4;
  CHECK_THROWS_WITH(
      network.bags(samples_of(share(make_clicks(keys)))),
      "synthetic clicks: records have 4 columns and 4 dense inputs, but this dlrm reads 3 and 4; take records like "
      "those that it was trained on");
  Affinity affinity({}, world.context);
  CHECK_THROWS_WITH(affinity.restore(R"({"columns": [{"name": "a", "rows": 2}], "mean": [], "scale": [], "centre": 0,
    "spread": 1, "unit": ""})"),
                    "the state of this affinity names 1 tables instead of 4; its file is damaged or was changed");
  CHECK_THROWS_WITH(network.restore(R"({"columns": [{"name": "a", "rows": 0}], "mean": [], "scale": [], "centre": 0,
    "spread": 1, "unit": ""})"),
                    "the state of this dlrm holds invalid sizes of tables; its file is damaged or was changed");
  Affinity fresh({}, world.context);
  CHECK_THROWS_WITH(fresh.fit_statistics(few, world.context),
                    "affinity reads pairs of two things; give a dataset of type pairs");
}
