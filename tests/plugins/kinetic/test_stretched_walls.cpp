// Velocity cells of different widths at walls, with sources and in files.
#include <algorithm>
#include <cmath>

#include "compare_runs.hpp"
#include "core/io/hdf5/h5.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/species/outflow.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "stretched.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

namespace {

/// Particles without charge in a box; density one, temperature one, drifting.
VlasovPoisson::Params box(int vdim, Wall wall) {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"4"}, {6});
  p.domain.lower_wall = p.domain.upper_wall = {wall};
  p.species = {species(
      "gas", "0", "1", std::vector<std::string>(vdim, "-6"), std::vector<std::string>(vdim, "6"),
      std::vector<int>(vdim, 12),
      vdim == 1 ? "(1 + 0.5*sin(x))*maxwellian(v, 0.4)" : "(1 + 0.5*sin(x))*maxwellian(vx, 0.4)*maxwellian(vy)")};
  p.species[0].velocity.spacing.assign(vdim, stretch("0.6"));
  if (vdim > 1) p.species[0].velocity.spacing[1] = uneven(6.0, 12);
  p.timestep = 0.005;
  return p;
}

double result(const Vlasov& physics, const std::string& key) {
  for (const auto& r : physics.results())
    if (r.key == key) return r.value;
  throw InternalError("no result " + key);
}

/// What all kinds of flow leave in a species.
double in_all(const Vlasov& physics, const std::string& species, const std::string& what) {
  const std::string head = species + "_" + what + "_";
  return result(physics, head + "source") + result(physics, head + "loss") + result(physics, head + "reactions") -
         result(physics, head + "to_walls") + result(physics, head + "from_walls");
}

std::string refusal(const VlasovPoisson::Params& p) {
  try {
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("walls that reflect keep a gas on stretched cells") {
  for (int vdim : {1, 2}) {
    KineticRun<VlasovPoisson> run(box(vdim, Wall::reflect), MPI_COMM_SELF);
    run.start();
    const Totals t(*run.physics->species()[0]);
    const double particles = t.particles(), energy = t.kinetic_energy();
    run.until(1.0);
    CHECK(Totals(*run.physics->species()[0]).particles() == Approx(particles).epsilon(1e-13));
    CHECK(Totals(*run.physics->species()[0]).kinetic_energy() == Approx(energy).epsilon(1e-13));
  }
}

TEST_CASE("a wall that gives back all is the wall that reflects, on stretched cells") {
  for (int vdim : {1, 2}) {
    auto p = box(vdim, Wall::absorb);
    p.species[0].walls = {{"lower_x", "1"}, {"upper_x", "1"}};
    KineticRun<VlasovPoisson> mine(p, MPI_COMM_SELF), theirs(box(vdim, Wall::reflect), MPI_COMM_SELF);
    mine.start();
    theirs.start();
    for (int k = 0; k < 20; ++k) mine.step(), theirs.step();
    CHECK(difference(mine, theirs) < 1e-13);
    const auto &a = *mine.physics->species()[0], &b = *theirs.physics->species()[0];
    CHECK(furthest(a.moment(0), b.moment(0)) < 1e-13);
    CHECK(furthest(a.moment(vdim + 1), b.moment(vdim + 1)) < 1e-12);
  }
}

TEST_CASE("balances of sources, losses, reactions and walls are exact on stretched cells") {
  for (int vdim : {1, 2}) {
    auto p = box(vdim, Wall::absorb);
    auto& gas = p.species[0];
    gas.source = SourceParams{vdim == 1 ? "0.3*maxwellian(v, 0.5, 0.8)" : "0.3*maxwellian(vx, 0.5, 0.8)*maxwellian(vy)",
                              "1 + t"};
    gas.loss = "0.7*x";
    gas.walls = {{"lower_x", "0.2", "0.02*(1 + t)", "0.5", {{"gas", "0.3"}}}};
    auto second = gas;
    second.name = "ion";
    second.mass = "4";
    second.walls.clear();
    second.source.reset();
    p.species.push_back(second);
    p.reactions = {{ReactionParams::Kind::ionisation, {"gas", "ion"}, {"1", "1.5"}, "0.4"}};
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    std::vector<double> before;
    for (const auto& s : run.physics->species())
      for (double x : {Totals(*s).particles(), Totals(*s).momentum(0), Totals(*s).kinetic_energy()})
        before.push_back(x);
    run.until(0.5);
    int k = 0;
    for (const auto& s : run.physics->species()) {
      const Totals t(*s);
      CHECK(in_all(*run.physics, s->name(), "particles") == Approx(t.particles() - before[k++]).margin(1e-12));
      CHECK(in_all(*run.physics, s->name(), "momentum_x") == Approx(t.momentum(0) - before[k++]).margin(1e-12));
      CHECK(in_all(*run.physics, s->name(), "energy") == Approx(t.kinetic_energy() - before[k++]).margin(1e-12));
    }
    // New pairs have T/2 of energy for each velocity, emitted particles T/2 more: whatever the widths are.
    CHECK(result(*run.physics, "ion_energy_reactions") ==
          Approx(0.75 * vdim * result(*run.physics, "ion_particles_reactions")).epsilon(2e-3));
  }
}

TEST_CASE("a wall takes the flux of a Maxwellian, and outflow() is what it takes") {
  auto p = box(1, Wall::absorb);
  p.species[0].f0 = "maxwellian(v)";
  p.species[0].velocity.cells = {24};
  p.observables.balance = true;
  KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
  run.start();
  const auto& solver = run.physics->species()[0]->solver();
  for (const bool high : {false, true})
    CHECK(outflow(solver, 0, 0, high) == Approx(1.0 / std::sqrt(2.0 * M_PI)).epsilon(1e-3));
  run.step();
  CHECK(run("flux_gas_lower_x") == Approx(1.0 / std::sqrt(2.0 * M_PI)).epsilon(1e-3));
  CHECK(run("energy_flux_gas_lower_x") == Approx(1.0 / std::sqrt(2.0 * M_PI)).epsilon(2e-3));
}

namespace {

/// Emitter at x = 0 of half Maxwellians, collector that floats (inputs/kinetic/sheath.yaml), on coarser cells.
VlasovPoisson::Params diode(int ion_cells, bool stretched, std::vector<int> ranks = {}) {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"12"}, {24});
  p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
  p.wall_potential = WallPotentialParams{{"0"}, {"floating"}};
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {24}, "0.8*maxwellian(v)"),
               species("ion", "1", "25", {"-1.2"}, {"1.2"}, {ion_cells}, "0.8*maxwellian(v, 0.24, 0.12)")};
  p.species[0].walls = {{"lower_x", "0", "0.48", "1", {}}};
  p.species[1].walls = {{"lower_x", "0", "0.16", "1", {}}};
  if (stretched) p.species[1].velocity.spacing = {stretch("0.5")};
  p.ranks = std::move(ranks);
  return p;
}

}  // namespace

TEST_CASE("fluxes to a floating wall do not depend on the widths of the ions' cells") {
  std::vector<std::vector<double>> found;
  for (const auto& p : {diode(48, false), diode(24, true)}) {
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    run.until(60.0);
    found.emplace_back();
    for (const char* name : {"flux_ion_upper_x", "flux_electron_upper_x", "energy_flux_ion_upper_x",
                             "energy_flux_electron_upper_x", "momentum_flux_ion_upper_x", "wall_potential_upper_x"})
      found.back().push_back(run(name));
  }
  for (std::size_t k = 0; k < found[0].size(); ++k) {
    INFO(k << ": " << found[0][k] << " and " << found[1][k]);
    CHECK(found[1][k] == Approx(found[0][k]).epsilon(0.005));
  }
}

TEST_CASE("ranks agree on walls and stretched ions") {
  const int n = Comm().size();
  for (const auto& cut : {std::vector<int>{n, 1}, std::vector<int>{1, n}}) {
    KineticRun<VlasovPoisson> whole(diode(24, true), MPI_COMM_SELF), part(diode(24, true, cut));
    whole.start();
    part.start();
    for (int k = 0; k < 6; ++k) whole.step(), part.step();
    CHECK(difference(part, whole) < 1e-13);
    CHECK(part("flux_ion_upper_x") == Approx(whole("flux_ion_upper_x")).epsilon(1e-12));
    CHECK(in_all(*part.physics, "ion", "energy") == Approx(in_all(*whole.physics, "ion", "energy")).epsilon(1e-12));
  }
}

namespace {

VlasovMaxwell::Params plasma(int nx, std::vector<int> nv, std::vector<SpacingParams> spacing) {
  VlasovMaxwell::Params p;
  p.domain = domain({"0"}, {"4*pi"}, {nx});
  p.species = {species("electron", "-1", "1", {"-6", "-6"}, {"6", "6"}, nv,
                       "(1 + 0.1*cos(0.5*x)) * maxwellian(vx, 0.3, 1) * maxwellian(vy, 0, 1.2)")};
  p.species[0].velocity.spacing = std::move(spacing);
  p.fields.E = {"-0.2*sin(0.5*x)", "0.1*cos(x)"};
  p.fields.B = {"0", "0", "0.3 + 0.2*sin(0.5*x)"};
  return p;
}

using Run = KineticRun<VlasovMaxwell>;

/// A checkpoint of a run after three steps.
struct Stored {
  Comm comm;
  SharedScratch scratch{comm};
  std::string path = scratch.file("kinetic_stretched.h5");
  Run run;
  explicit Stored(const VlasovMaxwell::Params& p) : run(p) {
    run.start();
    for (int k = 0; k < 3; ++k) run.step();
    io::File file = comm.root() ? io::File::create(path) : io::File::in_memory(path);
    run.physics->save(file);
    if (comm.root()) file.close();
    comm.barrier();
  }
  VlasovMaxwell::Params from(VlasovMaxwell::Params p) const {
    p.start_from = path;
    p.species[0].f0.clear();
    return p;
  }
  void restore(Run& other) const {
    other.state.step = run.state.step;
    other.state.time = run.state.time;
    other.physics->restore(other.state, other.context, io::File::open(path), true);
  }
};

void check_same(Run& a, Run& b, std::vector<const char*> names) {
  for (const char* name : names) {
    INFO(name << " " << a(name) << " and " << b(name));
    CHECK(std::abs(a(name) - b(name)) <= 2e-12 * std::max(1.0, std::abs(a(name))));
  }
}

}  // namespace

TEST_CASE("a run on stretched cells is resumed bit for bit, and not on other widths") {
  const auto p = plasma(8, {8, 8}, {stretch("0.6"), stretch("0.4")});
  Stored stored(p);
  Run second(p);
  stored.restore(second);
  for (int k = 0; k < 3; ++k) stored.run.step(), second.step();
  CHECK(cells_of(*second.physics->species()[0]) == cells_of(*stored.run.physics->species()[0]));
  for (const auto& spacing : {std::vector<SpacingParams>{stretch("0.6"), stretch("0.5")}, {stretch("0.6"), {}}}) {
    Run other(plasma(8, {8, 8}, spacing));
    std::string text;
    try {
      stored.restore(other);
    } catch (const InputError& error) {
      text = error.what();
    }
    CHECK(text ==
          "species 'electron' was stored with other widths of the cells of velocity dimension 2 than this deck has; "
          "resume with the deck that wrote it, or begin another run with 'start_from'");
  }
}

TEST_CASE("a run begins from another one on other widths") {
  // Every cell divided into two of unequal widths: everything is taken over.
  std::vector<std::string> coarse, fine;
  for (double v : {-6.0, -3.5, -1.5, 0.0, 1.0, 2.5, 6.0}) {
    if (!coarse.empty()) fine.push_back(fmt::format("{}", 0.7 * std::stod(coarse.back()) + 0.3 * v));
    coarse.push_back(fmt::format("{}", v));
    fine.push_back(coarse.back());
  }
  Stored stored(plasma(8, {6, 8}, {edges(coarse), stretch("0.5")}));
  Run finer(stored.from(plasma(16, {12, 8}, {edges(fine), stretch("0.5")})));
  finer.start();
  check_same(stored.run, finer,
             {"particles", "momentum_x", "momentum_y", "kinetic_energy", "electric_energy", "magnetic_energy",
              "square_electron"});
  // Onto cells across the old ones: density, momentum and energy are.
  for (const bool uniform : {true, false}) {
    Run across(stored.from(
        plasma(6, {10, 12},
               uniform ? std::vector<SpacingParams>{} : std::vector<SpacingParams>{stretch("0.8"), uneven(6.0, 12)})));
    across.start();
    check_same(stored.run, across, {"particles", "momentum_x", "momentum_y", "kinetic_energy"});
    CHECK(across("square_electron") < stored.run("square_electron"));
  }
}

TEST_CASE("a file with widths that are none is refused") {
  Stored stored(plasma(4, {8, 8}, {stretch("0.6"), stretch("0.4")}));
  const auto p = stored.from(plasma(4, {8, 8}, {}));
  stored.comm.barrier();
  for (const auto& wrong : {std::vector<double>{0.0, 1.0}, {-6, -5, -4, -3, 0, 3, 4, 3.5, 6}}) {
    if (stored.comm.root()) {
      io::File file = io::File::append(stored.path);
      file.dataset("electron/f").set_attribute("edges_vx", wrong);
      file.close();
    }
    stored.comm.barrier();
    std::string text;
    try {
      Run run(p);
      run.start();
    } catch (const InputError& error) {
      text = error.what();
    }
    CHECK(text == fmt::format("'{}': attribute 'edges_vx' does not hold the 9 ascending faces of 8 velocity cells; the "
                              "file is damaged or was changed, take another one",
                              stored.path));
    stored.comm.barrier();
  }
}

TEST_CASE("walls that reflect refuse cells that are not mirrored") {
  auto p = box(1, Wall::reflect);
  p.species[0].velocity.cells = {4};
  p.species[0].velocity.spacing = {edges({"-6", "-2", "0", "1", "6"})};
  const std::string wanted =
      "species 'gas': a reflecting wall needs cells that are mirror images at v = 0, but velocity dimension 1 has a "
      "cell "
      "from -6 to -2 and none from 2 to 6";
  CHECK(refusal(p) == wanted);
  p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
  p.species[0].walls = {{"upper_x", "0.5"}};
  CHECK(refusal(p) == wanted);
}
