// Groups: which atoms they hold, that they travel with them, and what is said about impossible ones.
#include <cmath>

#include "core/base/error.hpp"
#include "core/deck/read.hpp"
#include "core/particles/groups.hpp"
#include "core/particles/lattice.hpp"
#include "plugins/md/domain/domain.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::md;

namespace {

struct Deck {
  std::map<std::string, GroupSpec> groups;
  static void describe(deck::Describe<Deck>& d) { d("groups", &Deck::groups, "selections"); }
};

std::map<std::string, GroupSpec> parse(const std::string& text) {
  return deck::read<Deck>(deck::parse("groups:\n" + text, "deck.yaml")).groups;
}

/// CsCl, 4 x 4 x 4 cells of 4 Å: tag 2 n + 1 is the Cs at the corner of cell n, tag 2 n + 2 its Cl.
Particles small_crystal(const Comm& comm) {
  LatticeSpec spec;
  spec.type = LatticeType::bcc;
  spec.a = 4.0;
  spec.cells = {4, 4, 4};
  spec.species = {"Cs", "Cl"};
  Structure s = make_lattice(spec, comm, 1);
  // Some atoms are given by an image outside of the cell.
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (s.tag[i] % 3 == 0) s.x[i][s.tag[i] % 2] += s.tag[i] % 4 == 0 ? 16.0 : -32.0;
  s.x[0][2] -= s.tag[0] == 1 ? 1e-17 : 0.0;
  return particles_of(s);
}

/// Tags of the atoms of a group, in order, on every rank: 1.0 at index tag - 1.
std::vector<double> members(const Comm& comm, const Particles& p, std::uint32_t bit) {
  const auto group = Kokkos::create_mirror_view(p.group);
  const auto tag = Kokkos::create_mirror_view(p.tag);
  Kokkos::deep_copy(group, p.group);
  Kokkos::deep_copy(tag, p.tag);
  std::vector<double> in(p.nglobal, 0.0);
  for (int i = 0; i < p.nlocal; ++i) in[tag(i) - 1] += (group(i) & bit) != 0;
  comm.sum(in);
  return in;
}

template <class Condition>
std::vector<double> expected(Condition condition) {
  std::vector<double> in(128);
  for (int n = 0; n < 64; ++n)
    for (int b = 0; b < 2; ++b) {
      const double x = (n % 4 + 0.5 * b) * 4, y = (n / 4 % 4 + 0.5 * b) * 4, z = (n / 16 + 0.5 * b) * 4;
      in[2 * n + b] = condition(2 * n + b + 1, b, x, y, z);
    }
  return in;
}

}  // namespace

TEST_CASE("groups hold what they say, before and after atoms change ranks") {
  const Comm comm;
  Particles p = small_crystal(comm);
  const Groups groups(parse(R"(
  chlorine: {species: [Cl]}
  some: {tags: [[1, 10], [100, 101]]}
  bottom: {slab: {lower: 0, upper: 6}}
  left: {slab: {axis: x, lower: 0.5, upper: 1, fractional: true}}
  corner: {block: {lower: [0, 0, 0], upper: [5, 5, 7]}, species: [Cs]}
  ball: {sphere: {center: [16, 0, 0], radius: 4.1}}
  rest: {sphere: {center: [1, 1, 1], radius: 4.1, fractional: true}, invert: true}
)"));
  groups.assign(p, comm);
  Domain domain(comm, p.box);
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(members(comm, p, groups.bit("all")) == std::vector<double>(128, 1.0));
    CHECK(members(comm, p, groups.bit("chlorine")) ==
          expected([](int, int b, double, double, double) { return b == 1; }));
    CHECK(members(comm, p, groups.bit("some")) ==
          expected([](int tag, int, double, double, double) { return tag <= 10 || tag == 100 || tag == 101; }));
    CHECK(members(comm, p, groups.bit("bottom")) == expected([](int, int, double, double, double z) { return z < 6; }));
    CHECK(members(comm, p, groups.bit("left")) == expected([](int, int, double x, double, double) { return x >= 8; }));
    CHECK(members(comm, p, groups.bit("corner")) ==
          expected([](int, int b, double x, double y, double z) { return b == 0 && x < 5 && y < 5 && z < 7; }));
    // The corner of the cell, its six nearest of the same kind (4 Å) and eight of the other (3.46 Å).
    const auto near = [](int, int, double x, double y, double z) {
      auto d = [](double u) { return std::min(u, 16 - u); };
      return d(x) * d(x) + d(y) * d(y) + d(z) * d(z) <= 4.1 * 4.1;
    };
    CHECK(members(comm, p, groups.bit("ball")) == expected(near));
    CHECK(Groups::count(p, comm, groups.bit("ball")) == 15);
    CHECK(Groups::count(p, comm, groups.bit("rest")) == 128 - 15);
    CHECK(Groups::count(p, comm, groups.bit("rest") | groups.bit("ball")) == 128);
    domain.migrate(p);
  }
}

TEST_CASE("a sphere in a skewed cell reaches all its images") {
  const Comm comm;
  const double rows[3][3] = {{10, 0, 0}, {9, 9, 0}, {-4.9, 8.4, 8}};
  Particles p;
  p.box = Box::from_vectors(rows);
  p.species = {{"A", 1.0}};
  p.nlocal = comm.root() ? 500 : 0;
  p.nglobal = 500;
  p.reserve(p.nlocal);
  const auto x = Kokkos::create_mirror_view(p.x);
  const auto tag = Kokkos::create_mirror_view(p.tag);
  std::vector<double> inside(500, 0.0);
  const double center[3] = {3.0, -2.0, 7.5};
  for (int i = 0; i < p.nlocal; ++i) {
    tag(i) = i + 1;
    // A quasi-random walk over several cells.
    for (int k = 0; k < 3; ++k) x(i, k) = 17.0 * std::sin(1.0 + 12.9898 * (3 * i + k));
    double least = 1e300;
    for (int a = -6; a <= 6; ++a)
      for (int b = -6; b <= 6; ++b)
        for (int c = -6; c <= 6; ++c) {
          double r2 = 0.0;
          for (int k = 0; k < 3; ++k) {
            const double d = x(i, k) - center[k] + a * rows[0][k] + b * rows[1][k] + c * rows[2][k];
            r2 += d * d;
          }
          least = std::min(least, r2);
        }
    inside[i] = least <= 5.9 * 5.9;
  }
  Kokkos::deep_copy(p.x, x);
  Kokkos::deep_copy(p.tag, tag);
  comm.sum(inside);
  const Groups groups(parse("  ball: {sphere: {center: [3, -2, 7.5], radius: 5.9}}\n"));
  groups.assign(p, comm);
  CHECK(members(comm, p, groups.bit("ball")) == inside);
}

TEST_CASE("impossible groups are said") {
  const Comm comm;
  Particles p = small_crystal(comm);
  CHECK_THROWS_WITH(Groups(parse("  x: {species: [Clx]}\n")).assign(p, comm),
                    "group 'x': there is no species 'Clx'; did you mean 'Cl'?");
  CHECK_THROWS_WITH(Groups(parse("  x: {slab: {lower: 17, upper: 18}}\n")).assign(p, comm),
                    "group 'x' holds no atom: check its species, tags and region (all conditions must hold together)");
  CHECK_THROWS_WITH(Groups(parse("  frozen: {species: [Cl]}\n")).bit("forzen"),
                    "there is no group 'forzen'; did you mean 'frozen'?");
  CHECK_THROWS_WITH(Groups(parse("  all: {species: [Cl]}\n")),
                    "the group 'all' exists already and holds every atom: choose another name");
  CHECK_THROWS_AS(parse("  x: {slab: {lower: 3, upper: 2}}\n"), InputError);
}
