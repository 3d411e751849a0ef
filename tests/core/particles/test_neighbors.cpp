#include <algorithm>
#include <set>

#include "core/particles/neighbors_device.hpp"
#include "tests/catch.hpp"
#include "tests/periodic.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

using Rows = std::vector<std::vector<int>>;

/// All pairs, the plain way.
Rows all_pairs(const Particles& particles, double range) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  Rows rows(particles.nlocal);
  for (int i = 0; i < particles.nlocal; ++i)
    for (int j = 0; j < particles.total(); ++j) {
      double d2 = 0.0;
      for (int k = 0; k < 3; ++k) d2 += (x(j, k) - x(i, k)) * (x(j, k) - x(i, k));
      if (j != i && d2 < range * range) rows[i].push_back(j);
    }
  return rows;
}

/// Checks the layout and returns the rows as they stand in the list.
Rows rows_of(const Particles& particles, const NeighborList& list) {
  const auto offset = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset);
  const auto count = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count);
  const auto index = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.index);
  Rows rows(particles.nlocal);
  std::int64_t pairs = 0, after = 0;
  for (int i = 0; i < particles.nlocal; ++i) {
    CHECK(offset(i) % NeighborList::row_padding == 0);
    CHECK(offset(i) >= after);
    rows[i].assign(index.data() + offset(i), index.data() + offset(i) + count(i));
    after = offset(i) + count(i);
    for (; after % NeighborList::row_padding != 0; ++after) REQUIRE(index(after) == particles.sentinel());
    pairs += count(i);
  }
  CHECK(offset(particles.nlocal) >= after);
  CHECK(list.pairs == pairs);
  return rows;
}

bool equally_long(const NeighborList& list, int rows) {
  const auto offset = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset);
  for (int i = 0; i < rows; ++i)
    if (offset(i + 1) - offset(i) != offset(1) - offset(0)) return false;
  return true;
}

Rows sorted(Rows rows) {
  for (auto& row : rows) std::sort(row.begin(), row.end());
  return rows;
}

std::vector<Position> random_positions(const Box& box, int n, std::uint64_t seed) {
  std::vector<Position> positions(n);
  for (int i = 0; i < n; ++i) {
    const Random4 random(seed, Stream::test, i, 0);
    const double s[3] = {random.uniform(0), random.uniform(1), random.uniform(2)};
    box.to_cartesian(s, positions[i].data());
  }
  return positions;
}

struct Case {
  Box box;
  int atoms;
  double cutoff, skin;
};

Box triclinic(double a, double b, double c) {
  const double rows[3][3] = {{a, 0, 0}, {0.3 * a, b, 0}, {-0.2 * a, 0.25 * b, c}};
  return Box::from_vectors(rows);
}

std::vector<Case> cases() {
  return {{Box::orthogonal(10, 10, 10), 1, 2.0, 0.5},   {Box::orthogonal(10, 10, 10), 0, 2.0, 0.5},
          {Box::orthogonal(3, 3, 3), 7, 5.0, 1.0},      {Box::orthogonal(12, 30, 9), 300, 2.5, 0.5},
          {Box::orthogonal(40, 8, 8), 50, 6.0, 1.0},    {Box::orthogonal(20, 20, 20), 1500, 3.0, 0.4},
          {triclinic(12, 11, 14), 400, 3.3, 0.3},       {triclinic(5, 6, 4), 60, 6.0, 0.0},
          {Box::orthogonal(60, 60, 60), 200, 4.0, 1.0}, {Box::orthogonal(6, 6, 6), 900, 1.5, 0.2}};
}

}  // namespace

TEST_CASE("the neighbour list holds exactly the pairs within range") {
  std::uint64_t seed = 1;
  NeighborList list;  // reused, so that left-over memory is tested too
  DeviceCells cells;
  int equal_rows = 0;
  for (const auto& c : cases()) {
    const double range = c.cutoff + c.skin;
    auto positions = random_positions(c.box, c.atoms, ++seed);
    if (seed % 2) sort_by_cell(positions, range);
    const PeriodicSystem system(c.box, positions, {}, range);
    build_neighbors(system.particles, c.cutoff, c.skin, list);
    INFO("case with " << c.atoms << " atoms, " << system.particles.nghost << " ghosts");
    CHECK(sorted(rows_of(system.particles, list)) == all_pairs(system.particles, range));
    CHECK(list.cutoff == c.cutoff);
    CHECK(list.skin == c.skin);
    for (int build = 0; build < 2; ++build) {  // the second may give all rows the room of the longest
      build_neighbors_on_device(system.particles, list, cells);
      CHECK(sorted(rows_of(system.particles, list)) == all_pairs(system.particles, range));
    }
    equal_rows += c.atoms > 1 && list.offset.extent(0) > 0 && equally_long(list, system.particles.nlocal);
  }
  CHECK(equal_rows > 0);
}

TEST_CASE("pairs at the range itself are decided in double precision") {
  // A simple cubic lattice with the range at a neighbour shell, a few roundings below and above it.
  const double a = 1.7, shell = std::sqrt(5.0) * a;
  const auto positions = lattice(a, {6, 6, 6}, {{0, 0, 0}});
  for (const double range : {shell * (1 - 1e-12), shell * (1 + 1e-12)}) {
    const PeriodicSystem system(Box::orthogonal(6 * a, 6 * a, 6 * a), positions, {}, 1.01 * shell);
    NeighborList list;
    build_neighbors(system.particles, range, 0.0, list);
    CHECK(sorted(rows_of(system.particles, list)) == all_pairs(system.particles, range));
  }
}

TEST_CASE("one atom far away costs neither memory nor neighbours") {
  const Box box = Box::orthogonal(12, 12, 12);
  auto positions = random_positions(box, 200, 5);
  PeriodicSystem system(box, positions, {}, 3.0);
  NeighborList list;
  for (const double far : {1e4, 1e9, 1e14, HUGE_VAL}) {
    auto moved = positions;
    moved[17][0] = far;
    system.update(moved);
    build_neighbors(system.particles, 2.5, 0.5, list);
    CHECK(sorted(rows_of(system.particles, list)) == all_pairs(system.particles, 3.0));
    DeviceCells cells;
    build_neighbors_on_device(system.particles, list, cells);
    CHECK(sorted(rows_of(system.particles, list)) == all_pairs(system.particles, 3.0));
  }
}

TEST_CASE("a position that is not a number has no neighbours") {
  const Box box = Box::orthogonal(12, 12, 12);
  auto positions = random_positions(box, 100, 6);
  PeriodicSystem system(box, positions, {}, 3.0);
  positions[3][1] = std::nan("");
  system.update(positions);
  NeighborList list;
  build_neighbors(system.particles, 2.5, 0.5, list);
  CHECK(sorted(rows_of(system.particles, list)) == all_pairs(system.particles, 3.0));
}

TEST_CASE("building twice gives the same rows in the same order") {
  const Box box = triclinic(14, 13, 15);
  const PeriodicSystem system(box, random_positions(box, 500, 9), {}, 4.0);
  NeighborList first, second;
  build_neighbors(system.particles, 3.6, 0.4, first);
  build_neighbors(system.particles, 3.6, 0.4, second);
  build_neighbors(system.particles, 3.6, 0.4, second);
  CHECK(rows_of(system.particles, first) == rows_of(system.particles, second));
}
