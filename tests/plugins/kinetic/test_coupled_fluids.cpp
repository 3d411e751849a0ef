// Fluids with kinetic species and fields in one run: plasma oscillations, energy, an ion-acoustic wave, ranks, restart.
#include <fmt/format.h>

#include <cmath>

#include "compare_runs.hpp"
#include "core/io/hdf5/h5.hpp"
#include "kinetic_run.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

using Equation = FluidParams::Equation;

static FluidParams fluid(const std::string& name, const std::string& charge, const std::string& mass, Equation equation,
                         const std::string& density, const std::string& velocity, const std::string& pressure) {
  FluidParams p;
  p.name = name;
  p.charge = charge;
  p.mass = mass;
  p.equation = equation;
  p.density = density;
  if (!velocity.empty()) p.velocity = {velocity};
  p.pressure = pressure;
  return p;
}

/// Waves of fluids alone: the kinetic species has no charge.
template <class Params>
static Params bystander(const std::string& k, int cells) {
  Params p;
  p.parameters = {{"k", k}, {"a", "1e-3"}};
  p.domain = domain({"0"}, {"2*pi/k"}, {cells});
  p.species = {species("gas", "0", "1", {"-1"}, {"1"}, {4}, "maxwellian(v, 0, 0.2)")};
  return p;
}

/// Angular frequency of the field's first mode: from the times at which its projection changes sign, by a line through
/// them.
template <class P>
static double frequency_of(KineticRun<P>& run, double end) {
  run.start();
  const auto projection = [&] {
    const auto& grid = run.physics->species().front()->conf();
    const double* e = run.physics->fields()->electric(0, 0);
    double sum = 0.0;
    for (int cell = 0; cell < grid.count(); ++cell)
      sum += std::sin(2.0 * M_PI * (cell + 0.5) / grid.count()) * e[static_cast<std::size_t>(cell) * grid.modes()];
    return sum;
  };
  std::vector<double> zeros;
  double before = projection(), then = run.state.time;
  while (run.state.time < end) {
    run.step();
    const double now = projection();
    if (before * now < 0.0) zeros.push_back(then + (run.state.time - then) * before / (before - now));
    before = now;
    then = run.state.time;
  }
  REQUIRE(zeros.size() > 2);
  return M_PI * static_cast<double>(zeros.size() - 1) / (zeros.back() - zeros.front());
}

TEST_CASE("Langmuir waves of fluids have their frequency") {
  // omega^2 = omega_p^2 + gamma k^2 T/m; ten moments without a heat flux compress along one dimension.
  for (const auto& [equation, gamma] : {std::pair(Equation::five_moment, 5.0 / 3.0), {Equation::ten_moment, 3.0}})
    for (bool maxwell : {false, true}) {
      const double k = 0.3, exact = std::sqrt(1.0 + gamma * k * k);
      auto isentropic =
          fluid("electron", "-1", "1", equation, "1 + a*cos(k*x)", "", fmt::format("1 + {}*a*cos(k*x)", gamma));
      if (equation == Equation::ten_moment) {
        isentropic.pressure.clear();
        isentropic.pressure_tensor = {"1 + 3*a*cos(k*x)", "0", "0", "1 + a*cos(k*x)", "0", "1 + a*cos(k*x)"};
      }
      double found = 0.0;
      if (maxwell) {
        auto p = bystander<VlasovMaxwell::Params>("0.3", 24);
        p.fields.E = {"-a/k*sin(k*x)"};
        p.fluid_species = {isentropic};
        p.background = "1";
        KineticRun<VlasovMaxwell> run(p, MPI_COMM_SELF);
        found = frequency_of(run, 30.0);
      } else {
        auto p = bystander<VlasovPoisson::Params>("0.3", 24);
        p.fluid_species = {isentropic};
        KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
        found = frequency_of(run, 30.0);
      }
      INFO(fmt::format("{} moments, maxwell {}: {:.6f} of {:.6f}", gamma == 3.0 ? 10 : 5, maxwell, found, exact));
      CHECK(found == Approx(exact).epsilon(2e-3));
    }
}

TEST_CASE("a fluid with charge, too, has a Debye length that cells resolve or not") {
  const auto warnings = [](const char* k) {
    auto p = bystander<VlasovPoisson::Params>(k, 8);
    p.fluid_species = {fluid("electron", "-1", "1", Equation::five_moment, "4", "", "1")};
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    std::vector<std::string> out;
    for (const auto& warning : run.log.warnings())
      if (warning.text.find("Debye") != std::string::npos) out.push_back(warning.text);
    return out;
  };
  CHECK(warnings("1.2").empty());  // cells of 0.65 with three degrees of freedom
  CHECK(warnings("0.1") ==
        std::vector<std::string>{"species 'electron': the Debye length 0.25 is not resolved in dimension 1: cells of "
                                 "width 7.85 with 3 degrees of freedom each; use at least 84 cells to resolve it"});
}

TEST_CASE("electron-acoustic waves of two electron fluids have their frequency") {
  // 1 = sum omega_s^2/(omega^2 - gamma k^2 T_s): the lower root. A pure wave has (omega^2 - gamma k^2 T_s) n_s/n_0s =
  // i k E, so that densities of hot and cold electrons are opposite.
  const double k = 0.4, gamma = 5.0 / 3.0, cold = 0.2, hot = 0.8, tc = 0.01, th = 4.0;
  const double a = cold + hot + gamma * k * k * (tc + th);
  const double b = gamma * k * k * (gamma * k * k * tc * th + cold * th + hot * tc);
  const double exact = std::sqrt(0.5 * (a - std::sqrt(a * a - 4.0 * b))), square = exact * exact;
  const double of_cold = 1e-3 / (square - gamma * k * k * tc), of_hot = 1e-3 / (square - gamma * k * k * th);
  auto p = bystander<VlasovPoisson::Params>("0.4", 32);
  const auto wave = [&](const std::string& name, double n, double t, double amplitude) {
    return fluid(name, "-1", "1", Equation::five_moment, fmt::format("{}*(1 + {}*cos(k*x))", n, amplitude), "",
                 fmt::format("{}*(1 + {}*cos(k*x))", n * t, gamma * amplitude));
  };
  p.fluid_species = {wave("cold", cold, tc, of_cold), wave("hot", hot, th, of_hot)};
  KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
  const double found = frequency_of(run, 60.0);
  INFO(fmt::format("{:.6f} of {:.6f}", found, exact));
  CHECK(found == Approx(exact).epsilon(5e-3));
}

/// A large plasma wave of kinetic and fluid electrons with fluid ions.
static VlasovMaxwell::Params large_wave() {
  VlasovMaxwell::Params p;
  p.parameters = {{"k", "0.5"}};
  p.domain = domain({"0"}, {"2*pi/k"}, {6});
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {16}, "0.5*(1 + 0.2*cos(k*x))*maxwellian(v)")};
  p.fluid_species = {
      fluid("cold", "-1", "1", Equation::ten_moment, "0.5*(1 + 0.2*cos(k*x))", "0.1", "0.05"),
      fluid("ion", "1", "25", Equation::five_moment, "1", "", "0.1"),
  };
  p.fluid_species[0].k0 = "0.2";
  p.fields.E = {"-0.2/k*sin(k*x)", "0.05*cos(k*x)"};
  p.fields.B = {"0", "0", "0.3"};
  return p;
}

TEST_CASE("fluids and fields keep the energy at the order of the time steps") {
  std::vector<double> errors;
  for (double dt : {0.02, 0.01, 0.005}) {
    auto p = large_wave();
    p.timestep = dt;
    KineticRun<VlasovMaxwell> run(p, MPI_COMM_SELF);
    run.start();
    const double before = run("total_energy"), particles = run("particles");
    run.until(2.0);
    errors.push_back(std::abs(run("total_energy") / before - 1.0));
    CHECK(run("particles") == Approx(particles).epsilon(1e-12));
  }
  INFO(fmt::format("errors {:.3e} {:.3e} {:.3e}", errors[0], errors[1], errors[2]));
  CHECK(errors[0] < 1e-5);
  CHECK(std::log2(errors[0] / errors[1]) > 2.7);
  CHECK(std::log2(errors[1] / errors[2]) > 2.7);
}

TEST_CASE("an ion-acoustic wave of ten moments is that of kinetic ions") {
  // Ions at a fiftieth of the electrons' temperature: Landau damping by ions is small, that by electrons common to
  // both.
  std::vector<double> found;
  for (bool kinetic : {true, false}) {
    VlasovPoisson::Params p;
    p.parameters = {{"k", "0.5"}, {"a", "1e-4"}, {"m", "25"}, {"T", "0.02"}};
    p.domain = domain({"0"}, {"2*pi/k"}, {12});
    p.species = {species("electron", "-1", "1", {"-5"}, {"5"}, {64}, "(1 + 0.8*a*cos(k*x))*maxwellian(v)")};
    if (kinetic)
      p.species.push_back(
          species("ion", "1", "m", {"-0.2"}, {"0.2"}, {32}, "(1 + a*cos(k*x))*maxwellian(v, 0, sqrt(T/m))"));
    else
      p.fluid_species = {fluid("ion", "1", "m", Equation::ten_moment, "1 + a*cos(k*x)", "", "T*(1 + a*cos(k*x))")};
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    std::vector<double> zeros;  // of the density of the ions
    const auto projection = [&] {
      const auto& grid = run.physics->species().front()->conf();
      const auto density =
          kinetic ? run.physics->species()[1]->moment(0) : run.physics->fluids().front()->output().front().values;
      double sum = 0.0;
      for (int cell = 0; cell < grid.count(); ++cell)
        sum +=
            std::cos(2.0 * M_PI * (cell + 0.5) / grid.count()) * density[static_cast<std::size_t>(cell) * grid.modes()];
      return sum;
    };
    double before = projection(), then = 0.0;
    while (zeros.size() < 5 && run.state.time < 200.0) {
      run.step();
      const double now = projection();
      if (before * now < 0.0) zeros.push_back(then + (run.state.time - then) * before / (before - now));
      before = now;
      then = run.state.time;
    }
    REQUIRE(zeros.size() == 5);
    found.push_back(4.0 * M_PI / (zeros[4] - zeros[0]));
  }
  INFO(fmt::format("kinetic {:.5f}, ten moments {:.5f}", found[0], found[1]));
  CHECK(found[1] == Approx(found[0]).epsilon(0.02));
  // Roots of the dispersion relations with kinetic electrons (inputs/kinetic/ion_acoustic_fluid.yaml).
  CHECK(found[0] == Approx(0.09226).epsilon(0.02));
  CHECK(found[1] == Approx(0.09208).epsilon(0.02));
}

TEST_CASE("fluids are the same on any number of ranks") {
  auto p = large_wave();
  p.timestep = 0.01;
  KineticRun<VlasovMaxwell> part(p), whole(p, MPI_COMM_SELF);
  part.start();
  whole.start();
  for (int k = 0; k < 20; ++k) part.step(), whole.step();
  for (std::size_t s = 0; s < 2; ++s) {
    const auto mine = part.physics->fluids()[s]->output(), wanted = whole.physics->fluids()[s]->output();
    REQUIRE(mine.size() == wanted.size());
    for (std::size_t c = 0; c < mine.size(); ++c)
      CHECK(furthest(all_cells(*part.physics, mine[c].values), wanted[c].values) < 1e-13);
  }
  CHECK(furthest_fields(part, whole) < 1e-13);
  for (const char* name : {"total_energy", "momentum_x_cold", "pressure_cold", "particles_ion", "kinetic_energy_ion"})
    CHECK(part(name) == Approx(whole(name)).margin(1e-12));
}

TEST_CASE("fluids of a plane are the same on any number of ranks") {
  VlasovMaxwell::Params p;
  p.domain = domain({"0", "0"}, {"1", "2"}, {4, 4});
  p.basis.order = 1;
  p.species = {
      species("gas", "0", "1", {"-1", "-1"}, {"1", "1"}, {4, 4}, "maxwellian(vx, 0, 0.2)*maxwellian(vy, 0, 0.2)")};
  p.fluid_species = {fluid("electron", "-1", "1", Equation::ten_moment, "1 + 0.2*sin(2*pi*x)*cos(pi*y)", "0.2", "0.5")};
  p.fields.B = {"0", "0.1", "0.3"};
  p.background = "1";
  KineticRun<VlasovMaxwell> part(p), whole(p, MPI_COMM_SELF);
  part.start();
  whole.start();
  for (int k = 0; k < 10; ++k) part.step(), whole.step();
  const auto mine = part.physics->fluids()[0]->output(), wanted = whole.physics->fluids()[0]->output();
  for (std::size_t c = 0; c < mine.size(); ++c)
    CHECK(furthest(all_cells(*part.physics, mine[c].values), wanted[c].values) < 1e-13);
}

TEST_CASE("a floating wall keeps the charge of the fluid that it absorbs") {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"8"}, {8});
  p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
  p.wall_potential = WallPotentialParams{{"floating"}, {"0"}};
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {16}, "maxwellian(v)")};
  p.fluid_species = {fluid("ion", "1", "25", Equation::ten_moment, "1", "-0.2", "1")};
  p.observables.balance = true;
  KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
  run.start();
  const double ions = run("particles_ion"), electrons = run("particles_electron");
  run.until(1.0);
  double to_lower = 0.0;
  for (const auto& r : run.physics->results())
    if (r.key == "electron_particles_net_lower_x") to_lower = r.value;
  CHECK(to_lower > 0.1);
  CHECK(run("wall_charge_lower_x") + to_lower > 0.15);  // at the speed of 0.2
  CHECK(run("wall_charge_lower_x") + to_lower < ions - run("particles_ion") + 1e-12);
  CHECK(electrons > run("particles_electron"));
}

TEST_CASE("a fluid from a checkpoint goes on as it was") {
  auto p = large_wave();
  KineticRun<VlasovMaxwell> first(p), second(p);
  first.start();
  for (int k = 0; k < 5; ++k) first.step();
  const SharedScratch scratch(first.comm);
  const std::string path = scratch.file("fluids.h5");
  {
    io::File file = first.comm.root() ? io::File::create(path) : io::File::in_memory(path);
    first.physics->save(file);
    if (first.comm.root()) file.close();
  }
  first.comm.barrier();
  second.state.step = first.state.step;
  second.state.time = first.state.time;
  second.physics->restore(second.state, second.context, io::File::open(path), true);
  for (int k = 0; k < 5; ++k) first.step(), second.step();
  for (std::size_t s = 0; s < 2; ++s) {
    const auto mine = first.physics->fluids()[s]->output(), theirs = second.physics->fluids()[s]->output();
    for (std::size_t c = 0; c < mine.size(); ++c) CHECK(mine[c].values == theirs[c].values);
  }
  auto coarser = p;
  coarser.fluid_species[0].subcells = 2;
  KineticRun<VlasovMaxwell> other(coarser);
  CHECK_THROWS_WITH(other.physics->restore(other.state, other.context, io::File::open(path), true),
                    fmt::format("'{}': fluid species 'cold' has 180 values, expected 120; the file is damaged or was "
                                "changed, resume from another one",
                                path));
}
