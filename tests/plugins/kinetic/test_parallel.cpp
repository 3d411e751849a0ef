// The same answer on any number of ranks, whichever dimension is cut; restart bit for bit.
#include <algorithm>

#include "compare_runs.hpp"
#include "core/io/hdf5/h5.hpp"
#include "oracle.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static VlasovMaxwell::Params small(std::vector<int> ranks = {}) {
  VlasovMaxwell::Params p;
  p.domain = domain({"0"}, {"4*pi"}, {12});
  p.species = {species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {8, 6},
                       "(1 + 0.1*cos(0.5*x)) * maxwellian(vx, 0.3, 1) * maxwellian(vy, 0, 1.2)")};
  p.fields.E = {"-0.2*sin(0.5*x)", "0.1*cos(x)"};
  p.fields.B = {"0", "0", "0.3 + 0.2*sin(0.5*x)"};
  p.ranks = std::move(ranks);
  return p;
}

template <class P>
static std::vector<double> cells_of(KineticRun<P>& run) {
  const auto& solver = run.physics->species().front()->solver();
  solver.to_host_const(0);
  std::vector<double> out, f(solver.basis().modes);
  for (int ic = 0; ic < solver.grid().local_conf_cells(); ++ic)
    for (int iv = 0; iv < solver.grid().local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      out.insert(out.end(), f.begin(), f.end());
    }
  return out;
}

TEST_CASE("cuts in configuration and velocity space change nothing beyond rounding") {
  const int n = Comm().size();
  std::vector<std::vector<int>> cuts{{n, 1, 1}, {1, n, 1}, {1, 1, n}, {}};
  if (n == 4) {
    cuts.push_back({2, 2, 1});
    cuts.push_back({1, 2, 2});
  }
  for (const auto& cut : cuts) {
    KineticRun<VlasovMaxwell> whole(small(), MPI_COMM_SELF), part(small(cut));
    whole.start();
    part.start();
    for (int k = 0; k < 10; ++k) {
      whole.step();
      part.step();
    }
    INFO("cut " << (cut.empty()
                        ? std::string("chosen")
                        : std::to_string(cut[0]) + "," + std::to_string(cut[1]) + "," + std::to_string(cut[2])));
    CHECK(difference(part, whole) < 1e-13);
    CHECK(part.state.time == Approx(whole.state.time).epsilon(1e-12));
  }
}

// Only large runs fuse stages by themselves; numbers must not tell the difference.
TEST_CASE("two stages in one pass are the two stages, bit for bit") {
  const Comm comm;
  for (const char* name : {"1x1v_p2", "1x2v_p2", "2x2v_p1"})
    for (bool absorbed : {false, true}) {
      const auto built = std::find_if(kinetic::built().begin(), kinetic::built().end(),
                                      [&](const Built& b) { return b.info.name == name; });
      PhaseGrid whole = small_grid(built->info.cdim, built->info.vdim);
      for (int d = 0; d < whole.cdim; ++d) whole.axis[d].cells = whole.axis[d].count = d ? 4 : 20;
      for (int d = 0; d < whole.vdim; ++d)
        whole.axis[whole.cdim + d].cells = whole.axis[whole.cdim + d].count = d ? 6 : whole.vdim == 1 ? 40 : 8;
      if (absorbed) whole.axis[0].low_wall = whole.axis[0].high_wall = Wall::absorb;
      PhaseGrid grid = whole;
      std::vector<int> cut(grid.dimensions(), 1);
      cut[0] = comm.size();
      if (comm.size() == 4 && grid.cdim == 2) cut[0] = cut[1] = 2;
      decompose(grid, comm, cut);
      Cells cells(whole, built->info);
      cells.fill(3);
      const RandomFields first(whole, built->info, -1.3, true), second(whole, built->info, 0.7, true);
      const std::size_t n = static_cast<std::size_t>(whole.conf_cells()) * built->info.conf * (whole.vdim + 2);
      std::vector<double> m1(n), m2(n), p1(n), p2(n), f(built->info.modes), g(built->info.modes);
      const Stage one{0, 0, 1, 0.0, 1.0, 0.01}, two{1, 0, 2, 0.75, 0.25, 0.0025};
      const auto apart = make_solver(*built, Precision::float64, grid, comm),
                 fused = make_solver(*built, Precision::float64, grid, comm);
      cells.to(*apart, 0);
      cells.to(*fused, 0);
      if (!device_is_host) {  // whose threads share no cache that would hold a slab
        REQUIRE(fused->fusing() == Solver::Fusing::impossible);
        continue;
      }
      REQUIRE(fused->fusing() == Solver::Fusing::possible);
      for (int turn = 0; turn < 2; ++turn) {  // buffers are used again
        std::fill(m1.begin(), m1.end(), 0.0), m2 = p1 = p2 = m1;
        const double speed = apart->stage(one, first.force, m1), later = apart->stage(two, second.force, m2);
        const auto found = fused->stages({one, first.force, &p1}, {two, second.force, &p2});
        INFO(name << " absorbed " << absorbed << " turn " << turn);
        CHECK(found[0] == speed);
        CHECK(found[1] == later);
        CHECK(furthest(m1, p1) < 1e-13);  // 1x1v adds its moments slab by slab where two stages share a pass
        CHECK(furthest(m2, p2) < 1e-13);
        if (std::string(name) != "1x1v_p2") CHECK((m1 == p1 && m2 == p2));
      }
      apart->to_host_const(2);
      fused->to_host_const(2);
      int different = 0;
      for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
        for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
          apart->get(2, ic, iv, f.data());
          fused->get(2, ic, iv, g.data());
          different += f != g;
        }
      CHECK(different == 0);
    }
}

TEST_CASE("a run whose stages share passes is the run whose stages do not") {
  const int n = Comm().size();
  auto large = [](std::vector<int> ranks) {
    auto p = small(std::move(ranks));
    p.domain.cells = {96};
    p.species[0].velocity.cells = {24, 24};
    return p;
  };
  KineticRun<VlasovMaxwell> whole(large({}), MPI_COMM_SELF), part(large({n, 1, 1})), apart(large({1, 1, n}));
  CHECK(whole.physics->fuses() == device_is_host);
  CHECK(part.physics->fuses() == (device_is_host && n <= 2));
  CHECK(apart.physics->fuses() == (device_is_host && n == 1));
  whole.start();
  part.start();
  apart.start();
  for (int k = 0; k < 4; ++k) {
    whole.step();
    part.step();
    apart.step();
  }
  CHECK(difference(part, whole) < 1e-13);
  CHECK(difference(apart, whole) < 1e-13);
  CHECK(part("total_energy") == Approx(whole("total_energy")).epsilon(1e-13));
}

// Ranks at walls that give particles back take whole stages; those between them, which could go slab by slab, must do
// alike.
TEST_CASE("ranks with and without a wall exchange what they agree on") {
  const int n = Comm().size();
  for (Wall wall : {Wall::reflect, Wall::copy, Wall::absorb}) {
    auto walled = [&](std::vector<int> ranks) {
      auto p = small(std::move(ranks));
      p.domain.lower_wall = p.domain.upper_wall = {wall};
      return p;
    };
    KineticRun<VlasovMaxwell> whole(walled({}), MPI_COMM_SELF), part(walled({n, 1, 1}));
    whole.start();
    part.start();
    for (int k = 0; k < 4; ++k) {
      whole.step();
      part.step();
    }
    INFO("wall " << static_cast<int>(wall));
    CHECK(difference(part, whole) < 1e-13);
  }
}

// Stages leave what their neighbours will ask for; what collisions and the limiter change afterwards must reach them
// too, also where the limiter acts on a few ranks only.
TEST_CASE("changes between stages reach the other ranks") {
  const int n = Comm().size();
  for (bool limited : {false, true}) {
    auto changed = [&](std::vector<int> ranks) {
      auto p = small(std::move(ranks));
      auto& s = p.species[0];
      if (limited) {
        s.positivity = true;
        s.f0 = "(1 + 8*exp(-8*(x - 2)^2)) * maxwellian(vx, 0.3, 1.3) * maxwellian(vy, 0, 1.2)";
      } else {
        s.collisions = CollisionParams{CollisionParams::Operator::bgk, "0.4"};
      }
      return p;
    };
    KineticRun<VlasovMaxwell> whole(changed({}), MPI_COMM_SELF), part(changed({n, 1, 1}));
    whole.start();
    part.start();
    for (int k = 0; k < 4; ++k) {
      whole.step();
      part.step();
    }
    INFO("limited " << limited);
    CHECK(difference(part, whole) < 1e-13);
    if (limited)
      CHECK(part.physics->species().front()->limiter_report() == whole.physics->species().front()->limiter_report());
  }
}

TEST_CASE("two dimensions are cut in both directions") {
  const int n = Comm().size();
  VlasovPoisson::Params p;
  p.domain = domain({"0", "0"}, {"4*pi", "4*pi"}, {8, 6});
  p.species = {species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {4, 4},
                       "(1 + 0.1*cos(0.5*x)*cos(0.5*y)) * maxwellian(vx) * maxwellian(vy)")};
  std::vector<std::vector<int>> cuts{{n, 1, 1, 1}, {1, n, 1, 1}, {1, 1, 1, n}};
  if (n == 4) {
    cuts.push_back({2, 2, 1, 1});
    cuts.push_back({1, 2, 2, 1});
  }
  for (const auto& cut : cuts) {
    auto q = p;
    q.ranks = cut;
    KineticRun<VlasovPoisson> whole(p, MPI_COMM_SELF), part(q);
    whole.start();
    part.start();
    for (int k = 0; k < 5; ++k) {
      whole.step();
      part.step();
    }
    CHECK(difference(part, whole) < 1e-13);
  }
}

TEST_CASE("a restarted run is the same bit for bit") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string path = scratch.file("kinetic_restart.h5");
  auto params = small();
  params.observables.growth_rate = GrowthParams{};
  KineticRun<VlasovMaxwell> straight(params), first(params), second(params);
  straight.start();
  first.start();
  const double energy_at_start = straight("total_energy");
  CHECK(first("total_energy") == energy_at_start);
  for (int k = 0; k < 8; ++k) straight.step();
  for (int k = 0; k < 4; ++k) first.step();
  {
    io::File file = comm.root() ? io::File::create(path) : io::File::in_memory(path);
    first.physics->save(file);
    if (comm.root()) file.close();
  }
  comm.barrier();
  second.state.step = first.state.step;
  second.state.time = first.state.time;
  second.physics->restore(second.state, second.context, io::File::open(path), true);
  for (int k = 0; k < 4; ++k) second.step();
  CHECK(second.state.time == straight.state.time);
  CHECK(cells_of(second) == cells_of(straight));
  CHECK(second("total_energy") == straight("total_energy"));
  CHECK(second.physics->growth()->fit().gamma == straight.physics->growth()->fit().gamma);
  const auto results = second.physics->results();
  const auto change = std::find_if(results.begin(), results.end(),
                                   [](const auto& result) { return result.key == "total_energy_changed_by"; });
  REQUIRE(change != results.end());  // since the first line, which the checkpoint holds, not since the restart
  CHECK(change->value == straight("total_energy") / energy_at_start - 1.0);
}
