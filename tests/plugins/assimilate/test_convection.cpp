// Convection found again from coarse, noisy observations: a twin experiment, an earlier run as the truth, u and w from
// b.
#include "plugins/superres/writers/fields.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/assimilate/stage_case.hpp"
#include "tests/plugins/superres/recorded_flow.hpp"

using namespace cambium;
using namespace cambium::assimilate::test;

namespace {

/// A stage that knows the models of superres, too.
struct Flows : Stage {
  explicit Flows(MPI_Comm communicator = MPI_COMM_WORLD) : Stage(communicator) { superres::register_types(registry); }
};

const std::string layer =
    "model: {type: rayleigh_benard, rayleigh: 1e6, width: 2, cells: [48, 24]}, spin_up: 25, "
    "climatology: {samples: 24, runs: 8, interval: 4}, ";

}  // namespace

TEST_CASE("every fourth point with 5 % noise, once a free-fall time: the filter is nearer than its observations") {
  auto v =
      Flows().run("{" + layer + R"(observations: {fields: [b, u, w], every: 1, stride: [4, 4], relative_error: 0.05},
      cycles: 14, burn_in: 7, filters: {letkf: {type: letkf, members: 12, localisation: 0.3, inflation: 1.05, relaxation: 0.7},
      nudging: {type: nudging, localisation: 0.15, gain: 0.5}, free: {type: free_run}}})");
  for (const auto& [key, value] : v) UNSCOPED_INFO(key << " " << value);
  for (const char* field : {"b", "u", "w"}) {
    CHECK(v[std::string("letkf_error_") + field] < 0.05);
    CHECK(v[std::string("letkf_error_") + field] < v[std::string("nudging_error_") + field]);
    CHECK(v[std::string("free_error_") + field] > 0.3);
  }
  CHECK(v["letkf_ratio"] > 0.5);
  CHECK(v["letkf_ratio"] < 2.0);
}

TEST_CASE("velocities are recovered from the buoyancy alone") {
  auto v = Flows().run("{" + layer + R"(observations: {fields: [b], every: 1, stride: [4, 4], relative_error: 0.05},
      cycles: 24, burn_in: 16, filters: {letkf: {type: letkf, members: 12, localisation: 0.3, inflation: 1.05, relaxation: 0.7}}})");
  for (const auto& [key, value] : v) UNSCOPED_INFO(key << " " << value);
  for (const char* field : {"b", "u", "w"}) CHECK(v[std::string("letkf_error_") + field] < 0.1);
}

TEST_CASE("members of a flow on any number of ranks, the same bits") {
  const std::string deck = "{" + layer + R"(observations: {fields: [b], every: 0.5, stride: [6, 4], relative_error: 0.1,
      operator: blocks}, cycles: 2, filters: {letkf: {type: letkf, members: 5, localisation: 0.3}}})";
  const auto shared = Flows().run(deck), alone = Flows(MPI_COMM_SELF).run(deck);
  for (const auto& [key, value] : alone) CHECK(shared.at(key) == value);
}

TEST_CASE("an earlier run of a cavity as the truth, while it fills") {
  superres::test::Workshop shop;
  superres::test::Square run("{rayleigh: 1e6, cells: [32, 32], end_time: 8, sample_interval: 0.5}");
  const auto path = shop.record(run, "cavity.h5", 3.0, 8.0, 0.5);
  auto v = Flows().run("{model: {type: cavity, rayleigh: 1e6, cells: [32, 32]}, data: " + path + R"(, spin_up: 1,
      climatology: {samples: 12, interval: 0.5},
      observations: {fields: [b], every: 0.5, stride: [4, 4], relative_error: 0.05}, cycles: 10, burn_in: 2.5,
      filters: {letkf: {type: letkf, members: 12, localisation: 0.3, inflation: 1.05}, free: {type: free_run}}})");
  for (const auto& [key, value] : v) UNSCOPED_INFO(key << " " << value);
  CHECK(v["letkf_error_b"] < 0.1);
  CHECK(v["letkf_error_b"] < 0.5 * v["free_error_b"]);
  CHECK(v["letkf_error_w"] < v["free_error_w"]);
}
