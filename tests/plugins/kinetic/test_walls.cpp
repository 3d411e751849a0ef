// Plasma between walls: reflecting walls are mirrors for the potential too, floating ones keep the charge they absorb.
#include <cmath>

#include "core/io/hdf5/h5.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

/// Ions and electrons that stream against x = 0: from the left alone, where a wall reflects them, or from both sides.
static VlasovPoisson::Params shock(bool mirrored, int ranks) {
  VlasovPoisson::Params p;
  p.parameters = {{"m", "25"}, {"vi", "1/15"}, {"u", "0.3"}, {"L", "10"}};
  p.domain = mirrored ? domain({"-L"}, {"L"}, {40}) : domain({"-L"}, {"0"}, {20});
  p.domain.lower_wall = {Wall::copy};
  p.domain.upper_wall = {mirrored ? Wall::copy : Wall::reflect};
  auto stream = [&](const std::string& width) {
    return mirrored ? "(1 - step(x))*maxwellian(v, u, " + width + ") + step(x)*maxwellian(v, -u, " + width + ")"
                    : "maxwellian(v, u, " + width + ")";
  };
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {16}, stream("1")),
               species("ion", "1", "m", {"-0.9"}, {"0.9"}, {24}, stream("vi"))};
  p.max_timestep = 0.01;
  p.ranks = {ranks, 1};
  return p;
}

static double field_at_end(const Vlasov& physics) {
  const ConfGrid& g = physics.species().front()->conf();
  const auto all = all_cells(physics, physics.fields()->electric(0, 0));
  const double* e = all.data() + all.size() - g.modes();
  double sum = 0.0;
  for (int k = 0; k < g.modes(); ++k) sum += e[k] * legendre(g.exponents[k][0], 1.0);
  return sum;
}

TEST_CASE("a reflecting wall is a plane of symmetry: half of two streams that meet") {
  const int n = Comm().size();
  KineticRun<VlasovPoisson> half(shock(false, n)), both(shock(true, n));
  half.start();
  both.start();
  half.until(2.0);
  both.until(2.0);
  const auto size = half.physics->species().front()->conf().whole().size();
  for (std::size_t s = 0; s < 2; ++s)
    for (int c = 0; c < 3; ++c) {
      const auto a = all_cells(*half.physics, half.physics->species()[s]->moment(c)),
                 b = all_cells(*both.physics, both.physics->species()[s]->moment(c));
      double worst = 0.0;
      for (std::size_t k = 0; k < size; ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
      INFO("species " << s << ", moment " << c << ": " << worst);
      CHECK(worst < 1e-11);
    }
  const double wall = field_at_end(*half.physics);
  double largest = 0.0, worst = 0.0;
  const auto mine = all_cells(*half.physics, half.physics->fields()->electric(0, 0)),
             wanted = all_cells(*both.physics, both.physics->fields()->electric(0, 0));
  for (std::size_t k = 0; k < size; ++k) {
    const double e = wanted[k];
    largest = std::max(largest, std::abs(e));
    worst = std::max(worst, std::abs(mine[k] - e));
  }
  INFO("E at the wall " << wall << ", largest coefficient " << largest << ", furthest from that of both streams "
                        << worst);
  CHECK(worst < 1e-11);
  CHECK(largest > 0.05);
  CHECK(std::abs(wall) < 0.02);
}

TEST_CASE("particles and energy stay in a box of mirrors") {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"10"}, {8});
  p.domain.lower_wall = p.domain.upper_wall = {Wall::reflect};
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {16}, "(1 + 0.5*cos(pi*x/10)) * maxwellian(v)")};
  double error[2];
  for (int fine : {0, 1}) {
    p.max_timestep = fine ? 0.005 : 0.01;
    KineticRun<VlasovPoisson> run(p);
    run.start();
    const double particles = run("particles"), energy = run("total_energy");
    CHECK(run("electric_energy") > 1.0);
    run.until(8.0);
    CHECK(run("particles") / particles - 1.0 == Approx(0.0).margin(1e-12));
    error[fine] = std::abs(run("total_energy") / energy - 1.0);
  }
  INFO("energy " << error[0] << ", " << error[1]);
  CHECK(error[1] < 1e-6);
  CHECK(std::log2(error[0] / error[1]) > 2.7);
}

TEST_CASE("a reflecting wall is a plane of symmetry in two dimensions") {
  auto params = [](bool mirrored) {
    VlasovPoisson::Params p;
    p.basis.order = 1;
    p.domain = mirrored ? domain({"0", "-4"}, {"2*pi", "4"}, {4, 8}) : domain({"0", "-4"}, {"2*pi", "0"}, {4, 4});
    p.domain.lower_wall = {Wall::periodic, Wall::absorb};
    p.domain.upper_wall = {Wall::periodic, mirrored ? Wall::absorb : Wall::reflect};
    p.species = {species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {6, 8},
                         "(1 + 0.3*cos(x)*cos(pi*y/8)) * maxwellian(vx) * maxwellian(vy)")};
    p.background = "0.8";
    p.max_timestep = 0.02;
    return p;
  };
  KineticRun<VlasovPoisson> half(params(false), MPI_COMM_SELF), both(params(true), MPI_COMM_SELF);
  half.start();
  both.start();
  half.until(0.4);
  both.until(0.4);
  const auto density = half.physics->species()[0]->moment(0), wanted = both.physics->species()[0]->moment(0);
  double worst = 0.0, field = 0.0;
  for (int x = 0; x < 4; ++x)
    for (int k = 0; k < 4 * 4; ++k) {  // four cells of four modes
      const int a = x * 16 + k, b = x * 32 + k;
      worst = std::max(worst, std::abs(density[a] - wanted[b]));
      for (int d = 0; d < 2; ++d)
        field = std::max(
            field, std::abs(half.physics->fields()->electric(0, d)[a] - both.physics->fields()->electric(0, d)[b]));
    }
  INFO("density " << worst << ", field " << field);
  CHECK(worst < 1e-12);
  CHECK(field < 1e-11);
}

/// Plasma that a wall at x = 12 absorbs, and what becomes of the wall at x = 0.
static VlasovPoisson::Params bounded(Wall lower, std::vector<std::string> potential, double dt,
                                     std::vector<int> ranks = {}) {
  VlasovPoisson::Params p;
  p.parameters = {{"m", "16"}, {"vi", "0.25"}};
  p.domain = domain({"0"}, {"12"}, {16});
  p.domain.lower_wall = {lower};
  p.domain.upper_wall = {Wall::absorb};
  p.wall_potential = WallPotentialParams{};
  if (!potential.empty()) {
    p.wall_potential->lower = {potential[0]};
    p.wall_potential->upper = {potential[1]};
  }
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {24}, "maxwellian(v, 0.1)"),
               species("ion", "1", "m", {"-1.5"}, {"1.5"}, {24}, "maxwellian(v, 0.1, vi)")};
  p.max_timestep = dt;
  p.ranks = std::move(ranks);
  return p;
}

static double charge_of(const Vlasov& physics) {
  return Totals(*physics.species()[1]).particles() - Totals(*physics.species()[0]).particles();
}

/// Kinetic energy per time that goes through the upper end, by quadrature.
static double energy_flux(const Vlasov& physics) {
  double sum = 0.0;
  for (const auto& s : physics.species()) {
    const Solver& solver = s->solver();
    const PhaseGrid& grid = solver.grid();
    if (grid.axis[0].first + grid.axis[0].count < grid.axis[0].cells) continue;
    solver.to_host_const(0);
    std::vector<double> f(solver.basis().modes), nodes, weights;
    gauss(4, nodes, weights);
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      const double centre = grid.axis[1].centre(grid.axis[1].first + iv), half = 0.5 * grid.axis[1].width();
      if (centre < 0.0) continue;
      solver.get(0, grid.local_conf_cells() - 1, iv, f.data());
      for (int q = 0; q < 4; ++q) {
        double value = 0.0;
        for (int k = 0; k < solver.basis().modes; ++k)
          value +=
              f[k] * legendre(solver.basis().exponents[k][0], 1.0) * legendre(solver.basis().exponents[k][1], nodes[q]);
        const double v = centre + half * nodes[q];
        sum += weights[q] * half * 0.5 * s->mass() * v * v * v * value;
      }
    }
  }
  return physics.species()[0]->solver().grid().axis[0].ranks == 1 ? sum : Comm().sum(sum);
}

TEST_CASE("a floating wall keeps what it absorbs: charge and energy add up") {
  double error[2];
  for (int fine : {0, 1}) {
    KineticRun<VlasovPoisson> run(
        bounded(Wall::reflect, {"symmetry", "floating"}, fine ? 0.01 : 0.02, {Comm().size(), 1}));
    run.start();
    const double before = charge_of(*run.physics), energy = run("total_energy"), electrons = run("particles_electron");
    double absorbed = 0.0, flux = energy_flux(*run.physics), time = 0.0;
    while (run.state.time < 4.0 - 1e-9) {
      run.step();
      const double now = energy_flux(*run.physics);
      absorbed += 0.5 * (run.state.time - time) * (flux + now);
      flux = now;
      time = run.state.time;
    }
    const double wall = run("wall_charge_upper_x");
    INFO("plasma " << charge_of(*run.physics) << ", wall " << wall << ", at first " << before << ", electrons left "
                   << run("particles_electron"));
    CHECK(std::abs(charge_of(*run.physics) + wall - before) < 1e-12 * electrons);
    CHECK(wall < -0.3);
    CHECK(field_at_end(*run.physics) == Approx(-wall).epsilon(0.05));  // Gauss's law, and E = 0 at the mirror
    error[fine] = std::abs(run("total_energy") + absorbed - energy) / energy;
    CHECK(run("wall_potential_upper_x") == 0.0);
  }
  INFO("energy " << error[0] << ", " << error[1]);
  CHECK(error[1] < 2e-5);
  CHECK(error[0] / error[1] > 3.5);  // of the sum over time, of second order, alone
}

TEST_CASE("floating walls at both ends, and one beside a potential") {
  KineticRun<VlasovPoisson> both(bounded(Wall::absorb, {"floating", "floating"}, 0.02), MPI_COMM_SELF);
  both.start();
  const double before = charge_of(*both.physics);
  both.until(4.0);
  const double lower = both("wall_charge_lower_x"), upper = both("wall_charge_upper_x");
  CHECK(std::abs(charge_of(*both.physics) + lower + upper - before) < 1e-11);
  CHECK(lower < -0.5);
  CHECK(upper > lower + 0.02);  // the plasma drifts upwards, and its ions are slow
  const ConfGrid& grid = both.physics->species()[0]->conf();
  CHECK(both("wall_potential_lower_x") == 0.0);
  CHECK(both("wall_potential_upper_x") ==
        Approx(-grid.integral(both.physics->fields()->electric(0, 0))).epsilon(1e-10));
  CHECK(both("wall_potential_upper_x") > 0.1);
  CHECK(field_at_end(*both.physics) == Approx(-upper).epsilon(0.05));
  KineticRun<VlasovPoisson> one(bounded(Wall::absorb, {"0", "floating"}, 0.02), MPI_COMM_SELF);
  one.start();
  one.until(4.0);
  CHECK(field_at_end(*one.physics) == Approx(-one("wall_charge_upper_x")).epsilon(0.05));
}

TEST_CASE("floating walls on several ranks, and in a restarted run bit for bit") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string path = scratch.file("floating.h5");
  const auto params = bounded(Wall::absorb, {"floating", "0.5"}, 0.02, {comm.size(), 1});
  auto one_rank = params;
  one_rank.ranks = {};
  KineticRun<VlasovPoisson> straight(params), first(params), second(params), whole(one_rank, MPI_COMM_SELF);
  straight.start();
  first.start();
  whole.start();
  for (int k = 0; k < 20; ++k) {
    straight.step();
    whole.step();
  }
  for (int k = 0; k < 10; ++k) first.step();
  {
    io::File file = comm.root() ? io::File::create(path) : io::File::in_memory(path);
    first.physics->save(file);
    if (comm.root()) file.close();
  }
  comm.barrier();
  second.state.step = first.state.step;
  second.state.time = first.state.time;
  second.physics->restore(second.state, second.context, io::File::open(path), true);
  for (int k = 0; k < 10; ++k) second.step();
  for (const char* name : {"wall_charge_lower_x", "wall_potential_lower_x", "total_energy", "particles"}) {
    INFO(name);
    CHECK(second(name) == straight(name));
    CHECK(straight(name) == Approx(whole(name)).epsilon(1e-12));
  }
  CHECK(std::abs(straight("wall_charge_lower_x")) > 0.01);
  // A run that starts from this one has the charge of its walls.
  auto next = params;
  next.start_from = path;
  KineticRun<VlasovPoisson> continued(next);
  continued.start();
  CHECK(continued("wall_charge_lower_x") == first("wall_charge_lower_x"));
  CHECK(continued("electric_energy") == Approx(first("electric_energy")).epsilon(1e-10));
  next.wall_potential->upper = {"floating"};
  KineticRun<VlasovPoisson> other(next);
  CHECK(message([&] { other.start(); }) == "start_from: 1 walls floated there and 2 do here; give the same walls");
}

TEST_CASE("two dimensions: what walls absorb and what is left add up") {
  VlasovPoisson::Params p;
  p.basis.order = 1;
  p.domain = domain({"0", "0"}, {"6", "6"}, {6, 4});
  p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb, Wall::periodic};
  p.wall_potential = WallPotentialParams{{"floating", "0"}, {"floating", "0"}};
  const std::string shape = "(1 - 0.2*cos(2*pi*y/6)) * ";
  p.species = {
      species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {8, 6}, shape + "maxwellian(vx, 0.2)*maxwellian(vy)"),
      species("ion", "1", "25", {"-1", "-1"}, {"1", "1"}, {6, 6},
              shape + "maxwellian(vx, 0, 0.2)*maxwellian(vy, 0, 0.2)")};
  KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
  run.start();
  const double before = charge_of(*run.physics);
  for (int k = 0; k < 12; ++k) run.step();
  const double walls = run("wall_charge_lower_x") + run("wall_charge_upper_x");
  CHECK(walls < -0.5);
  CHECK(std::abs(charge_of(*run.physics) + walls - before) < 1e-11);
}
