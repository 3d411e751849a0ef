// Sources, losses, reactions and walls that give particles back: exact solutions, and balances to rounding.
#include <fmt/format.h>

#include <cmath>

#include "compare_runs.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

/// Particles without charge in a box; density one, temperature one.
static VlasovPoisson::Params neutral(bool walls, int vdim = 1) {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"4"}, {6});
  if (walls) p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
  const std::string f0 = vdim == 1 ? "maxwellian(v)" : "maxwellian(vx)*maxwellian(vy)";
  p.species = {species("gas", "0", "1", std::vector<std::string>(vdim, "-6"), std::vector<std::string>(vdim, "6"),
                       std::vector<int>(vdim, 12), f0)};
  p.timestep = 0.005;
  return p;
}

/// A result of a run by its key.
static double result(const Vlasov& physics, const std::string& key) {
  for (const auto& r : physics.results())
    if (r.key == key) return r.value;
  throw InternalError("no result " + key);
}

/// What all kinds of flow leave in a species.
static double in_all(const Vlasov& physics, const std::string& species, const std::string& what) {
  const std::string head = species + "_" + what + "_";
  return result(physics, head + "source") + result(physics, head + "loss") + result(physics, head + "reactions") -
         result(physics, head + "to_walls") + result(physics, head + "from_walls");
}

TEST_CASE("a source and a loss have the density of their equation, and the balance is exact") {
  for (int vdim : {1, 2}) {
    auto p = neutral(false, vdim);
    p.species[0].source = SourceParams{
        vdim == 1 ? "0.3*maxwellian(v, 0.5, 0.8)" : "0.3*maxwellian(vx, 0.5, 0.8)*maxwellian(vy)", "1 + t"};
    p.species[0].loss = "0.7";
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    const auto& s = *run.physics->species()[0];
    const double n0 = Totals(s).particles(), p0 = Totals(s).momentum(0), e0 = Totals(s).kinetic_energy();
    run.until(1.0);
    // n' = 0.3 (1 + t) - 0.7 n, n(0) = 1.
    const double k = 0.7, a = 0.3, steady = a / k * (1.0 - 1.0 / k);
    const double exact = steady + a / k + (1.0 - steady) * std::exp(-k);
    CHECK(Totals(s).particles() / 4.0 == Approx(exact).epsilon(1e-7));
    CHECK(in_all(*run.physics, "gas", "particles") == Approx(Totals(s).particles() - n0).margin(1e-12));
    CHECK(in_all(*run.physics, "gas", "momentum_x") == Approx(Totals(s).momentum(0) - p0).margin(1e-12));
    CHECK(in_all(*run.physics, "gas", "energy") == Approx(Totals(s).kinetic_energy() - e0).margin(1e-12));
  }
}

TEST_CASE("a wall that reflects all is the wall that reflects") {
  for (int vdim : {1, 2}) {
    auto p = neutral(true, vdim);
    p.species[0].f0 =
        vdim == 1 ? "(1 + 0.5*sin(x))*maxwellian(v, 0.4)" : "(1 + 0.5*sin(x))*maxwellian(vx, 0.4)*maxwellian(vy, 0.2)";
    auto mirrors = p;
    p.species[0].walls = {{"lower_x", "1"}, {"upper_x", "1"}};
    mirrors.domain.lower_wall = mirrors.domain.upper_wall = {Wall::reflect};
    KineticRun<VlasovPoisson> mine(p, MPI_COMM_SELF), theirs(mirrors, MPI_COMM_SELF);
    mine.start();
    theirs.start();
    for (int k = 0; k < 20; ++k) mine.step(), theirs.step();
    CHECK(difference(mine, theirs) < 1e-13);
    const auto &a = *mine.physics->species()[0], &b = *theirs.physics->species()[0];
    CHECK(furthest(a.moment(0), b.moment(0)) < 1e-13);
    CHECK(furthest(a.moment(vdim + 1), b.moment(vdim + 1)) < 1e-12);
  }
}

TEST_CASE("what a wall takes is what the gas loses, less the reflected part") {
  auto p = neutral(true);
  p.species[0].walls = {{"upper_x", "0.25"}};
  KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
  run.start();
  const auto& s = *run.physics->species()[0];
  const double n0 = Totals(s).particles(), e0 = Totals(s).kinetic_energy(), p0 = Totals(s).momentum(0);
  run.step();
  const double flux = 1.0 / std::sqrt(2.0 * M_PI);  // n sqrt(T/(2 pi m))
  CHECK(run("flux_gas_lower_x") == Approx(flux).epsilon(1e-3));
  CHECK(run("flux_gas_upper_x") == Approx(0.75 * flux).epsilon(1e-3));
  CHECK(run("energy_flux_gas_lower_x") == Approx(flux).epsilon(2e-3));  // T for each particle
  CHECK(run("momentum_flux_gas_upper_x") == Approx(1.25 * 0.5).epsilon(2e-3));
  run.until(2.0);
  CHECK(Totals(s).particles() < 0.8 * n0);
  CHECK(in_all(*run.physics, "gas", "particles") == Approx(Totals(s).particles() - n0).margin(1e-12));
  CHECK(in_all(*run.physics, "gas", "energy") == Approx(Totals(s).kinetic_energy() - e0).margin(1e-12));
  CHECK(in_all(*run.physics, "gas", "momentum_x") == Approx(Totals(s).momentum(0) - p0).margin(1e-12));
  CHECK(result(*run.physics, "gas_particles_net_lower_x") + result(*run.physics, "gas_particles_net_upper_x") ==
        Approx(n0 - Totals(s).particles()).epsilon(1e-12));
}

TEST_CASE("a wall that emits adds its flux, of the energy of a half of a Maxwellian") {
  for (int vdim : {1, 2}) {
    auto p = neutral(true, vdim);
    p.species[0].velocity.cells.assign(vdim, 24);
    p.species[0].f0 = "1e-9*(" + p.species[0].f0 + ")";
    p.species[0].walls = {{"lower_x", "0", "0.02*(1 + t)", "0.5", {}}};
    p.timestep = 0.0025;
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    run.until(0.5);
    const auto& s = *run.physics->species()[0];
    const double emitted = 0.02 * (0.5 + 0.125);
    CHECK(result(*run.physics, "gas_particles_from_walls") == Approx(emitted).epsilon(1e-10));
    CHECK(Totals(s).particles() == Approx(emitted).epsilon(1e-3));
    CHECK(result(*run.physics, "gas_energy_from_walls") ==
          Approx(emitted * 0.5 * (1.0 + 0.5 * (vdim - 1))).epsilon(2e-3));
    CHECK(result(*run.physics, "gas_momentum_x_from_walls") ==
          Approx(emitted * std::sqrt(0.5 * M_PI * 0.5)).epsilon(2e-3));
  }
}

TEST_CASE("secondary emission follows what arrives, and floating walls keep its charge") {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"8"}, {10});
  p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
  p.wall_potential = WallPotentialParams{{"floating"}, {"0"}};
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {16}, "maxwellian(v)"),
               species("ion", "1", "25", {"-1.2"}, {"1.2"}, {12}, "maxwellian(v, 0, 0.2)")};
  p.species[0].walls = {{"lower_x", "0.1", "0.001", "0.3", {{"electron", "0.4"}, {"ion", "0.2"}}}};
  KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
  run.start();
  run.until(1.0);
  const auto key = [&](const std::string& k) { return result(*run.physics, k); };
  const auto &e = *run.physics->species()[0], &i = *run.physics->species()[1];
  // Charge of the lower wall: of both species, net, and nothing else.
  CHECK(run("wall_charge_lower_x") ==
        Approx(key("ion_particles_net_lower_x") - key("electron_particles_net_lower_x")).epsilon(1e-11));
  CHECK(in_all(*run.physics, "electron", "particles") == Approx(Totals(e).particles() - 8.0).margin(1e-10));
  CHECK(in_all(*run.physics, "ion", "particles") == Approx(Totals(i).particles() - 8.0).margin(1e-10));
  const double electrons =
      (key("electron_particles_net_lower_x") + 0.2 * key("ion_particles_net_lower_x") + 0.001 * run.state.time) / 0.5;
  CHECK(electrons + key("electron_particles_net_upper_x") == Approx(key("electron_particles_to_walls")).epsilon(1e-10));
}

TEST_CASE("ionisation grows as its rate says, recombination falls as 1/(1 + K n t)") {
  auto p = neutral(false);
  auto second = p.species[0];
  second.name = "ion";
  second.mass = "4";
  p.species.push_back(second);
  for (bool grows : {true, false}) {
    p.reactions = {{grows ? ReactionParams::Kind::ionisation : ReactionParams::Kind::recombination,
                    {"gas", "ion"},
                    grows ? std::vector<std::string>{"0.5", "0.25"} : std::vector<std::string>{},
                    grows ? "0.4*T_gas/T_gas" : "0.8"}};
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    const auto &a = *run.physics->species()[0], &b = *run.physics->species()[1];
    const double energy = Totals(b).kinetic_energy();
    run.until(1.0);
    CHECK(Totals(a).particles() / 4.0 == Approx(grows ? std::exp(0.4) : 1.0 / 1.8).epsilon(1e-7));
    CHECK(Totals(b).particles() == Approx(Totals(a).particles()).epsilon(1e-12));
    CHECK(in_all(*run.physics, "ion", "particles") == Approx(Totals(b).particles() - 4.0).margin(1e-10));
    CHECK(in_all(*run.physics, "ion", "energy") == Approx(Totals(b).kinetic_energy() - energy).margin(1e-10));
    if (grows)  // T/2 for each new particle
      CHECK(result(*run.physics, "ion_energy_reactions") ==
            Approx(0.125 * result(*run.physics, "ion_particles_reactions")).epsilon(1e-3));
  }
}

TEST_CASE("ranks agree on sources and walls") {
  const int n = Comm().size();
  auto with = [&](std::vector<int> ranks) {
    VlasovPoisson::Params p;
    p.ranks = std::move(ranks);
    p.domain = domain({"0"}, {"8"}, {12});
    p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
    p.wall_potential = WallPotentialParams{{"0"}, {"floating"}};
    p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {16}, "maxwellian(v)"),
                 species("ion", "1", "25", {"-1.2"}, {"1.2"}, {16}, "maxwellian(v, 0, 0.2)")};
    p.species[0].walls = {{"upper_x", "0", "0.001", "0.3", {{"electron", "0.4"}, {"ion", "0.2"}}}};
    p.species[0].source = SourceParams{"0.01*step(4 - x)*maxwellian(v)", "1"};
    p.species[1].loss = "0.1*x";
    p.reactions = {{ReactionParams::Kind::ionisation, {"electron", "ion"}, {"1", "0.1"}, "0.05*n_electron"}};
    return p;
  };
  for (const auto& cut : {std::vector<int>{n, 1}, std::vector<int>{1, n}}) {
    KineticRun<VlasovPoisson> whole(with({}), MPI_COMM_SELF), part(with(cut));
    whole.start();
    part.start();
    for (int k = 0; k < 6; ++k) whole.step(), part.step();
    CHECK(difference(part, whole) < 1e-13);
    CHECK(part("flux_electron_upper_x") == Approx(whole("flux_electron_upper_x")).epsilon(1e-12));
    CHECK(in_all(*part.physics, "ion", "energy") == Approx(in_all(*whole.physics, "ion", "energy")).epsilon(1e-12));
  }
}

/// Emitter at x = 0 of half Maxwellians of electrons and ions, collector at x = L that floats.
static VlasovPoisson::Params diode(double ratio) {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"12"}, {36});
  p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
  p.wall_potential = WallPotentialParams{{"0"}, {"floating"}};
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {36}, "0.8*maxwellian(v)"),
               species("ion", "1", "100", {"-0.6"}, {"0.6"}, {36}, "0.8*maxwellian(v, 0.12, 0.06)")};
  const double ions = 0.08;
  p.species[0].walls = {{"lower_x", "0", fmt::format("{}", ratio * ions), "1", {}}};
  p.species[1].walls = {{"lower_x", "0", fmt::format("{}", ions), "1", {}}};
  return p;
}

TEST_CASE("a floating collector has the potential, ion speed and fluxes of theory") {
  if (Comm().size() > 1) return;
  const double ratio = 6.0;
  KineticRun<VlasovPoisson> run(diode(ratio));
  run.start();
  run.until(400.0);
  const double potential = run("wall_potential_upper_x"), exact = -std::log(ratio);
  INFO("potential " << potential << ", theory " << exact << "; fluxes " << run("flux_ion_upper_x") << " "
                    << run("flux_electron_upper_x") << ", energy " << run("energy_flux_ion_upper_x") << " "
                    << run("energy_flux_electron_upper_x"));
  CHECK(potential == Approx(exact).epsilon(0.02));
  // Ions at the collector: half a Maxwellian that has fallen through the potential.
  const auto& ions = *run.physics->species()[1];
  const auto density = ions.moment(0);
  double at_wall = 0.0;
  for (int k = 0; k < ions.conf().modes(); ++k)
    at_wall += density[density.size() - ions.conf().modes() + k] * legendre(ions.conf().exponents[k][0], 1.0);
  const double there = std::sqrt(50.0 * M_PI) * std::exp(-exact) * std::erfc(std::sqrt(-exact));
  CHECK(run("flux_ion_upper_x") / at_wall == Approx(1.0 / there).epsilon(0.02));
  CHECK(run("flux_ion_upper_x") == Approx(0.08).epsilon(0.02));
  CHECK(run("flux_electron_upper_x") == Approx(0.08).epsilon(0.02));
  CHECK(run("energy_flux_ion_upper_x") == Approx(0.08 * (1.0 - exact)).epsilon(0.02));
  CHECK(run("energy_flux_electron_upper_x") == Approx(0.08).epsilon(0.02));
}
