// What a coarse solver lacks of a filtered fine run: block means, pairs of increments.
#include "plugins/superres/datasets/corrections.hpp"
#include "plugins/superres/samples/snapshot.hpp"
#include "plugins/superres/samples/trained_flow.hpp"
#include "tests/plugins/superres/recorded_flow.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

const std::string recorded =
    "{rayleigh: 1e5, width: 2, cells: [32, 16], end_time: 12, sample_interval: 0.25, initial: {amplitude: 0.1}}";

/// Root mean squares over all samples of b, u and w: what is lacking, and what the fine run's increment is.
struct Sizes {
  double lacking = 0.0, change = 0.0;
};

Sizes sizes_of(const std::string& path, double rayleigh, Workshop& shop) {
  io::File::append(path).set_attribute("Rayleigh", rayleigh);
  Corrections::Params params;
  params.data = {path};
  params.rayleigh = rayleigh;
  params.frames = 200;
  Corrections data(params, shop.context);
  data.open(shop.context);
  REQUIRE(data.size() == 8);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(data.size()));
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int64_t>(k);
  const auto samples = data.read(ids);
  Sizes out;
  const std::size_t nodes = 32 * 16;
  const float* before = nullptr;
  for (const auto& sample : samples) {
    const auto* found = static_cast<const float*>(sample->fields.at("coarse").data);
    const auto* right = static_cast<const float*>(sample->fields.at("future").data);
    CHECK(static_cast<const double*>(sample->fields.at("interval").data)[0] == Approx(0.25));
    for (std::size_t k = nodes; k < 4 * nodes; ++k) {
      out.lacking += std::pow(right[k] - found[k], 2);
      if (before) out.change += std::pow(right[k] - before[k], 2);
    }
    before = right;
  }
  return {std::sqrt(out.lacking), std::sqrt(out.change)};
}

}  // namespace

TEST_CASE("block means are means over cells, heavier where these are higher") {
  const std::vector<double> faces{0.0, 0.1, 0.4, 0.5, 1.0}, values{1, 2, 3, 4, 5, 6, 7, 8};
  const auto means = block_means(values, faces, 2);
  REQUIRE(means.size() == 2);
  CHECK(means[0] == Approx(((1 + 5) * 0.1 + (2 + 6) * 0.3) / 0.8));
  CHECK(means[1] == Approx(((3 + 7) * 0.1 + (4 + 8) * 0.5) / 1.2));
}

TEST_CASE(
    "a solver on the grid of its own run lacks nothing but rounding and interpolation, one of another fluid does") {
  Workshop shop;
  Plates run(recorded);
  const auto path = shop.record(run, "own.h5", 10.0, 12.0, 0.25);
  const Sizes own = sizes_of(path, 1e5, shop), other = sizes_of(path, 2e4, shop);
  CHECK(own.change > 0.0);
  CHECK(own.lacking < 0.1 * other.lacking);
}

TEST_CASE("a model keeps the flows of its training, and is compared with the one that it is applied to") {
  StatedFlow first, second;
  first.rayleigh = 1e5, first.prandtl = 1.0, first.plates = "no_slip";
  second.rayleigh = 1e7, second.plates = "no_slip";
  train::ArtifactInfo model;
  model.state = with_conditions("{}", train::of_both(conditions_of(first), conditions_of(second)));
  const auto at = [&](double rayleigh, double prandtl = 1.0, const char* plates = "no_slip") {
    StatedFlow flow;
    flow.rayleigh = rayleigh, flow.prandtl = prandtl, flow.plates = plates;
    return other_flow(model, flow, "this run");
  };
  for (const double inside : {1e5, 1e6, 1e7, 1e7 * (1.0 + 1e-8)}) CHECK(at(inside).empty());
  CHECK(at(1e6, 7.0).empty());  // the second file states none
  CHECK(at(1e8) ==
        "was trained on flows with Rayleigh numbers from 100000 to 10000000, and this run has the Rayleigh number "
        "100000000");
  CHECK(at(1e6, 1.0, "free_slip") == "was trained on flows with no_slip plates, and this run has free_slip plates");
  CHECK(other_flow(model, {}, "a file that states nothing").empty());
  model.fields.push_back({{"rayleigh", "", {1}}, 1e5, 1e7});  // an input of the network
  CHECK(at(1e8).empty());
  model.state = "{}";
  CHECK(at(1e8, 1.0, "free_slip").empty());
}
