// Gains and losses of species: sums over the stages of a step, over ranks and over steps, and their report.
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/kinetic/edges/exchanging.hpp"
#include "plugins/kinetic/species/totals.hpp"

namespace cambium::kinetic {

/// The weights of the stages of SSP-RK3 in a step.
static constexpr double weights[] = {1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0};

void Exchanges::finish(double dt, double time) {
  if (!parts_->accounts) return;
  std::vector<double> all;  // over ranks at once
  const auto over_stages = [&](const auto& flow_of_stage, std::size_t components) {
    for (std::size_t c = 0; c < components; ++c) {
      double sum = 0.0;
      for (int k = 0; k < 3; ++k) sum += weights[k] * flow_of_stage(k)[c];
      all.push_back(sum);
    }
  };
  for (auto& of : parts_->species) {
    for (int kind = 0; kind < kinds; ++kind)
      over_stages([&](int k) -> const Flow& { return of->stage[k][kind]; }, of->total[kind].size());
    for (auto& at : of->walls) over_stages([&](int k) -> const Flow& { return at.stage[k]; }, at.rate.size());
  }
  parts_->comm.sum(all);
  auto next = all.begin();
  for (auto& of : parts_->species) {
    for (auto& flow : of->total)
      for (double& value : flow) value += dt * *next++;
    for (auto& at : of->walls)
      for (std::size_t c = 0; c < at.rate.size(); ++c) {
        at.rate[c] = *next++;
        at.total[c] += dt * at.rate[c];
      }
    const double particles = Totals(*of->species).particles();
    if (of->first_particles < 0.0) of->first_particles = particles;
    if (!(particles > 1e-6 * std::abs(of->first_particles)))
      throw NumericalError(fmt::format(
          "species '{}': {:g} particles are left of {:g} at time {:.6g}; its losses, sources and walls have "
          "emptied the domain; lower its 'loss', or add a 'source'",
          of->species->name(), particles, of->first_particles, time));
  }
}

/// A flow in the units of the deck's balance: particles, momentum, kinetic energy.
static double in_units(const Exchanging& of, const Flow& flow, std::size_t c) {
  const double mass = of.species->mass();
  return (c == 0 ? 1.0 : c + 1 == flow.size() ? 0.5 * mass : mass) * flow[c];
}

std::vector<Exchanges::Reading> Exchanges::readings() const {
  std::vector<Reading> out;
  if (!parts_->accounts) return out;
  for (const auto& of : parts_->species)
    for (const auto& at : of->walls) {
      const std::string wall = wall_name(at.wall.dimension(), at.wall.high()), who = of->species->name() + "_" + wall;
      const std::size_t normal = 1 + static_cast<std::size_t>(at.wall.dimension());
      out.push_back(
          {"flux_" + who, "particles per time to the wall, net, in the last step", in_units(*of, at.rate, 0)});
      out.push_back({"momentum_flux_" + who, "momentum per time along the dimension of the wall, net",
                     in_units(*of, at.rate, normal)});
      out.push_back({"energy_flux_" + who, "kinetic energy per time to the wall, net",
                     in_units(*of, at.rate, at.rate.size() - 1)});
    }
  return out;
}

/// Names of the components of a flow.
static std::string component(std::size_t c, std::size_t components) {
  return c == 0 ? "particles" : c + 1 == components ? "energy" : fmt::format("momentum_{}", axis_names[c - 1]);
}

std::vector<Result> Exchanges::results() const {
  std::vector<Result> out;
  if (!parts_->accounts) return out;
  for (const auto& of : parts_->species) {
    const std::string species = cambium::key_of(of->species->name());
    for (std::size_t c = 0; c < of->total[0].size(); ++c) {
      for (int kind = 0; kind < kinds; ++kind)
        out.push_back(in_table(
            fmt::format("{}_{}_{}", species, component(c, of->total[0].size()), cambium::key_of(kind_words[kind])),
            fmt::format("species '{}': {}, {}", of->species->name(), component(c, of->total[0].size()),
                        kind_words[kind]),
            in_units(*of, of->total[kind], c)));
    }
    for (const auto& at : of->walls)
      for (std::size_t c = 0; c < at.total.size(); ++c) {
        const std::string wall = wall_name(at.wall.dimension(), at.wall.high());
        out.push_back(in_table(fmt::format("{}_{}_net_{}", species, component(c, at.total.size()), wall),
                               fmt::format("species '{}': {} to the {} wall, net", of->species->name(),
                                           component(c, at.total.size()), wall),
                               in_units(*of, at.total, c)));
      }
  }
  return out;
}

std::vector<std::string> Exchanges::report() const {
  std::vector<std::string> out;
  if (!parts_->accounts) return out;
  for (const auto& of : parts_->species)
    for (std::size_t c = 0; c < of->total[0].size(); ++c) {
      std::string line;
      double sum = 0.0;
      for (int kind = 0; kind < kinds; ++kind) {
        const double value = (kind == to_walls ? -1.0 : 1.0) * in_units(*of, of->total[kind], c);
        sum += value;
        if (value != 0.0) line += fmt::format("{}{} {:+.6g}", line.empty() ? "" : ", ", kind_words[kind], value);
      }
      if (!line.empty())
        out.push_back(fmt::format("balance of {} of species '{}': {}; in all {:+.6g}",
                                  component(c, of->total[0].size()), of->species->name(), line, sum));
    }
  return out;
}

void Exchanges::save(io::Group& group) const {
  if (!parts_->accounts) return;
  for (const auto& of : parts_->species) {
    std::vector<double> all{of->first_particles};
    for (const auto& flow : of->total) all.insert(all.end(), flow.begin(), flow.end());
    for (const auto& at : of->walls) {
      all.insert(all.end(), at.rate.begin(), at.rate.end());
      all.insert(all.end(), at.total.begin(), at.total.end());
    }
    group.write(of->species->name() + "/balance", all);
  }
}

void Exchanges::load(const io::Group& group) {
  if (!parts_->accounts) return;
  for (auto& of : parts_->species) {
    const std::string name = of->species->name() + "/balance";
    if (!group.exists(name)) continue;
    const auto all = group.read<std::vector<double>>(name);
    auto next = all.begin();
    const auto take = [&](Flow& flow) {
      for (double& value : flow) value = next == all.end() ? 0.0 : *next++;
    };
    if (next != all.end()) of->first_particles = *next++;
    for (auto& flow : of->total) take(flow);
    for (auto& at : of->walls) take(at.rate), take(at.total);
  }
}

}  // namespace cambium::kinetic
