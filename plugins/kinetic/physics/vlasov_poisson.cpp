#include "plugins/kinetic/physics/vlasov_poisson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/poisson.hpp"

namespace cambium::kinetic {

void WallPotentialParams::describe(deck::Describe<WallPotentialParams>& d) {
  for (auto side : {&WallPotentialParams::lower, &WallPotentialParams::upper})
    d(side == &WallPotentialParams::lower ? "lower" : "upper", side,
      "wall at that end of each dimension: its potential (formula in t); symmetry, a mirror through which no field "
      "goes; floating, a conductor that is connected to nothing and keeps the charge of what it absorbs; or circuit, a "
      "conductor that an entry of 'circuits' connects to ground. Of no use in a periodic dimension. Without it walls "
      "that reflect are planes of symmetry and others have the potential 0")
        .example("[0, 0]")
        .def({});
}

void WallCircuitParams::describe(deck::Describe<WallCircuitParams>& d) {
  d("wall", &WallCircuitParams::wall, "wall that is 'circuit' in 'wall_potential', as end and dimension")
      .example("upper_x");
  d("voltage", &WallCircuitParams::voltage, "voltage of the source (formula in t); default: 0, no source")
      .def("")
      .example("5*sin(0.1*t)");
  d("resistance", &WallCircuitParams::resistance,
    "resistance in series, voltage over current; currents are per area of the wall in one dimension, per length in two")
      .non_negative()
      .def(0.0);
  d("inductance", &WallCircuitParams::inductance, "inductance in series, voltage over change of the current")
      .non_negative()
      .def(0.0);
  d("capacitance", &WallCircuitParams::capacitance,
    "capacitance in series, charge over voltage; it is uncharged at first; default: no capacitor")
      .positive();
  d.check([](const WallCircuitParams& p) -> std::string {
    return p.resistance == 0.0 && p.inductance == 0.0
               ? "circuits: give 'resistance' or 'inductance'; a source without them is a potential: write its formula "
                 "in 'wall_potential'"
               : "";
  });
}

void VlasovPoisson::Params::describe(deck::Describe<Params>& d) {
  describe_common(d);
  describe_fluids(d);
  d("epsilon0", &Params::epsilon0, "permittivity of free space").positive().def(1.0);
  d("background", &Params::background,
    "charge density of an immobile background (formula in x, y); a periodic domain is neutral in the mean without it")
      .def("");
  d("wall_potential", &Params::wall_potential, "boundary condition of the potential at walls");
  d("circuits", &Params::circuits, "series circuits of voltage source, resistor, inductor and capacitor at walls")
      .def({});
  d("external", &Params::external, "external fields, added to those of the particles");
}

static const char* side_name(bool high) { return high ? "upper" : "lower"; }

/// Wall of an entry of 'wall_potential'; an empty one follows the boundary condition of particles there.
static PotentialWall wall_of(const std::string& entry, Wall particles, int d, bool high,
                             const std::map<std::string, double>& values) {
  using Kind = PotentialWall::Kind;
  if (entry.empty()) return {particles == Wall::reflect ? Kind::symmetry : Kind::fixed, 0.0};
  const bool floats = entry == "floating" || entry == "circuit";
  if (!floats && entry != "symmetry") {
    const Formula formula = deck::about_key("kinetic.formula", "", [&] { return Formula(entry, {"t"}, values); });
    return {Kind::fixed, formula(std::array{0.0})};
  }
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

/// True if a formula of t does not change.
static bool is_constant(const std::string& text, const std::map<std::string, double>& values) {
  try {
    constant(text, values);
    return true;
  } catch (const deck::ExpressionError&) {
    return false;
  }
}

/// The entry of 'wall_potential' for a wall; empty without one.
static std::string entry_of(const VlasovPoisson::Params& params, const WallSide& side) {
  if (!params.wall_potential) return {};
  const auto& entries = side.high ? params.wall_potential->upper : params.wall_potential->lower;
  return entries.empty() ? "" : entries[static_cast<std::size_t>(side.dimension)];
}

static std::string wall_name(const WallSide& side) {
  return fmt::format("{}_{}", side_name(side.high), "xyz"[side.dimension]);
}

static std::vector<WallSide> sides_of(const ConfGrid& grid) {
  std::vector<WallSide> out;
  for (int d = 0; d < grid.dimensions; ++d)
    for (bool high : {false, true})
      if (grid.low_wall[d] != Wall::periodic) out.push_back({d, high});
  return out;
}

static void add_circuit(const WallCircuitParams& circuit, const VlasovPoisson::Params& params, const ConfGrid& grid,
                        std::vector<WallCircuit>& out) {
  for (const auto& side : sides_of(grid)) {
    if (wall_name(side) != circuit.wall || entry_of(params, side) != "circuit") continue;
    for (const auto& other : out)
      if (other.wall.dimension == side.dimension && other.wall.high == side.high)
        throw KeyError("vlasov_poisson.circuits.twice", "wall",
                       fmt::format("circuits: the {} wall has two circuits; leave one", circuit.wall));
    const auto formula = deck::about_key("kinetic.formula", "voltage", [&] {
      return Formula(circuit.voltage.empty() ? "0" : circuit.voltage, {"t"}, params.values());
    });
    out.push_back({side, circuit.resistance, circuit.inductance, circuit.capacitance,
                   [formula](double time) { return formula(std::array{time}); }});
    return;
  }
  throw KeyError("vlasov_poisson.circuits.wall", "wall",
                 fmt::format("circuits: there is no wall '{}' that is 'circuit' in 'wall_potential'; write it there",
                             circuit.wall));
}

static WallDrives drives_of(const VlasovPoisson::Params& params, const PotentialWalls& walls, const ConfGrid& grid) {
  WallDrives out;
  for (std::size_t k = 0; k < params.circuits.size(); ++k)
    deck::about_key("", deck::child_path("circuits", k),
                    [&] { add_circuit(params.circuits[k], params, grid, out.circuits); });
  bool grounded = out.circuits.empty();
  const auto values = params.values();
  for (const auto& side : sides_of(grid)) {
    const std::string entry = entry_of(params, side);
    const auto same = [&](const WallCircuit& c) { return wall_name(c.wall) == wall_name(side); };
    if (entry == "circuit" && std::none_of(out.circuits.begin(), out.circuits.end(), same))
      throw KeyError("vlasov_poisson.circuits.missing", "wall_potential",
                     fmt::format("wall_potential: the {} wall is 'circuit', but no entry of 'circuits' has this wall; "
                                 "add one",
                                 wall_name(side)));
    if ((side.high ? walls.upper : walls.lower)[side.dimension].kind != PotentialWall::Kind::fixed) continue;
    grounded = true;
    if (entry.empty() || is_constant(entry, values)) continue;
    const Formula formula(entry, {"t"}, values);
    out.voltages.push_back({side, [formula](double time) { return formula(std::array{time}); }});
  }
  if (!grounded)
    throw KeyError("vlasov_poisson.circuits.ground", "circuits",
                   "circuits: no wall has a given potential, so there is no ground; give one in 'wall_potential'");
  return out;
}

/// "lower x: symmetry, upper x: potential 0", of walls only.
static std::string words(const VlasovPoisson::Params& params, const PotentialWalls& walls, const ConfGrid& grid) {
  std::string out;
  for (const auto& side : sides_of(grid)) {
    const PotentialWall& wall = (side.high ? walls.upper : walls.lower)[side.dimension];
    const std::string entry = entry_of(params, side);
    out += fmt::format("{}{} {}: ", out.empty() ? "" : ", ", side_name(side.high), "xyz"[side.dimension]);
    if (wall.kind != PotentialWall::Kind::fixed)
      out += wall.kind == PotentialWall::Kind::symmetry ? "symmetry" : entry;
    else if (!entry.empty() && !is_constant(entry, params.values()))
      out += "potential " + entry;
    else
      out += fmt::format("potential {:g}", wall.potential);
  }
  return out;
}

VlasovPoisson::VlasovPoisson(const Params& params, Context& context) : Vlasov(params, context) {
  plasma_.set_background(params.background);
  const PotentialWalls walls = walls_of(params, plasma_.conf());
  walls_ = words(params, walls, plasma_.conf());
  // A line is solved the same way on any number of ranks, by sums along it, which cost less than transforms.
  const auto* ranks = plasma_.conf().dimensions == 1 ? &plasma_.ranks() : plasma_.several_ranks();
  plasma_.set_fields(std::make_unique<Poisson>(plasma_.conf(), params.epsilon0, walls, ranks,
                                               drives_of(params, walls, plasma_.conf())),
                     params.epsilon0);
  plasma_.set_external(params.external);
}

std::string VlasovPoisson::summary() const {
  return Vlasov::summary() + (walls_.empty() ? "" : "\n  walls of the potential: " + walls_);
}

}  // namespace cambium::kinetic
