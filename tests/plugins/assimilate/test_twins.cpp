// The stage `assimilate`: the same results on any number of ranks, its files, and decks that cannot work.
#include <fmt/format.h>

#include <cmath>

#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/assimilate/stage_case.hpp"

using namespace cambium;
using namespace cambium::assimilate::test;

TEST_CASE("any number of ranks gives the same bits") {
  const std::string deck =
      R"({model: lorenz96, observations: {every: 0.05, error: 1}, climatology: {samples: 100}, burn_in: 1, cycles: 60, filters: {
      letkf: {type: letkf, members: 7, localisation: 4, inflation: 1.05},
      adaptive: {type: etkf, members: 24, adaptive_inflation: true}, var: {type: 3dvar, covariance_scale: 0.02}}})";
  const auto shared = run(deck), alone = run(deck, MPI_COMM_SELF);
  REQUIRE(shared.size() == alone.size());
  for (const auto& [key, value] : alone) {
    CAPTURE(key);
    CHECK(shared.at(key) == value);
  }
}

TEST_CASE("bounds of gaps and of the burn-in belong to them, whatever the rounding of the time of a cycle") {
  for (const char* every : {"0.05", "0.1", "0.15"}) {
    Stage stage(MPI_COMM_SELF);
    const double step = std::stod(every);
    const auto text = [&](int cycle) { return fmt::format("{:.2f}", step * cycle); };
    stage.run(fmt::format(
        "{{model: lorenz96, observations: {{every: {}, error: 1, gaps: [[{}, {}], [{}, {}]]}}, climatology: {{samples: "
        "10}}, burn_in: {}, cycles: 60, filters: {{free: {{type: free_run}}}}}}",
        every, text(20), text(24), text(43), text(48), text(57)));
    const io::File file = io::File::open((stage.scratch.folder / "assimilation.h5").string());
    const auto seen = file.read<std::vector<double>>("free/innovation"),
               errors = file.read<std::vector<double>>("free/rmse_a");
    REQUIRE(seen.size() == 60);
    for (int cycle = 2; cycle <= 60; ++cycle) {
      INFO(every << " " << cycle);
      const bool gap = (cycle >= 20 && cycle <= 24) || (cycle >= 43 && cycle <= 48);
      CHECK(std::isnan(seen[static_cast<std::size_t>(cycle - 1)]) == gap);
    }
    const auto again = stage.run(fmt::format(
        "{{model: lorenz96, observations: {{every: {}, error: 1}}, climatology: {{samples: 10}}, burn_in: {}, cycles: "
        "60, filters: {{free: {{type: free_run}}}}}}",
        every, text(57)));
    CHECK(again.at("free_rmse_a") == Approx((errors[57] + errors[58] + errors[59]) / 3.0));
  }
}

TEST_CASE("decks of twin experiments that cannot work") {
  const auto deck = [](const std::string& more, const std::string& filters) {
    return "{model: lorenz96, observations: {every: 0.05, error: 1}, cycles: 10, " + more + "filters: {a: {" + filters +
           "}}}";
  };
  CHECK(message(deck("climatology: {samples: 5}, ", "type: etkf, members: 6"))
            .find("6 members begin as samples of the climatology, which has 5: raise 'climatology.samples'") !=
        std::string::npos);
  CHECK(message(deck("data: fields.h5, ", "type: etkf"))
            .find("lorenz96 reads no fields from 'fields.h5': leave 'data' out to generate the truth") !=
        std::string::npos);
  const std::string calm =
      "{model: {type: lorenz96, forcing: 0}, spin_up: 400, climatology: {samples: 30, interval: 50}, "
      "observations: {every: 0.05, error: 1}, cycles: 10, filters: {a: {type: etkf, members: 6}}}";
  CHECK(message(calm).find("filter 'a': the 6 members are all the same at t = 0.05, so that no observation can move "
                           "them; raise 'inflation', or take a model that is chaotic") != std::string::npos);
  CHECK(message("{model: {type: lorenz96, timestep: 3}, observations: {every: 3, error: 1}, cycles: 10, filters: {a: "
                "{type: free_run}}}")
            .find("lorenz96 does not stay finite between t = 0 and 10; take a smaller 'timestep', or a filter whose "
                  "analyses stay near the attractor") != std::string::npos);
}
