#include "plugins/kinetic/physics/vlasov_poisson.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/poisson.hpp"

namespace cambium::kinetic {

void WallPotentialParams::describe(deck::Describe<WallPotentialParams>& d) {
  for (auto side : {&WallPotentialParams::lower, &WallPotentialParams::upper})
    d(side == &WallPotentialParams::lower ? "lower" : "upper", side,
      "wall at that end of each dimension: its potential (formula); symmetry, a mirror through which no field goes; or "
      "floating, a conductor that is connected to nothing and keeps the charge of what it absorbs. Of no use in a "
      "periodic dimension. Without it walls that reflect are planes of symmetry and others have the potential 0")
        .example("[0, 0]")
        .def({});
}

void VlasovPoisson::Params::describe(deck::Describe<Params>& d) {
  describe_common(d);
  describe_fluids(d);
  d("epsilon0", &Params::epsilon0, "permittivity of free space").positive().def(1.0);
  d("background", &Params::background,
    "charge density of what does not move (formula in x, y); a periodic domain is neutral in the mean without it")
      .def("");
  d("wall_potential", &Params::wall_potential, "boundary condition of the potential at walls");
  d("external", &Params::external, "external fields, added to those of the particles");
}

static const char* side_name(bool high) { return high ? "upper" : "lower"; }

/// The wall that an entry of 'wall_potential' asks for; an empty one leaves it to what particles meet there.
static PotentialWall wall_of(const std::string& entry, Wall particles, int d, bool high,
                             const std::map<std::string, double>& values) {
  using Kind = PotentialWall::Kind;
  if (entry.empty()) return {particles == Wall::reflect ? Kind::symmetry : Kind::fixed, 0.0};
  const bool floats = entry == "floating";
  if (!floats && entry != "symmetry")
    return {Kind::fixed, deck::about_key("kinetic.formula", "", [&] { return constant(entry, values); })};
  if (particles == Wall::periodic)
    throw KeyError(
        "vlasov_poisson.wall_potential.periodic", "",
        fmt::format("wall_potential: dimension {} is periodic and has no wall to be '{}'; give 0 there", d + 1, entry));
  if (floats && particles != Wall::absorb)
    throw KeyError(
        "vlasov_poisson.wall_potential.floating", "",
        fmt::format("wall_potential: the {} wall of dimension {} cannot float, since it absorbs no charge ({}); make "
                    "it 'absorb' in '{}_wall' of the domain, or give its potential",
                    side_name(high), d + 1, particles == Wall::reflect ? "reflect" : "copy", side_name(high)));
  return {floats ? Kind::floating : Kind::symmetry, 0.0};
}

static PotentialWalls walls_of(const VlasovPoisson::Params& params, const ConfGrid& grid) {
  const WallPotentialParams given = params.wall_potential.value_or(WallPotentialParams{});
  const auto values = params.values();
  PotentialWalls out;
  for (bool high : {false, true}) {
    const auto& entries = high ? given.upper : given.lower;
    if (!entries.empty() && static_cast<int>(entries.size()) != grid.dimensions)
      throw KeyError("vlasov_poisson.wall_potential.count", "wall_potential",
                     fmt::format("wall_potential: 'lower' and 'upper' need one entry per dimension, {}, or none",
                                 grid.dimensions));
    for (int d = 0; d < grid.dimensions; ++d)
      deck::about_key("", deck::child_path(fmt::format("wall_potential.{}", side_name(high)), d), [&] {
        (high ? out.upper : out.lower)[d] =
            wall_of(entries.empty() ? "" : entries[d], (high ? grid.high_wall : grid.low_wall)[d], d, high, values);
      });
  }
  return out;
}

/// "lower x: symmetry, upper x: potential 0", of walls only.
static std::string words(const PotentialWalls& walls, const ConfGrid& grid) {
  std::string out;
  for (int d = 0; d < grid.dimensions; ++d)
    for (bool high : {false, true}) {
      if (grid.low_wall[d] == Wall::periodic) continue;
      const PotentialWall& wall = (high ? walls.upper : walls.lower)[d];
      out += fmt::format("{}{} {}: ", out.empty() ? "" : ", ", side_name(high), "xyz"[d]);
      out += wall.kind == PotentialWall::Kind::fixed      ? fmt::format("potential {:g}", wall.potential)
             : wall.kind == PotentialWall::Kind::symmetry ? "symmetry"
                                                          : "floating";
    }
  return out;
}

VlasovPoisson::VlasovPoisson(const Params& params, Context& context) : Vlasov(params, context) {
  plasma_.set_background(params.background);
  const PotentialWalls walls = walls_of(params, plasma_.conf());
  walls_ = words(walls, plasma_.conf());
  // A line is solved the same way on any number of ranks, by sums along it, which cost less than transforms.
  const auto* ranks = plasma_.conf().dimensions == 1 ? &plasma_.ranks() : plasma_.several_ranks();
  plasma_.set_fields(std::make_unique<Poisson>(plasma_.conf(), params.epsilon0, walls, ranks), params.epsilon0);
  plasma_.set_external(params.external);
}

std::string VlasovPoisson::summary() const {
  return Vlasov::summary() + (walls_.empty() ? "" : "\n  walls of the potential: " + walls_);
}

}  // namespace cambium::kinetic
