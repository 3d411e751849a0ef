// Ghosts that follow their owners, cells that change, and what a decomposition refuses.

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/dealt_atoms.hpp"

using namespace cambium;
using namespace cambium::md;
using namespace cambium::test;

TEST_CASE("one number per atom reaches every ghost") {
  Comm comm;
  const Box box = Box::orthogonal(25, 14, 15);
  Particles p = deal(comm, box, 200);
  Domain domain(comm, box, {}, 6.0);
  domain.migrate(p);
  domain.borders(p, 6.0);
  const auto tag = host(p.tag);
  View<double*> density("density", p.total());
  auto d = host(density);
  for (int i = 0; i < p.nlocal; ++i) d(i) = 3.0 * tag(i);
  Kokkos::deep_copy(density, d);
  domain.forward(density);
  const auto got = host(density);
  int wrong = 0;
  for (int j = 0; j < p.total(); ++j) wrong += got(j) != 3.0 * tag(j);
  CHECK(p.nghost > 0);
  CHECK(wrong == 0);
}

TEST_CASE("a cell that changes takes bricks and ghosts along") {
  Comm comm;
  const Box box = skewed(24, 23, 22);
  Particles p = deal(comm, box, 250);
  Domain domain(comm, box, {}, 5.5);
  domain.migrate(p);
  domain.borders(p, 5.5);
  Box larger = box;
  for (auto& row : larger.h)
    for (double& value : row) value *= 1.03;
  auto x = host(p.x);
  for (int i = 0; i < p.nlocal; ++i)
    for (int k = 0; k < 3; ++k) x(i, k) *= 1.03;
  Kokkos::deep_copy(p.x, x);
  p.box = larger;
  domain.forward_positions(p);
  CHECK(wrong_surroundings(comm, p, 5.5) == 0);
  domain.migrate(p);
  domain.borders(p, 5.5);
  CHECK(wrong_surroundings(comm, p, 5.5) == 0);
}

TEST_CASE("atoms on faces of the cell and just below zero are wrapped once") {
  Comm comm;
  const Box box = Box::orthogonal(20, 20, 20);
  Particles p = deal(comm, box, 8, 0);
  auto x = host(p.x);
  const auto tag = host(p.tag);
  const double awkward[8] = {0.0, -1e-17, 20.0, 10.0, std::nextafter(20.0, 0.0), std::nextafter(10.0, 0.0), -20.0, 5.0};
  for (int i = 0; i < p.nlocal; ++i) {
    x(i, 0) = awkward[tag(i) - 1];
    x(i, 1) = x(i, 2) = 2.0 * tag(i);
  }
  Kokkos::deep_copy(p.x, x);
  Domain domain(comm, box, {}, 4.0);
  domain.migrate(p);
  domain.borders(p, 4.0);
  x = host(p.x);
  for (int i = 0; i < p.nlocal; ++i) CHECK((x(i, 0) >= 0.0 && x(i, 0) < 20.0));
  CHECK(wrong_surroundings(comm, p, 4.0) == 0);
}

TEST_CASE("a divided direction narrower than twice the range is refused with the way out") {
  Comm comm;
  const Box box = Box::orthogonal(30, 9, 30);
  const int n = comm.size();
  if (n == 1) {
    CHECK_NOTHROW(Domain(comm, box, std::array<int, 3>{1, 1, 1}, 7.0));
    CHECK_THROWS_WITH(Domain(comm, box, std::array<int, 3>{1, 2, 2}, 7.0),
                      "the grid of ranks 1 x 2 x 2 does not fit 1 rank: give three positive counts whose product is 1");
    return;
  }
  const std::string text = "the cell is 9.0 Å wide along b for " + std::to_string(n) +
                           " ranks: a partitioned direction must be at least 14.0 Å wide (twice the cut-off plus "
                           "skin of 7.0 Å); use 1 rank along b or a larger cell";
  CHECK_THROWS_AS(Domain(comm, box, std::array<int, 3>{1, n, 1}, 7.0), InputError);
  CHECK_THROWS_WITH(Domain(comm, box, std::array<int, 3>{1, n, 1}, 7.0), text);
  Particles p = deal(comm, box, 50);
  Domain domain(comm, box, std::array<int, 3>{1, n, 1});
  domain.migrate(p);
  CHECK_THROWS_WITH(domain.borders(p, 7.0), text);
  // Left to itself the grid avoids the narrow direction.
  CHECK(Domain(comm, box, {}, 7.0).grid().count[1] == 1);
}

TEST_CASE("the grid of ranks has the least surface") {
  CHECK(BrickGrid::choose(8, Box::orthogonal(10, 10, 10), 0).count[0] == 2);
  const auto flat = BrickGrid::choose(12, Box::orthogonal(60, 40, 20), 0);
  CHECK(std::array<int, 3>{flat.count[0], flat.count[1], flat.count[2]} == std::array<int, 3>{4, 3, 1});
  const auto wire = BrickGrid::choose(6, Box::orthogonal(10, 10, 200), 0);
  CHECK(wire.count[2] == 6);
}

TEST_CASE("a lost atom is named on every rank") {
  Comm comm;
  const Box box = Box::orthogonal(20, 20, 20);
  Particles p = deal(comm, box, 60, 0);
  Domain domain(comm, box);
  domain.migrate(p);
  const auto tag = host(p.tag);
  auto x = host(p.x);
  int owner = 0;
  for (int i = 0; i < p.nlocal; ++i)
    if (tag(i) == 17) {
      owner = comm.rank();
      x(i, 0) = std::nan("");
      x(i, 1) = 2.5;
      x(i, 2) = 3.0;
    }
  owner = comm.max(owner);
  Kokkos::deep_copy(p.x, x);
  CHECK_THROWS_WITH(domain.migrate(p), "atom 17 on rank " + std::to_string(owner) +
                                           " is lost: its position is (nan, 2.5, 3) Å; use a shorter time step, or "
                                           "look for atoms that start too close together");
  Particles q = deal(comm, box, 60, 0);
  q.nglobal = 61;
  CHECK_THROWS_AS(domain.migrate(q), NumericalError);
  CHECK_THROWS_WITH(domain.migrate(q), "atoms are lost: all ranks together hold 60, not 61; rank " +
                                           std::to_string(comm.rank()) + " holds " + std::to_string(q.nlocal));
}
