// Convection found again from coarse, noisy observations: a twin experiment, an earlier run as the truth, u and w from
// b.
#include "core/io/hdf5/h5.hpp"
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
    "model: {type: rayleigh_benard, rayleigh: 1e6, aspect_ratio: 2, cells: [48, 24]}, spin_up: 25, "
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

TEST_CASE("the Prandtl number that a deck leaves out is that of the truth") {
  superres::test::Workshop shop;
  superres::test::Square run("{rayleigh: 1e5, prandtl: 3, cells: [16, 16], end_time: 4, sample_interval: 0.5}");
  const auto path = shop.record(run, "cavity.h5", 1.0, 4.0, 0.5);
  Flows stage;
  const auto error = [&](const std::string& prandtl) {
    return stage
        .run("{model: {type: cavity, rayleigh: 1e5, cells: [16, 16]" + prandtl + "}, data: " + path +
             R"(, spin_up: 1, climatology: {samples: 6, interval: 0.5}, cycles: 4,
      observations: {fields: [b], every: 0.5, error: 0.01}, filters: {free: {type: free_run}}})")
        .at("free_error_b");
  };
  CHECK(error("") == error(", prandtl: 3"));
  CHECK_THROWS_WITH(error(", prandtl: 1"),
                    "'" + path + "' has the Prandtl number 3 and 'prandtl' is 1: give that of the data");
}

namespace {

const std::string observed =
                      R"(observations: {fields: [b], every: 0.5, stride: [6, 4], relative_error: 0.1}, cycles: 5, )",
                  forecasts = "forecasts: {after: 2, steps: 4}, ";

/// Distance of a frame of a file from a frame of another one, over the deviation of the latter, mean over fields.
double distance(const io::File& file, std::size_t frame, const io::File& other, std::size_t other_frame) {
  double out = 0.0;
  for (const char* field : {"b", "u", "w"}) {
    const auto a = file.read<std::vector<double>>(std::string("/tasks/") + field),
               b = other.read<std::vector<double>>(std::string("/tasks/") + field);
    const std::size_t n = 48 * 24;
    double difference = 0.0, size = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      difference += std::pow(a[frame * n + k] - b[other_frame * n + k], 2);
      size += std::pow(b[other_frame * n + k], 2);
    }
    out += std::sqrt(difference / size) / 3.0;
  }
  return out;
}

}  // namespace

TEST_CASE("forecasts as files: of one step, and a long one whose first frame is that of a step") {
  Flows stage(MPI_COMM_SELF);
  stage.run("{" + layer + observed + forecasts + "filters: {my filter: {type: letkf, members: 5, localisation: 0.3}}}");
  const auto one = io::File::open(stage.scratch.file("my_filter.one_step.h5")),
             roll = io::File::open(stage.scratch.file("my_filter.rollout.h5"));
  CHECK(one.read<std::vector<double>>("/scales/sim_time") == std::vector<double>{0.5, 1.0, 1.5, 2.0, 2.5});
  CHECK(roll.read<std::vector<double>>("/scales/sim_time") == std::vector<double>{1.5, 2.0, 2.5, 3.0});
  CHECK(one.dataset("/tasks/b").shape() == std::vector<std::int64_t>{5, 48, 24});
  CHECK(one.dataset("/scales/x").attribute<int>("periodic") == 1);
  CHECK(one.read<std::vector<double>>("/b") == one.read<std::vector<double>>("/tasks/b"));
  CHECK(distance(roll, 0, one, 2) < 1e-6);  // neither has seen the third observation
  CHECK(distance(roll, 1, one, 3) > 1e-4);  // one of them has
}

TEST_CASE("writing forecasts changes nothing that a filter finds") {
  const std::string rest = "filters: {letkf: {type: letkf, members: 5, localisation: 0.3}, free: {type: free_run}}}";
  const auto without = Flows(MPI_COMM_SELF).run("{" + layer + observed + rest),
             with = Flows(MPI_COMM_SELF).run("{" + layer + observed + forecasts + rest);
  for (const auto& [key, value] : without) CHECK(with.at(key) == value);
}

TEST_CASE("a filter without analyses forecasts the same by steps and at length, on any number of ranks") {
  const std::string deck = "{" + layer + observed + forecasts + "filters: {letkf: {type: free_run}}}";
  Flows stage(MPI_COMM_SELF);
  stage.run(deck);
  const auto path = stage.scratch.file("letkf.rollout.h5");
  const auto alone = io::File::open(path).read<std::vector<double>>("/tasks/w");
  {
    const auto one = io::File::open(stage.scratch.file("letkf.one_step.h5")), roll = io::File::open(path);
    for (std::size_t k = 0; k < 3; ++k) CHECK(distance(roll, k, one, 2 + k) < 1e-6);
  }
  Flows shared;
  shared.run(deck);
  if (shared.comm.rank() == 0) CHECK(io::File::open(path).read<std::vector<double>>("/tasks/w") == alone);
}
