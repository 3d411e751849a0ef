#include "plugins/pretrain/archive/made_up.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/pretrain/archive/streams.hpp"

namespace cambium::pretrain {

void MadeUpFields::describe(deck::Describe<MadeUpFields>& d) {
  d("simulations", &MadeUpFields::simulations, "number of simulations; their parameters are the same for every seed")
      .at_least(2)
      .def(12);
  d("snapshots", &MadeUpFields::moments, "number of snapshots of each simulation")
      .formerly("moments")
      .at_least(2)
      .def(10);
  d("cells", &MadeUpFields::cells, "along x (periodic) and z").def({32, 16});
  d("noise", &MadeUpFields::noise, "standard deviation of the noise added to every value").non_negative().def(0.0);
  d("seed", &MadeUpFields::seed, "seed of phases and noise").at_least(0).def(1);
  d.check([](const MadeUpFields& keys) {
    return keys.cells[0] < 4 || keys.cells[1] < 4 ? "'cells' must be at least 4 along both axes" : "";
  });
}

namespace {

constexpr int waves = 6;

/// Adds one snapshot.
void add_moment(const MadeUpFields& keys, std::int64_t run, std::int64_t moment, Simulation& out) {
  const auto nx = keys.cells[0], nz = keys.cells[1];
  const double drift = out.parameters[0], slope = out.parameters[1], time = 0.1 * static_cast<double>(moment);
  const auto seed = static_cast<std::uint64_t>(keys.seed), id = static_cast<std::uint64_t>(run);
  std::vector<double> b, u, w;
  for (std::int64_t i = 0; i < nx; ++i)
    for (std::int64_t j = 0; j < nz; ++j) {
      const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(nx);
      const double z = (static_cast<double>(j) + 0.5) / static_cast<double>(nz);
      double psi = 0.0, along = 0.0;
      for (int k = 1; k <= waves; ++k) {
        const double number = 2.0 * constants::pi * k, amplitude = std::pow(k, -slope);
        const double phase =
            2.0 * constants::pi * Random4(seed, made_up_stream, id, static_cast<std::uint64_t>(k)).uniform(0);
        psi += amplitude * std::cos(number * (x - drift * time) + phase);
        along -= amplitude * number * std::sin(number * (x - drift * time) + phase);
      }
      const double across = constants::pi * z;
      const Random4 noise(seed, noise_stream, id * 1000003 + static_cast<std::uint64_t>(moment),
                          static_cast<std::uint64_t>(i * nz + j));
      b.push_back(0.5 - z + psi * std::sin(across) + keys.noise * noise.normal(0));
      u.push_back(-constants::pi * psi * std::cos(across) + keys.noise * noise.normal(1));
      w.push_back(along * std::sin(across) + keys.noise * noise.normal(2));
    }
  for (const auto* channel : {&b, &u, &w})
    for (const double value : *channel) out.values.push_back(static_cast<float>(value));
  out.time.push_back(time);
}

}  // namespace

Archive make_fields(const MadeUpFields& keys) {
  Archive out;
  out.layout = {{"b", "u", "w"}, {keys.cells[0], keys.cells[1]}, {1, 0}};
  out.parameters = {"drift", "slope"};
  for (std::int64_t run = 0; run < keys.simulations; ++run) {
    Simulation simulation;
    simulation.source = fmt::format("synthetic run {}", run);
    // Low-discrepancy points that cover the square evenly for any number.
    const double k = static_cast<double>(run) + 0.5;
    simulation.parameters = {std::fmod(k * 0.6180339887498949, 1.0),
                             0.5 + 2.0 * k / static_cast<double>(keys.simulations)};
    for (std::int64_t moment = 0; moment < keys.moments; ++moment) add_moment(keys, run, moment, simulation);
    out.simulations.push_back(std::move(simulation));
  }
  return out;
}

}  // namespace cambium::pretrain
