// A run that begins from what another one stored, on other cells, velocities or basis.
#include "core/io/hdf5/h5.hpp"
#include "kinetic_run.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static VlasovMaxwell::Params plasma(int nx, std::vector<int> nv, double v_max, int order = 2) {
  const std::string v = std::to_string(v_max);
  VlasovMaxwell::Params p;
  p.basis.order = order;
  p.domain = domain({"0"}, {"4*pi"}, {nx});
  p.species = {species("electron", "-1", "1", {"-" + v, "-" + v}, {v, v}, nv,
                       "(1 + 0.1*cos(0.5*x)) * maxwellian(vx, 0.3, 1) * maxwellian(vy, 0, 1.2)")};
  p.fields.E = {"-0.2*sin(0.5*x)", "0.1*cos(x)"};
  p.fields.B = {"0", "0", "0.3 + 0.2*sin(0.5*x)"};
  return p;
}

using Run = KineticRun<VlasovMaxwell>;

struct Stored {
  Comm comm;
  SharedScratch scratch{comm};
  std::string path = scratch.file("kinetic_start.h5");
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
};

static void same(Run& a, Run& b, const char* name, double tolerance) {
  INFO(name << " " << a(name) << " and " << b(name));
  CHECK(std::abs(a(name) - b(name)) <= tolerance * std::max(1.0, std::abs(a(name))));
}

TEST_CASE("cells of half the width take over everything") {
  Stored stored(plasma(8, {8, 8}, 6.0));
  Run fine(stored.from(plasma(16, {16, 24}, 6.0)));
  fine.start();
  for (const char* name : {"particles", "momentum_x", "momentum_y", "kinetic_energy", "electric_energy",
                           "magnetic_energy", "square_electron"})
    same(stored.run, fine, name, 2e-12);
}

TEST_CASE("coarser cells and wider velocities keep density, momentum and energy") {
  Stored stored(plasma(12, {24, 16}, 6.0));
  for (int order : {2, 1}) {
    Run coarse(stored.from(plasma(9, {14, 10}, 7.0, order)));
    coarse.start();
    for (const char* name : {"particles", "momentum_x", "momentum_y", "kinetic_energy"})
      same(stored.run, coarse, name, 2e-12);
    // The density of each new cell, not only of all: that of the old expansion there, in cells of 4/3 of the width.
    const auto n = all_cells(*coarse.physics, coarse.physics->species()[0]->moment(0)),
               old = all_cells(*stored.run.physics, stored.run.physics->species()[0]->moment(0));
    double first = 0.0;  // integral over the first new cell = the first old one and a third of the second
    for (int q = 0; q < 400; ++q) {
      const double xi = -1.0 + (q + 0.5) / 600.0;
      for (int k = 0; k < 3; ++k) first += legendre(k, xi) * old[3 + k] / 600.0;
    }
    first += std::sqrt(2.0) * old[0];
    CHECK(n[0] * std::sqrt(2.0) * (4.0 / 3.0) == Approx(first).epsilon(1e-6));
  }
}

TEST_CASE("narrower velocities keep the density of every cell") {
  Stored stored(plasma(8, {16, 16}, 6.0));
  Run narrow(stored.from(plasma(8, {16, 16}, 4.5)));
  narrow.start();
  same(stored.run, narrow, "particles", 1e-12);
  const auto n = all_cells(*narrow.physics, narrow.physics->species()[0]->moment(0)),
             old = all_cells(*stored.run.physics, stored.run.physics->species()[0]->moment(0));
  for (int cell = 0; cell < 8; ++cell) CHECK(n[3 * cell] == Approx(old[3 * cell]).epsilon(1e-12));
  CHECK(narrow("kinetic_energy") < stored.run("kinetic_energy"));
  CHECK(narrow("kinetic_energy") == Approx(stored.run("kinetic_energy")).epsilon(3e-3));
}

TEST_CASE("a projection is as exact as the basis") {
  Stored stored(plasma(32, {40, 40}, 6.0));
  double last = 0.0;
  for (int n : {6, 12}) {
    Run coarse(stored.from(plasma(n, {2 * n, 2 * n}, 6.0)));
    coarse.start();
    const double lost =
        stored.run("square_electron") - coarse("square_electron");  // of an L2 projection: the squared error
    CHECK(lost > 0.0);
    if (last > 0.0) CHECK(std::log2(last / lost) > 2 * 3 - 1.0);
    last = lost;
  }
}

TEST_CASE("what another run stored must fit") {
  Stored stored(plasma(8, {8, 8}, 6.0));
  auto refusal = [&](const VlasovMaxwell::Params& p) -> std::string {
    try {
      Run run(p);
      run.start();
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  auto p = stored.from(plasma(8, {8, 8}, 6.0));
  p.domain.upper = {"5*pi"};
  CHECK(refusal(p) ==
        "start_from: dimension 1 of the domain goes from 0 to 12.5664 there and from 0 to 15.708 here; only the cells "
        "and the velocities may differ");
  p = stored.from(plasma(8, {8, 8}, 6.0));
  p.species[0].name = "ion";
  CHECK(refusal(p) == "start_from: the file holds no distribution function of a species 'ion'");
  p = stored.from(plasma(8, {8, 8}, 6.0));
  p.species[0].velocity = {{"-6"}, {"6"}, {8}};
  CHECK(refusal(p) ==
        "start_from: species 'electron' was stored with 1 and 2 dimensions of configuration and velocity space, this "
        "deck has 1 and 1");
  p = plasma(8, {8, 8}, 6.0);
  p.species[0].f0.clear();
  CHECK(refusal(p) == "species 'electron' needs 'f0', or the stage 'start_from'");
}
