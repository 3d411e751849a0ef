#include "plugins/kinetic/deck/params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/kinetic/deck/formula.hpp"

namespace cambium::kinetic {

void DomainParams::describe(deck::Describe<DomainParams>& d) {
  d("lower", &DomainParams::lower, "lower end of each dimension (formula)").example("[0]");
  d("upper", &DomainParams::upper, "upper end of each dimension (formula)").example("[4*pi]");
  d("cells", &DomainParams::cells, "cells along each dimension").at_least(1).example("[32]");
  for (auto wall : {&DomainParams::lower_wall, &DomainParams::upper_wall})
    d(wall == &DomainParams::lower_wall ? "lower_wall" : "upper_wall", wall,
      "what particles meet at that end of each dimension; periodic at both ends or at none")
        .options(
            {{"periodic", Wall::periodic}, {"reflect", Wall::reflect}, {"absorb", Wall::absorb}, {"copy", Wall::copy}})
        .def({});
  d.check([](const DomainParams& p) -> std::string {
    const std::size_t n = p.cells.size();
    if (n < 1 || n > 3 || p.lower.size() != n || p.upper.size() != n)
      return "'lower', 'upper' and 'cells' need one entry per dimension, one to three of them";
    for (const auto* walls : {&p.lower_wall, &p.upper_wall})
      if (!walls->empty() && walls->size() != n)
        return "'lower_wall' and 'upper_wall' need one entry per dimension, or none";
    for (std::size_t k = 0; k < n; ++k) {
      const Wall low = p.lower_wall.empty() ? Wall::periodic : p.lower_wall[k];
      const Wall high = p.upper_wall.empty() ? Wall::periodic : p.upper_wall[k];
      if ((low == Wall::periodic) != (high == Wall::periodic))
        return "a dimension is periodic at both ends or at none: give 'lower_wall' and 'upper_wall'";
    }
    return {};
  });
}

void BasisParams::describe(deck::Describe<BasisParams>& d) {
  using F = Family;
  d("family", &BasisParams::family,
    "serendipity (of order 1: quadratic in velocity, so that energy is conserved) or tensor")
      .options({{"serendipity", F::serendipity}, {"tensor", F::tensor}})
      .def(F::serendipity);
  d("order", &BasisParams::order, "polynomial order of the basis").range(1, 2).def(2);
}

void VelocityParams::describe(deck::Describe<VelocityParams>& d) {
  d("lower", &VelocityParams::lower, "lower end of each velocity dimension (formula)").example("[-6]");
  d("upper", &VelocityParams::upper, "upper end of each velocity dimension (formula)").example("[6]");
  d("cells", &VelocityParams::cells, "cells along each velocity dimension").at_least(1).example("[32]");
  d("spacing", &VelocityParams::spacing,
    "widths of the cells along each velocity dimension: by 'edges', 'mapping' or 'stretch'; {} and default: all the "
    "same")
      .def({});
  d.check([](const VelocityParams& p) -> std::string {
    const std::size_t n = p.cells.size();
    if (n < 1 || n > 3 || p.lower.size() != n || p.upper.size() != n)
      return "'lower', 'upper' and 'cells' need one entry per velocity dimension, one to three of them";
    if (!p.spacing.empty() && p.spacing.size() != n) return "'spacing' needs one entry per velocity dimension, or none";
    return {};
  });
}

/// The key `scheme` of collisions by Dougherty's operator.
template <class P>
static void describe_scheme(deck::Describe<P>& d, const char* doc) {
  using S = CollisionScheme;
  d("scheme", &P::scheme, doc)
      .options({{"auto", S::automatic}, {"explicit", S::explicit_steps}, {"implicit", S::implicit}})
      .def(S::automatic);
}

void CollisionParams::describe(deck::Describe<CollisionParams>& d) {
  using O = Operator;
  d("operator", &CollisionParams::op,
    "relaxation to the local Maxwellian (bgk), or drift and diffusion in velocity (dougherty)")
      .options({{"bgk", O::bgk}, {"dougherty", O::dougherty}})
      .def(O::bgk);
  d("frequency", &CollisionParams::frequency,
    "collisions per time (formula in x, y, z at the centre of each cell, and in n and T, mean density and temperature "
    "of "
    "the species in the cell)")
      .example("10");
  describe_scheme(d,
                  "time integration of dougherty: explicit (sub-steps as short as diffusion in velocity requires), "
                  "implicit (one step, a banded solve along each velocity dimension) or auto (explicit where one "
                  "sub-step suffices, otherwise implicit)");
}

void CrossCollisionParams::describe(deck::Describe<CrossCollisionParams>& d) {
  d("species", &CrossCollisionParams::species, "names of the two species").example("[electron, ion]");
  d("frequency", &CrossCollisionParams::frequency,
    "collisions per time of the first with the second (formula in x, y, z at the centre of each cell, and in n_NAME "
    "and "
    "T_NAME, mean density and temperature of either species in the cell); that of the second with the first follows "
    "from "
    "the conservation of momentum")
      .example("0.1");
  describe_scheme(d,
                  "time integration: explicit (sub-steps as short as diffusion in velocity requires), implicit (one "
                  "step, a banded solve along each velocity dimension) or auto (explicit where one sub-step suffices, "
                  "otherwise implicit)");
  d.check([](const CrossCollisionParams& p) -> std::string {
    return p.species.size() != 2 || p.species[0] == p.species[1] ? "'species' needs the names of two different species"
                                                                 : "";
  });
}

void WallEmissionParams::describe(deck::Describe<WallEmissionParams>& d) {
  d("wall", &WallEmissionParams::wall, "wall that absorbs, as end and dimension").example("upper_x");
  d("reflection", &WallEmissionParams::reflection,
    "fraction of the arriving particles of this species that is reflected specularly, 0 to 1 (formula)")
      .def("0");
  d("yield", &WallEmissionParams::yield,
    "secondary emission: particles of this species emitted per arriving particle of each named species (formulas)")
      .def({})
      .example("{electron: 0.3, ion: 0.05}");
  d("flux", &WallEmissionParams::flux,
    "particles emitted per time and area whatever arrives, for example thermionic (formula in t); default: none")
      .def("")
      .example("0.02");
  d("temperature", &WallEmissionParams::temperature,
    "temperature of emitted particles, whose distribution is the half of a Maxwellian that leaves the wall (formula)")
      .def("1")
      .example("0.1");
}

void SourceParams::describe(deck::Describe<SourceParams>& d) {
  d("profile", &SourceParams::profile,
    "particles per time and volume of phase space: a formula as f0, nowhere negative")
      .example("\"0.01*step(1 - abs(x))*maxwellian(v)\"");
  d("rate", &SourceParams::rate, "factor of the profile at each time (formula in t)").def("1").example("exp(-t/100)");
}

void ReactionParams::describe(deck::Describe<ReactionParams>& d) {
  using K = Kind;
  d("kind", &ReactionParams::kind,
    "ionisation (each particle of the first species makes a pair, at rest in the mean) or recombination (a pair "
    "disappears)")
      .options({{"ionisation", K::ionisation}, {"recombination", K::recombination}});
  d("species", &ReactionParams::species, "the two species of a pair; ionisation is by the first")
      .example("[electron, ion]");
  d("rate", &ReactionParams::rate,
    "pairs per time and particle of the first species (ionisation), or per time and density of both (recombination): "
    "formula in x, y, z at the centre of each cell, and in n_NAME and T_NAME, mean density and temperature there")
      .example("0.01");
  d("temperatures", &ReactionParams::temperatures, "temperatures of the two species of a new pair (formulas)")
      .def({})
      .example("[1, 0.1]");
  d.check([](const ReactionParams& p) -> std::string {
    if (p.species.size() != 2 || p.species[0] == p.species[1])
      return "reactions: 'species' needs the names of two different species";
    if (p.temperatures.size() != (p.kind == Kind::ionisation ? 2U : 0U))
      return p.kind == Kind::ionisation
                 ? "reactions: ionisation needs 'temperatures', one for each species of a new pair"
                 : "reactions: recombination makes no particles; remove 'temperatures'";
    return {};
  });
}

void SpeciesParams::describe(deck::Describe<SpeciesParams>& d) {
  d("name", &SpeciesParams::name, "name in tables and files").example("electron");
  d("charge", &SpeciesParams::charge, "charge in units of e (formula)").def("0");
  d("mass", &SpeciesParams::mass, "mass in the unit of mass (formula)").def("1");
  d("velocity", &SpeciesParams::velocity, "velocity space");
  d("f0", &SpeciesParams::f0,
    "initial distribution function: a formula in x, y, z, vx, vy, vz (v for the only one); may be absent with "
    "start_from")
      .def("")
      .example("\"(1 + 0.01*cos(0.5*x)) * maxwellian(v)\"");
  d("collisions", &SpeciesParams::collisions,
    "collision operator of particles of this species with each other; default: none");
  d("positivity", &SpeciesParams::positivity,
    "positivity limiter that keeps the cell means of f non-negative (energy is then not conserved)")
      .def(false);
  d("walls", &SpeciesParams::walls, "particles of this species that absorbing walls return: reflection and emission")
      .def({});
  d("source", &SpeciesParams::source, "particle source in the domain; default: none");
  d("loss", &SpeciesParams::loss,
    "particles lost per time and particle (formula in x, y, z at the centre of each cell); default: none")
      .def("")
      .example("0.01*step(abs(x) - 5)");
}

void GrowthParams::describe(deck::Describe<GrowthParams>& d) {
  d("start_time", &GrowthParams::from, "time at which the fit begins").formerly("from").def(0.0);
  d("end_time", &GrowthParams::to, "time at which the fit ends").formerly("to").def(1e300);
  d("oscillating", &GrowthParams::oscillating,
    "fit of the maxima of the field energy only (for a damped or growing wave, which also gives the frequency)")
      .def(false);
}

void ObservableParams::describe(deck::Describe<ObservableParams>& d) {
  d("growth_rate", &ObservableParams::growth_rate,
    "fit of the exponential growth rate of the electric and magnetic field amplitudes, without the mean of the "
    "magnetic field over the domain");
  d("entropy", &ObservableParams::entropy, "minus the integral of f ln f of every species").def(false);
  d("balance", &ObservableParams::balance,
    "fluxes of particles, momentum and energy to every wall that absorbs, and the balance of sources and losses; on "
    "where a species has walls, source or loss, or where there are reactions")
      .def(false);
}

std::string problem_of_names(const std::vector<SpeciesParams>& species, const std::vector<FluidParams>& fluids) {
  if (species.empty()) return "'species' is empty; give at least one";
  std::set<std::string> names;
  for (const auto& s : species)
    if (!names.insert(s.name).second) return fmt::format("two species have the name '{}'; give each its own", s.name);
  for (const auto& s : fluids)
    if (!names.insert(s.name).second) return fmt::format("two species have the name '{}'; give each its own", s.name);
  return {};
}

std::string key_of(const CommonParams& common, const std::string& species) {
  for (std::size_t k = 0; k < common.species.size(); ++k)
    if (common.species[k].name == species) return deck::child_path("species", k);
  return "species";
}

std::map<std::string, double> CommonParams::values() const { return values_of(parameters); }

/// One dimension of keys with lower, upper and cells: a domain, or a species' velocities.
template <class Extent>
static Axis axis_of(const Extent& keys, std::size_t d, const std::map<std::string, double>& values,
                    const std::string& what) {
  const auto end = [&](const char* key, const std::string& text) {
    return deck::about_key("kinetic.formula", deck::child_path(key, d), [&] { return constant(text, values); });
  };
  const double lower = end("lower", keys.lower[d]), upper = end("upper", keys.upper[d]);
  const int cells = keys.cells[d];
  if (!(upper > lower))
    throw KeyError("kinetic.upper.range", deck::child_path("upper", d),
                   fmt::format("{}: 'upper' ({:g}) must be larger than 'lower' ({:g})", what, upper, lower));
  Axis a;
  a.lower = lower;
  a.upper = upper;
  a.cells = cells;
  a.count = cells;
  return a;
}

PhaseGrid make_grid(const CommonParams& p, const SpeciesParams& s) {
  const auto values = p.values();
  PhaseGrid g;
  g.cdim = static_cast<int>(p.domain.cells.size());
  g.vdim = static_cast<int>(s.velocity.cells.size());
  find_built(g.cdim, g.vdim, p.basis.order, p.basis.family == BasisParams::Family::tensor);
  for (int d = 0; d < g.cdim; ++d) {
    g.axis[d] = deck::about_key(
        "", "domain", [&] { return axis_of(p.domain, d, values, fmt::format("domain, dimension {}", d + 1)); });
    if (!p.domain.lower_wall.empty()) g.axis[d].low_wall = p.domain.lower_wall[d];
    if (!p.domain.upper_wall.empty()) g.axis[d].high_wall = p.domain.upper_wall[d];
  }
  for (int d = 0; d < g.vdim; ++d) {
    Axis& a = g.axis[g.cdim + d];
    deck::about_key("", deck::joined_key(key_of(p, s.name), "velocity"), [&] {
      const std::string what = fmt::format("species '{}', velocity dimension {}", s.name, d + 1);
      a = axis_of(s.velocity, d, values, what);
      if (!s.velocity.spacing.empty()) divide(a, s.velocity.spacing[d], d, values, what);
      if (d < g.cdim) require_zero_on_face(a, s.name, d);
    });
  }
  return g;
}

}  // namespace cambium::kinetic
