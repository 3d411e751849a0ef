#include "plugins/kinetic/edges/exchanges.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/node.hpp"
#include "plugins/kinetic/collisions/on_ranks.hpp"
#include "plugins/kinetic/edges/exchanging.hpp"
#include "plugins/kinetic/species/outflow.hpp"

namespace cambium::kinetic {

void Exchanges::Parts::add_walls(const SpeciesParams& params, Exchanging& of) {
  const PhaseGrid& grid = of.species->solver().grid();
  for (int d = 0; d < grid.cdim; ++d)
    for (bool high : {false, true})
      if ((high ? grid.conf(d).high_wall : grid.conf(d).low_wall) == Wall::absorb) {
        of.walls.push_back({WallExchange(of.tables, d, high), {}, {}, {}, {}});
        auto& at = of.walls.back();
        at.rate = at.total = Flow(of.species->components(), 0.0);
        for (auto& flow : at.stage) flow = at.rate;
      }
  for (std::size_t k = 0; k < params.walls.size(); ++k)
    deck::about_key("", deck::child_path("walls", k), [&] { add_return(params.walls[k], of); });
}

void Exchanges::Parts::add_return(const WallEmissionParams& params, Exchanging& of) {
  const Species& s = *of.species;
  const PhaseGrid& grid = s.solver().grid();
  std::string names;
  for (int d = 0; d < grid.cdim; ++d)
    for (bool high : {false, true}) {
      const std::string name = wall_name(d, high);
      names += (names.empty() ? "" : ", ") + name;
      if (name != params.wall) continue;
      Exchanging::AtWall* at = of.at(d, high);
      if (!at)
        throw KeyError("kinetic.walls.absorb", "wall",
                       fmt::format("species '{}': the {} wall does not absorb, so it has nothing to give back; make it "
                                   "'absorb' in '{}_wall' of the domain",
                                   s.name(), name, high ? "upper" : "lower"));
      if (at->returned)
        throw KeyError("kinetic.walls.twice", "wall",
                       fmt::format("species '{}': the {} wall is given twice; one entry is enough", s.name(), name));
      std::vector<std::string> all;
      for (const auto& other : species) all.push_back(other->species->name());
      at->returned.emplace(params, s, grid, d, all);
      at->wall.set_return(of.tables, at->returned->reflection(), at->returned->speed(),
                          [&](double x) { return s.ranks().column().sum(x); });
      return;
    }
  throw KeyError("kinetic.walls.name", "wall",
                 fmt::format("species '{}': there is no wall '{}'; the walls are {}", s.name(), params.wall, names));
}

std::vector<std::string> Exchanges::Parts::names() const {
  std::vector<std::string> out;
  for (const auto& of : species)
    for (const char* what : {"n_", "T_"}) out.push_back(what + of->species->name());
  return out;
}

void Exchanges::Parts::add_reaction(const ReactionParams& params) {
  Reaction out{params.kind, {-1, -1}, {1.0, 1.0}, {}};
  std::string all;
  for (std::size_t s = 0; s < species.size(); ++s) {
    const std::string& name = species[s]->species->name();
    all += (all.empty() ? "" : ", ") + name;
    for (int k = 0; k < 2; ++k)
      if (name == params.species[k]) out.species[k] = static_cast<int>(s);
  }
  const Species& first = *species.front()->species;
  for (int k = 0; k < 2; ++k) {
    if (out.species[k] < 0)
      throw KeyError("kinetic.reactions.species", deck::child_path("species", k),
                     fmt::format("reactions: there is no species '{}'; the species are {}", params.species[k], all));
    if (params.temperatures.empty()) continue;
    out.temperature[k] = deck::about_key("kinetic.formula", deck::child_path("temperatures", k),
                                         [&] { return constant(params.temperatures[k], first.values()); });
    if (!(out.temperature[k] > 0.0))
      throw KeyError(
          "kinetic.reactions.temperature", deck::child_path("temperatures", k),
          fmt::format("reactions: the temperature of new particles is {:g} and must be positive", out.temperature[k]));
  }
  out.rate = CellRate(params.rate, "rate", "reactions: the rate", first.conf(), names(), first.values());
  reactions.push_back(std::move(out));
}

/// A loss that does not depend on time: all ranks find the same mistake.
static CellRate loss_of(const std::string& text, const Species& s) {
  const std::string what = fmt::format("species '{}': the loss", s.name());
  try {
    CellRate(text, "loss", what, s.conf().whole(), {}, s.values())({});
  } catch (const NumericalError& error) {
    throw KeyError("kinetic.loss.negative", "loss", error.what());
  }
  return CellRate(text, "loss", what, s.conf(), {}, s.values());
}

Exchanges::Exchanges(const CommonParams& params, const std::vector<std::unique_ptr<Species>>& species, Context& context)
    : parts_(std::make_unique<Parts>(context.comm)) {
  parts_->accounts = params.observables.balance || !params.reactions.empty();
  for (const auto& s : species) parts_->species.push_back(std::make_unique<Exchanging>(*s));
  for (std::size_t k = 0; k < species.size(); ++k)
    deck::about_key("", deck::child_path("species", k), [&] {
      const SpeciesParams& own = params.species[k];
      Exchanging& of = *parts_->species[k];
      const Species& s = *of.species;
      if (own.source || !own.loss.empty() || !own.walls.empty()) parts_->accounts = true;
      parts_->any |= own.source || !own.loss.empty();
      parts_->add_walls(own, of);
      parts_->any |= of.gives_back();
      if (!own.loss.empty()) of.loss = loss_of(own.loss, s);
      if (!own.source) return;
      const PhaseGrid& grid = s.solver().grid();
      deck::about_key("kinetic.formula", "source.profile", [&] {
        of.source.emplace(own.source->profile, phase_variables(grid.cdim, grid.vdim), s.values());
      });
      deck::about_key("kinetic.formula", "source.rate",
                      [&] { of.source_rate.emplace(own.source->rate, std::vector<std::string>{"t"}, s.values()); });
    });
  for (std::size_t k = 0; k < params.reactions.size(); ++k)
    deck::about_key("", deck::child_path("reactions", k), [&] { parts_->add_reaction(params.reactions[k]); });
  parts_->any |= !parts_->reactions.empty();
}

Exchanges::~Exchanges() = default;
bool Exchanges::any() const { return parts_->any; }
bool Exchanges::accounts() const { return parts_->accounts; }

void Exchanges::prepare() {
  for (auto& of : parts_->species) {
    if (!of->source) continue;
    Species& s = *of->species;
    const PhaseGrid& grid = s.solver().grid();
    double lowest = 0.0;
    project(s.solver(), 1, s.solver().basis().order + 2, [&](std::span<const double> z) {
      std::vector<double> variables(z.begin(), z.end());
      if (grid.vdim == 1) variables.push_back(z[grid.cdim]);
      const double value = (*of->source)(variables);
      if (!(value >= 0.0)) lowest = std::min(lowest, std::isnan(value) ? -1e300 : value);
      return value;
    });
    lowest = parts_->comm.min(lowest);
    if (lowest < 0.0)
      throw KeyError(
          "kinetic.source.negative", deck::joined_key("source", "profile"),
          fmt::format("species '{}': its source is {:g} somewhere; it cannot be negative: particles leave by "
                      "'loss', in proportion to f",
                      s.name(), lowest));
    of->volume.take_source();
  }
}

/// Mean density and temperature of each species in this rank's cells, in the order of names().
std::vector<std::vector<double>> Exchanges::Parts::known(int slot) const {
  std::vector<std::vector<double>> out;
  for (const auto& of : species) {
    const Species& s = *of->species;
    const int n = s.conf().modes(), vdim = s.components() - 2;
    const double mean = std::pow(0.5, 0.5 * s.conf().dimensions);
    std::vector<double> density, temperature;
    for (int cell = 0; cell < s.conf().count(); ++cell) {
      const double* m = &s.moments(slot)[static_cast<std::size_t>(cell) * s.components() * n];
      double square = 0.0;
      for (int d = 0; d < vdim; ++d) square += std::pow(m[(1 + d) * n] / m[0], 2);
      density.push_back(mean * m[0]);
      temperature.push_back(s.mass() * (m[(1 + vdim) * n] / m[0] - square) / vdim);
    }
    out.push_back(std::move(density));
    out.push_back(std::move(temperature));
  }
  return out;
}

void Exchanges::Parts::measure_walls(int in) {
  for (auto& of : species)
    for (auto& at : of->walls) at.wall.measure(of->species->solver(), in);
}

/// Particles per time that a wall emits, for each of its faces.
std::vector<double> Exchanges::Parts::arriving(int dimension, bool high, const Returned& returned, double time) const {
  std::vector<double> out;
  for (std::size_t s = 0; s < species.size(); ++s) {
    auto& at = *species[s]->at(dimension, high);
    const int components = species[s]->species->components();
    std::vector<double> here(at.wall.faces(), 0.0);
    out.resize(here.size(), 0.0);
    if (returned.yield(s) == 0.0) continue;
    const auto& flows = at.wall.flows();
    for (std::size_t f = 0; f < here.size(); ++f) here[f] = flows[f * components];
    species[s]->species->ranks().column().sum(here);
    for (std::size_t f = 0; f < here.size(); ++f) out[f] += returned.yield(s) * here[f];
  }
  auto& own = *species.front()->at(dimension, high);
  for (double& value : out) value += returned.flux(time) * own.wall.face_area();
  return out;
}

void Exchanges::Parts::emit(int k, const Stage& stage, double time, std::vector<std::vector<double>>& fresh) {
  measure_walls(stage.in);
  for (std::size_t s = 0; s < species.size(); ++s) {
    Exchanging& of = *species[s];
    for (auto& at : of.walls) {
      const Flow leaving = at.wall.total();
      of.stage[k][to_walls] += leaving;
      at.stage[k] = leaving;
      if (!at.returned) continue;
      const auto emitted = arriving(at.wall.dimension(), at.wall.high(), *at.returned, time);
      Flow back = at.wall.give_back(of.species->solver(), stage.in, stage.out, stage.c, emitted, fresh[s]);
      Flow mirrored = at.wall.reflection() * leaving;
      mirrored[1 + at.wall.dimension()] *= -1.0;
      back += mirrored;
      of.stage[k][from_walls] += back;
      at.stage[k] += -1.0 * back;
    }
  }
}

double Exchanges::Parts::react(int k, const Stage& stage, std::vector<std::vector<double>>& fresh) {
  double fastest = 0.0;
  std::vector<std::vector<double>> lost(species.size());
  const auto what = reactions.empty() ? std::vector<std::vector<double>>{} : known(stage.in);
  for (std::size_t s = 0; s < species.size(); ++s) {
    Exchanging& of = *species[s];
    if (!of.loss) continue;
    const auto rate = (*of.loss)({});
    for (double r : rate) fastest = std::max(fastest, r);
    of.stage[k][by_loss] += -1.0 * of.volume.lose(stage.in, stage.out, stage.c, rate, fresh[s]);
  }
  for (const Reaction& reaction : reactions) {
    const auto rate = reaction.rate(what);
    for (int side : {0, 1}) {
      const int s = reaction.species[side];
      Exchanging& of = *species[s];
      if (reaction.kind == ReactionParams::Kind::ionisation) {
        auto density = species[reaction.species[0]]->species->moment(0, stage.in);
        const auto modes = static_cast<std::size_t>(of.species->conf().modes());
        for (std::size_t i = 0; i < density.size(); ++i) density[i] *= rate[i / modes];
        of.stage[k][by_reactions] += of.volume.make(stage.out, stage.c, density, reaction.temperature[side], fresh[s]);
      } else {
        auto here = rate;
        for (std::size_t i = 0; i < here.size(); ++i) {
          here[i] *= std::max(0.0, what[2 * reaction.species[1 - side]][i]);
          fastest = std::max(fastest, here[i]);
        }
        of.stage[k][by_reactions] += -1.0 * of.volume.lose(stage.in, stage.out, stage.c, here, fresh[s]);
      }
    }
    for (double r : rate) fastest = std::max(fastest, r);
  }
  return fastest;
}

double Exchanges::add(int k, const Stage& stage, double time, std::vector<std::vector<double>>& fresh) {
  if (!parts_->accounts) return 0.0;
  const Region region("sources and walls", WorkKind::elementwise);
  double fastest = 0.0;
  on_ranks(parts_->comm, [&] {
    for (auto& of : parts_->species)
      for (auto& flow : of->stage[k]) std::fill(flow.begin(), flow.end(), 0.0);
    parts_->emit(k, stage, time, fresh);
    for (std::size_t s = 0; s < parts_->species.size(); ++s) {
      Exchanging& of = *parts_->species[s];
      if (!of.source) continue;
      const double rate = (*of.source_rate)(std::array{time});
      if (!(rate >= 0.0))
        throw NumericalError(
            fmt::format("species '{}': the rate of its source is {:g} at time {:g}; it cannot be "
                        "negative: particles leave by 'loss', in proportion to f",
                        of.species->name(), rate, time));
      of.stage[k][from_source] += rate * of.volume.add_source(stage.out, stage.c * rate, fresh[s]);
    }
    fastest = parts_->react(k, stage, fresh);
  });
  if (parts_->any)
    for (auto& of : parts_->species) of->species->solver().changed(stage.out);
  return parts_->any ? parts_->comm.max(fastest) : 0.0;  // the step is the same on any number of ranks
}

double Exchanges::collected(int slot, int dimension, bool high, double time) const {
  double charge = 0.0;
  std::vector<double> leaving;
  for (const auto& of : parts_->species) leaving.push_back(outflow(of->species->solver(), slot, dimension, high));
  for (std::size_t s = 0; s < leaving.size(); ++s) {
    Exchanging& of = *parts_->species[s];
    double net = leaving[s];
    if (const auto* at = of.at(dimension, high); at && at->returned) {
      const Returned& back = *at->returned;
      if (back.reflection() + back.yield(s) >= 1.0 && of.species->charge() < 0.0)
        throw KeyError(
            "kinetic.walls.solution", deck::joined_key(deck::child_path("species", s), "walls"),
            fmt::format("species '{}': the {} wall floats and gives back {:g} of its particles for each that "
                        "arrives, so no potential lets the currents to it cancel; take 'reflection' and the "
                        "'yield' of its own below 1 together, or give the wall a potential",
                        of.species->name(), wall_name(dimension, high), back.reflection() + back.yield(s)));
      net -= back.reflection() * leaving[s];
      for (std::size_t o = 0; o < leaving.size(); ++o) net -= back.yield(o) * leaving[o];
      if (of.species->ranks().column().rank() == 0) net -= back.flux(time) * at->wall.face_area() * at->wall.faces();
    }
    charge += of.species->charge() * net;
  }
  return charge;
}

}  // namespace cambium::kinetic
