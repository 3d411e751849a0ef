// Convection as a model of forecasts: its states are those of the solver.
#include <fstream>
#include <iterator>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/plugin/task.hpp"
#include "plugins/superres/convection/place_fields.hpp"
#include "plugins/superres/models/cavity.hpp"
#include "plugins/superres/models/rayleigh_benard.hpp"
#include "tests/plugins/superres/recorded_flow.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

template <class M>
std::unique_ptr<M> model(const std::string& deck, Workshop& shop) {
  return std::make_unique<M>(deck::read<typename M::Params>(deck::parse(deck, "test")), shop.context);
}

const std::string layer = "{rayleigh: 1e5, width: 2, cells: [32, 16]}", square = "{rayleigh: 1e5, cells: [16, 16]}";

double largest(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) out = std::max(out, std::fabs(a[k] - b[k]));
  return out;
}

/// Largest difference of the centred velocities at the faces of every cell, over its size.
double largest_divergence_of(const StateSpace& s, const std::vector<double>& state) {
  double out = 0.0;
  const auto at = [&](std::size_t f, std::size_t i, std::size_t k) { return state[(f * s.nx() + i) * s.nz() + k]; };
  for (std::size_t i = 0; i < s.nx(); ++i)
    for (std::size_t k = 0; k < s.nz(); ++k) {
      const bool last = i + 1 == s.nx(), top = k + 1 == s.nz();
      const double right = !last ? at(0, i + 1, k) : s.period > 0.0 ? at(0, 0, k) : 0.0;
      const double above = top ? 0.0 : at(1, i, k + 1);
      const double dx = s.span_x[1] / static_cast<double>(s.nx()),
                   dz = (top ? s.span_z[1] : s.fields[1].z[k + 1]) - s.fields[1].z[k];
      out = std::max(out, std::fabs((right - at(0, i, k)) / dx + (above - at(1, i, k)) / dz));
    }
  return out;
}

}  // namespace

TEST_CASE("forecasts have no memory: members are advanced in any order") {
  Workshop shop;
  const auto plates = model<RayleighBenardForecast>(layer, shop);
  auto one = plates->first_state(1, 0), two = plates->first_state(1, 1), alone = two;
  CHECK(largest(one, two) > 0.01);
  plates->advance(alone, 0.0, 2.0);
  plates->advance(one, 0.0, 2.0);
  plates->advance(two, 0.0, 2.0);
  CHECK(largest(two, alone) == 0.0);
}

TEST_CASE("a forecast goes on as the solver does, whatever it is cut into") {
  Workshop shop;
  const auto plates =
      model<RayleighBenardForecast>("{rayleigh: 1e5, width: 2, cells: [32, 16], max_timestep: 0.02}", shop);
  auto whole = plates->first_state(1, 0);
  auto cut = whole;
  plates->advance(whole, 0.0, 4.0);
  for (int k = 0; k < 8; ++k) plates->advance(cut, 0.5 * k, 0.5 * (k + 1));
  CHECK(largest(whole, cut) < 1e-3);
  CHECK(largest_divergence_of(plates->space(), whole) < 1e-10);
}

TEST_CASE("the largest Courant number of a forecast is cfl, as in simulations, and was courant") {
  Workshop shop;
  const std::string start = "{rayleigh: 1e5, width: 2, cells: [32, 16], max_timestep: 0.5, ";
  const auto state_after = [&](const std::string& keys) {
    const auto plates = model<RayleighBenardForecast>(start + keys + "}", shop);
    auto state = plates->first_state(1, 0);
    plates->advance(state, 0.0, 2.0);
    return state;
  };
  const auto fine = state_after("cfl: 0.05");
  CHECK(largest(fine, state_after("courant: 0.05")) == 0.0);
  CHECK(largest(fine, state_after("cfl: 1")) > 0.0);
}

TEST_CASE("balance: velocities free of divergence, and nothing changes where they are") {
  Workshop shop;
  const auto check = [](ForecastModel& flow) {
    auto state = flow.first_state(1, 0);
    flow.advance(state, 0.0, 5.0);
    const auto before = state;
    flow.restore_balance(state);
    CHECK(largest(state, before) < 1e-12);
    const auto n = flow.space().places();
    for (std::size_t e = 0; e < 2 * n; ++e) state[e] *= 1.0 + 0.1 * std::sin(static_cast<double>(e));
    CHECK(largest_divergence_of(flow.space(), state) > 1e-3);
    flow.restore_balance(state);
    CHECK(largest_divergence_of(flow.space(), state) < 1e-10);
  };
  check(*model<RayleighBenardForecast>(layer, shop));
  check(*model<CavityForecast>(square, shop));
}

TEST_CASE("fields of a file come at the model's centres, with all their frames") {
  Workshop shop;
  Plates run("{rayleigh: 1e5, width: 2, cells: [32, 16], end_time: 2, sample_interval: 0.5, initial: {noise: 0.3}}");
  const auto path = shop.record(run, "layer.h5", 0.5, 2.0, 0.5);
  const auto plates = model<RayleighBenardForecast>(layer, shop);
  const auto record = plates->read(path);
  REQUIRE(record.times.size() == 4);
  const auto last = at_centres(run.flow(), 2.0);
  for (std::size_t f = 0; f < 4; ++f) {
    const auto first = record.values[f].end() - static_cast<std::ptrdiff_t>(last.values[f].size());
    CHECK(largest({first, record.values[f].end()}, last.values[f]) < 1e-6);
  }
}

TEST_CASE("fields state their flow: what a deck leaves out is taken from them, and another flow is refused") {
  Workshop shop;
  Plates run(
      "{rayleigh: 1e5, prandtl: 2, width: 2, cells: [32, 16], end_time: 3, sample_interval: 0.25, initial: {noise: "
      "0.3}}");
  const auto path = shop.record(run, "layer.h5", 0.25, 3.0, 0.25);
  {
    const auto file = io::File::open(path);
    CHECK(file.attribute<double>("Rayleigh") == 1e5);
    CHECK(file.attribute<double>("Prandtl") == 2.0);
    CHECK(file.attribute<std::string>("plates") == "no_slip");
  }
  const auto scores = [&](const std::string& keys) {
    const auto deck = "{data: ['" + path + "'], methods: [solver], history: 1, horizon: 4, windows: [[0, 2]], " + keys;
    shop.registry.make<Task>("score_forecasts", deck::parse(deck + "}", "test"), shop.context)->run(shop.context);
    std::ifstream in(shop.scratch.file("scores.csv"));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(scores("rayleigh: 1e5") == scores("rayleigh: 1e5, prandtl: 2"));
  const std::string other = "' has the Prandtl number 2 and 'prandtl' is 1: give that of the data";
  CHECK_THROWS_WITH(scores("rayleigh: 1e5, prandtl: 1"), "'" + path + other);
  CHECK_THROWS_WITH(model<RayleighBenardForecast>(layer, shop)->read(path), "'" + path + other);
  const auto same = model<RayleighBenardForecast>("{rayleigh: 1e5, prandtl: 2, width: 2, cells: [32, 16]}", shop);
  CHECK(same->read(path).times.size() == 12);
  Square cavity("{rayleigh: 1e5, cells: [16, 16], end_time: 1, sample_interval: 0.5}");
  const auto closed = io::File::open(shop.record(cavity, "cavity.h5", 0.5, 1.0, 0.5));
  CHECK(closed.attribute<double>("Prandtl") == 1.0);
  CHECK(!closed.has_attribute("plates"));
}

TEST_CASE("a member that breaks down is named") {
  Workshop shop;
  const auto plates = model<RayleighBenardForecast>(layer, shop);
  auto state = plates->first_state(1, 0);
  state[5] = std::nan("");
  CHECK_THROWS_WITH(plates->advance(state, 3.0, 4.0),
                    "a member of the ensemble is not finite any more at t = 3; take more cells, a smaller 'cfl' "
                    "(it is 1), or a filter whose analyses stay near the flow");
}

TEST_CASE("the pressure of a forecast has no mean over the volume, as that of files has none") {
  Workshop shop;
  const auto plates = model<RayleighBenardForecast>(layer, shop);
  auto state = plates->first_state(1, 0);
  plates->advance(state, 0.0, 2.0);
  const auto& space = plates->space();
  const auto& low = space.fields[1].z;  // faces below
  double mean = 0.0, largest_p = 0.0;
  for (std::size_t i = 0; i < space.nx(); ++i)
    for (std::size_t k = 0; k < space.nz(); ++k) {
      const double p = state[(3 * space.nx() + i) * space.nz() + k];
      mean += p * ((k + 1 == space.nz() ? 1.0 : low[k + 1]) - low[k]) / static_cast<double>(space.nx());
      largest_p = std::max(largest_p, std::fabs(p));
    }
  CHECK(largest_p > 1e-3);
  CHECK(std::fabs(mean) < 1e-12);
}
