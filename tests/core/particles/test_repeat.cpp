// Supercells of structures: every copy is where the lattice puts it, for any cell and any number of ranks.
#include <cmath>
#include <map>

#include "core/particles/groups.hpp"
#include "core/particles/repeat.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

/// Five atoms of two species with ids that have gaps, in a cell that is turned and tilted; this rank's share.
Structure five_atoms(const Comm& comm) {
  Structure s;
  const double rows[3][3] = {{0.5, 4.0, 0.1}, {-3.0, 1.0, 0.7}, {0.4, -0.8, 5.0}};
  double q[3][3];
  s.box = Box::from_vectors(rows, q);
  s.axes = GivenAxes(q);
  s.box.origin[1] = -0.25;
  s.species = {{"O", 0.0}, {"H", 2.0}};
  s.nglobal = 5;
  const auto [begin, end] = even_share(5, comm.rank(), comm.size());
  for (std::int64_t i = begin; i < end; ++i) {
    s.tag.push_back(std::array<std::int64_t, 5>{3, 1, 8, 2, 5}[i]);
    s.type.push_back(i % 2 == 0);
    s.x.push_back({0.3 * i, 1.0 + 0.2 * i, -0.1 * i});
    s.v.push_back({1.0 * i, 2.0, -0.5 * i});
    s.image.push_back({1, 0, -1});
  }
  return s;
}

}  // namespace

TEST_CASE("copies of a cell lie where its vectors put them, with their species and velocities") {
  const Comm world;
  const Structure one = five_atoms(Comm(MPI_COMM_SELF));
  Structure s = five_atoms(world);
  repeat(s, {2, 3, 2}, world);
  CHECK(s.nglobal == 60);
  CHECK(world.sum(std::int64_t(s.tag.size())) == 60);
  CHECK(s.image.empty());
  CHECK(s.species.size() == 2);
  CHECK(s.box.origin[1] == -0.25);
  CHECK(s.box.volume() == Approx(12 * one.box.volume()));
  std::map<std::int64_t, std::size_t> row;
  for (std::size_t i = 0; i < one.tag.size(); ++i) row[one.tag[i]] = i;
  for (std::size_t i = 0; i < s.tag.size(); ++i) {
    const std::int64_t copy = (s.tag[i] - 1) / 8, tag = (s.tag[i] - 1) % 8 + 1;
    REQUIRE(row.count(tag) == 1);
    const std::size_t of = row[tag];
    CHECK(s.type[i] == one.type[of]);
    CHECK(s.v[i] == one.v[of]);
    double was[3], now[3];
    one.box.to_fractional(one.x[of].data(), was);
    s.box.to_fractional(s.x[i].data(), now);
    const double cell[3] = {double(copy % 2), double(copy / 2 % 3), double(copy / 6)};
    const int copies[3] = {2, 3, 2};
    for (int k = 0; k < 3; ++k) CHECK(now[k] * copies[k] == Approx(was[k] + cell[k]).margin(1e-12));
  }
}

TEST_CASE("a structure once is left as it is; too many copies are refused") {
  const Comm world;
  Structure s = five_atoms(world);
  repeat(s, {1, 1, 1}, world);
  CHECK(s.nglobal == 5);
  CHECK_FALSE(s.image.empty());
  CHECK_THROWS_WITH(repeat(s, {2000, 2000, 2000}, world),
                    "repeat: 2000 x 2000 x 2000 copies of 5 atoms are too many for " + std::to_string(world.size()) +
                        " ranks: use more, or fewer copies");
}

TEST_CASE("groups of a deck count the atoms of every copy") {
  const Comm world;
  Structure s = five_atoms(world);
  repeat(s, {3, 1, 2}, world);
  Particles p = particles_of(s);
  CHECK(p.species[1].mass == 2.0);
  GroupSpec hydrogen, first;
  hydrogen.species = {"H"};
  first.tags = {{1, 8}};
  const Groups groups({{"hydrogen", hydrogen}, {"first", first}});
  groups.assign(p, world, s.axes);
  CHECK(Groups::count(p, world, groups.bit("hydrogen")) == 18);
  CHECK(Groups::count(p, world, groups.bit("first")) == 5);
}
