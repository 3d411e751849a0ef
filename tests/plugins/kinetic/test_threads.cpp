// What a plasma's species share out among threads of the host: the same bits, and runs that repeat.
#include <cmath>
#include <mutex>
#include <set>
#include <thread>

#include "core/parallel/host_threads.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/collisions/dougherty_nodes.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/species/first_state.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static PhaseGrid grid_1x2v(const Comm& comm) {
  PhaseGrid grid;
  grid.vdim = 2;
  grid.axis[0].upper = 4.0 * 3.141592653589793;
  for (int d = 0; d < 3; ++d) grid.axis[d].cells = grid.axis[d].count = d == 0 ? 11 : 8;
  for (int d = 1; d < 3; ++d) {
    grid.axis[d].lower = -6.0;
    grid.axis[d].upper = 6.0;
  }
  decompose(grid, comm, {});
  return grid;
}

static std::vector<double> coefficients(const Solver& solver, int slot) {
  std::vector<double> out, f(solver.basis().modes);
  for (int ic = 0; ic < solver.grid().local_conf_cells(); ++ic)
    for (int iv = 0; iv < solver.grid().local_velocity_cells(); ++iv) {
      solver.get(slot, ic, iv, f.data());
      out.insert(out.end(), f.begin(), f.end());
    }
  return out;
}

TEST_CASE("the first state has the bits of one thread on any number of threads") {
  const Comm comm(MPI_COMM_SELF);
  const PhaseGrid grid = grid_1x2v(comm);
  const auto solver = make_solver(find_built(1, 2, 2, false), Precision::float64, grid, comm);
  const Formula f0("(1 + 0.1*cos(0.5*x) + a*tanh(x))*maxwellian(vx, 0.3)*maxwellian(vy, 0, 1.2)", phase_variables(1, 2),
                   {{"a", 0.01}});
  const auto on_threads_of = [&](int slot, int threads) {
    const AsIfThreads as_if(threads);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    const int parts = project(*solver, slot, 4, [&](int part, std::span<const double> z) {
      if (part > 0) {
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      }
      return f0(z);
    });
    REQUIRE(parts == threads);
    return seen;
  };
  on_threads_of(0, 1);
  const auto expected = coefficients(*solver, 0);
  for (const double x : expected) REQUIRE(std::isfinite(x));
  for (const int threads : {2, 3, 5}) {
    on_threads_of(1, threads);  // a slot without room at first
    CHECK(coefficients(*solver, 1) == expected);
  }
  if (const int real = host_threads(); real > 1) {
    const auto seen = on_threads_of(1, real);
    CHECK((seen.size() > 1 || !seen.contains(std::this_thread::get_id())));  // others than this one were at work
  }
}

TEST_CASE("what is found of f0 in parts is what one thread finds, the first of equal places") {
  const auto value = [](int k) { return k % 7 == 3 ? -2.0 : k % 5 == 1 ? -1.0 : 0.5 * k; };
  const auto survey = [&](int first, int last) {
    Survey out;
    for (int k = first; k < last; ++k) out.add(value(k), std::vector<double>{static_cast<double>(k), 1.0});
    return out;
  };
  const Survey whole = survey(0, 50);
  for (const std::vector<int> cuts : {std::vector<int>{0, 2, 25, 50}, {0, 1, 50}, {0, 10, 10, 17, 50}}) {
    Survey found = survey(cuts[0], cuts[1]);
    for (std::size_t part = 1; part + 1 < cuts.size(); ++part) found.add(survey(cuts[part], cuts[part + 1]));
    CHECK(found.where == whole.where);
    CHECK(found.least == whole.least);
    CHECK(found.points == whole.points);
    CHECK(found.negative == whole.negative);
    CHECK(found.sum == whole.sum);  // of halves: exact
    CHECK(found.missing == whole.missing);
  }
}

TEST_CASE("collisions take nodes in numbers that threads share evenly") {
  if (!device_is_host) return;
  for (const int threads : {1, 2, 3, 8})
    for (const int nodes : {1, 2, 3, 4, 9}) {
      const AsIfThreads as_if(threads);
      const int cells = cells_at_once(1000, nodes, 1e4);
      CHECK(cells * nodes % threads == 0);
      CHECK(cells * nodes / threads == std::max(nodes, 2));
      CHECK(cells_at_once(1, nodes, 1e4) == 1);
    }
}

TEST_CASE("collisions, limiter and walls repeat bit for bit, however cells are shared out") {
  const auto run_on = [](int threads) {
    const AsIfThreads as_if(threads);
    VlasovPoisson::Params p;
    p.domain = domain({"0"}, {"8"}, {7});
    p.domain.lower_wall = {Wall::absorb};
    p.domain.upper_wall = {Wall::absorb};
    p.wall_potential = WallPotentialParams{{"floating"}, {"0"}};
    // Steps inside cells ring when they are projected: the limiter acts.
    p.species = {species("electron", "-1", "1", {"-4"}, {"4"}, {10}, "0.25*step(v + 2.1)*step(1.9 - v)"),
                 species("ion", "1", "4", {"-4"}, {"4"}, {12}, "maxwellian(v)*(1 + 0.2*sin(x))")};
    p.species[0].collisions = CollisionParams{CollisionParams::Operator::dougherty, "0.01"};
    p.species[1].collisions = CollisionParams{CollisionParams::Operator::bgk, "0.01"};
    p.species[0].positivity = true;
    p.collisions = {{{"electron", "ion"}, "0.01"}};
    KineticRun<VlasovPoisson> run(p);
    run.start();
    for (int k = 0; k < 5; ++k) run.step();
    std::vector<double> out;
    for (const auto& s : run.physics->species()) {
      s->solver().to_host_const(0);
      const auto f = coefficients(s->solver(), 0);
      out.insert(out.end(), f.begin(), f.end());
    }
    return out;
  };
  const auto expected = run_on(1);
  for (const int threads : {1, 2, 3}) CHECK(run_on(threads) == expected);
}
