// Crystals: numbers of neighbours at the known distances; shares of ranks; species and masses.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/deck/read.hpp"
#include "core/particles/elements.hpp"
#include "core/particles/lattice.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

/// Number of atoms within `distance` (+- 1e-6) of atom `i`, periodic.
int neighbors_at(const Structure& s, std::size_t i, double distance) {
  int n = 0;
  for (std::size_t j = 0; j < s.x.size(); ++j)
    for (int a = -1; a <= 1; ++a)
      for (int b = -1; b <= 1; ++b)
        for (int c = -1; c <= 1; ++c) {
          const int shift[3] = {a, b, c};
          double r2 = 0.0;
          for (int k = 0; k < 3; ++k) {
            const double d = s.x[j][k] - s.x[i][k] + shift[k] * s.box.h[k][k];
            r2 += d * d;
          }
          n += std::fabs(std::sqrt(r2) - distance) < 1e-6;
        }
  return n;
}

Structure whole(const LatticeSpec& spec) {
  const Comm self(MPI_COMM_SELF);
  return make_lattice(spec, self, 1);
}

}  // namespace

TEST_CASE("every atom of a crystal has its shells of neighbours") {
  struct Case {
    LatticeType type;
    int atoms;
    double first, second;
    int near, far;
  };
  const double a = 3.0, s2 = std::sqrt(2.0), s3 = std::sqrt(3.0);
  for (const Case& c :
       {Case{LatticeType::sc, 1, a, a * s2, 6, 12}, Case{LatticeType::bcc, 2, a * s3 / 2, a, 8, 6},
        Case{LatticeType::fcc, 4, a / s2, a, 12, 6}, Case{LatticeType::diamond, 8, a * s3 / 4, a / s2, 4, 12},
        Case{LatticeType::hcp, 4, a, a * s2, 12, 6}, Case{LatticeType::rock_salt, 8, a / 2, a / s2, 6, 12}}) {
    LatticeSpec spec;
    spec.type = c.type;
    spec.a = a;
    spec.cells = {3, 2, 4};
    spec.species = {"Cu"};
    const Structure s = whole(spec);
    CHECK(s.nglobal == 24 * c.atoms);
    CHECK(static_cast<std::int64_t>(s.x.size()) == s.nglobal);
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      REQUIRE(neighbors_at(s, i, c.first) == c.near);
      REQUIRE(neighbors_at(s, i, c.second) == c.far);
    }
  }
}

TEST_CASE("ratio c over a stretches hcp along z only") {
  LatticeSpec spec;
  spec.type = LatticeType::hcp;
  spec.a = 3.0;
  spec.c_over_a = 1.8;
  spec.cells = {2, 3, 4};
  spec.species = {"Ti"};
  const Structure s = whole(spec);
  CHECK(s.box.h[0][0] == Approx(6.0));
  CHECK(s.box.h[1][1] == Approx(9.0 * std::sqrt(3.0)));
  CHECK(s.box.h[2][2] == Approx(4 * 1.8 * 3.0));
}

TEST_CASE("a crystal does not depend on the number of ranks that make it") {
  const Comm world;
  LatticeSpec spec;
  spec.type = LatticeType::diamond;
  spec.a = 5.43;
  spec.cells = {3, 3, 2};
  spec.species = {"Si"};
  spec.displacement = 0.1;
  const Structure all = whole(spec), share = make_lattice(spec, world, 1);
  CHECK(world.sum(static_cast<std::int64_t>(share.tag.size())) == all.nglobal);
  for (std::size_t i = 0; i < share.tag.size(); ++i) {
    const std::size_t j = share.tag[i] - 1;
    CHECK(all.tag[j] == share.tag[i]);
    CHECK(all.x[j] == share.x[i]);
  }
  LatticeSpec rigid = spec;
  rigid.displacement = 0.0;
  const Structure still = whole(rigid);
  double largest = 0.0, square = 0.0;
  for (std::size_t i = 0; i < all.x.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      const double d = all.x[i][k] - still.x[i][k];
      largest = std::max(largest, std::fabs(d));
      square += d * d;
    }
  CHECK(largest <= 0.1);
  CHECK(square / (3.0 * all.x.size()) == Approx(0.01 / 3.0).epsilon(0.15));
}

TEST_CASE("species follow the atoms of the cell, in the order that the deck declares") {
  LatticeSpec spec;
  spec.type = LatticeType::bcc;
  spec.a = 4.12;
  spec.cells = {2, 2, 2};
  spec.species = {"Cs", "Cl"};
  const std::vector<Species> declared = {{"Cl", 0.0}, {"Na", 0.0}, {"Cs", 140.0}};
  const Particles p = particles_of(whole(spec), declared);
  CHECK(p.species[0].mass == 35.45);
  CHECK(p.species[1].mass == 22.98976928);
  CHECK(p.species[2].mass == 140.0);
  const auto x = Kokkos::create_mirror_view(p.x);
  Kokkos::deep_copy(x, p.x);
  for (int i = 0; i < p.nlocal; ++i) CHECK(x(i, 3) == (i % 2 == 0 ? 2.0 : 0.0));
}

TEST_CASE("two species of diamond and rock salt are those of its two fcc lattices") {
  for (const LatticeType type : {LatticeType::diamond, LatticeType::rock_salt}) {
    LatticeSpec spec;
    spec.type = type;
    spec.a = 5.64;
    spec.cells = {2, 3, 2};
    spec.species = {"Na", "Cl"};
    LatticeSpec each = spec;
    each.species = {"Na", "Na", "Na", "Na", "Cl", "Cl", "Cl", "Cl"};
    const Structure two = whole(spec), eight = whole(each);
    CHECK(two.type == eight.type);
    CHECK(two.x == eight.x);
    CHECK(std::count(two.type.begin(), two.type.end(), 1) == 48);
    REQUIRE(two.species.size() == 2);
    CHECK(two.species[1].symbol == "Cl");
  }
}

TEST_CASE("a lattice is read from a deck") {
  const auto spec = deck::read<LatticeSpec>(
      deck::parse("type: hcp\na: 0.295 nm\ncells: [6, 4, 5]\nspecies: [Ti]\ndisplacement: 0.02\n", "deck.yaml"));
  CHECK(spec.type == LatticeType::hcp);
  CHECK(spec.a == Approx(2.95));
  CHECK(spec.c_over_a == Approx(std::sqrt(8.0 / 3.0)));
  CHECK(spec.cells == std::array<int, 3>{6, 4, 5});
  CHECK(spec.displacement == 0.02);
  CHECK_THROWS_AS(deck::read<LatticeSpec>(deck::parse("type: fcc\na: -1\nspecies: [Cu]\n", "deck.yaml")), InputError);
  CHECK_THROWS_AS(deck::read<LatticeSpec>(deck::parse("type: fcc\na: 3\nspecies: [Cu]\ncells: [0, 1, 1]\n", "d")),
                  InputError);
}

TEST_CASE("what a lattice cannot be is said") {
  LatticeSpec spec;
  spec.a = 3.6;
  spec.species = {"Cu", "Ni"};
  CHECK_THROWS_WITH(
      whole(spec),
      "the lattice has 4 atoms per cell but 2 species are given: give one for all, or one per atom of the cell");
  spec.species = {"Cu"};
  const std::vector<Species> others = {{"Ni", 0.0}, {"Zn", 0.0}};
  CHECK_THROWS_WITH(
      particles_of(whole(spec), others),
      "the structure holds species 'Cu', which is not among the deck's (species: [Ni, Zn]): add it there");
  spec.species = {"Xx"};
  CHECK_THROWS_WITH(particles_of(whole(spec)),
                    "species 'Xx' is not an element, so its mass must be given: masses: {Xx: ...} in g/mol");
  spec.cells = {2, 0, 1};
  CHECK_THROWS_AS(whole(spec), InputError);
}

TEST_CASE("elements have their numbers and weights") {
  CHECK(atomic_number("H") == 1);
  CHECK(atomic_number("Cu") == 29);
  CHECK(atomic_number("Au") == 79);
  CHECK(atomic_number("U") == 92);
  CHECK(atomic_number("Lr") == 103);
  CHECK(atomic_number("Xx") == 0);
  for (int z = 1; z <= 103; ++z) CHECK(atomic_number(element_symbol(z)) == z);
  CHECK(element_symbol(104).empty());
  CHECK(standard_mass("O") == 15.999);
  CHECK(standard_mass("Cu") == 63.546);
  CHECK(standard_mass("D") == Approx(2.014).epsilon(1e-3));
  CHECK(standard_mass("cu") == 0.0);
}
