// Collinear spin polarisation: limits that are known, forces and virial as slopes of the Mermin energy, both channels
// by submatrices and purification.
#include "tests/plugins/submatrix/dftb_cases.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using cambium::test::Case;
using cambium::test::check_forces;
using cambium::test::check_virial;
using cambium::test::crystal;
using cambium::test::keys;
using cambium::test::molecule;

namespace {

const std::map<std::string, std::vector<std::vector<double>>> constants{
    {"H", {{-0.072}}},
    {"C", {{-0.031, -0.025}, {-0.025, -0.023}}},
    {"X", {{-0.02, -0.015, 0.0}, {-0.015, -0.014, -0.002}, {0.0, -0.002, -0.03}}}};

DftbKeys polarised(bool periodic, double unpaired, bool relax = false) {
  DftbKeys out = keys(periodic);
  out.spin.emplace();
  out.spin->constants = constants;
  out.spin->unpaired = unpaired;
  out.spin->relax = relax;
  return out;
}

double sum(const std::vector<double>& values) {
  double out = 0.0;
  for (const double v : values) out += v;
  return out;
}

/// Atoms of one element on a line, `distance` bohr apart.
DftbAtoms line(int type, int count, double distance) {
  DftbAtoms out;
  out.periodic = false;
  for (int k = 0; k < count; ++k) {
    out.tag.push_back(k + 1);
    out.type.push_back(type);
    out.x.insert(out.x.end(), {0.0, 0.0, distance * k});
  }
  return out;
}

constexpr int carbon = 0, hydrogen = 1;

}  // namespace

TEST_CASE("a hydrogen atom: its level, and half of its spin constant") {
  test::World world;
  for (const double unpaired : {1.0, -1.0}) {
    const DftbState one = Case(line(hydrogen, 1, 0.0), polarised(false, unpaired)).run(world);
    CHECK(one.mermin == Approx(-0.24 - 0.5 * 0.072).epsilon(1e-12));
    CHECK(one.spin == Approx(-0.5 * 0.072).epsilon(1e-12));
    REQUIRE(one.spins.size() == 1);
    CHECK(one.spins[0] == Approx(unpaired).epsilon(1e-12));
    CHECK(one.excess[0] == Approx(0.0).margin(1e-12));
  }
  // Without unpaired electrons half an electron of each spin: no spin energy.
  CHECK(Case(line(hydrogen, 1, 0.0), polarised(false, 0.0)).run(world).total == Approx(-0.24).epsilon(1e-12));
  // Two atoms out of reach of each other, with opposite spins: twice the atom.
  auto k = polarised(false, 0.0);
  k.spin->initial_atoms = {1.0, -1.0};
  const DftbState two = Case(line(hydrogen, 2, 30.0), k).run(world);
  CHECK(two.mermin == Approx(2.0 * (-0.24 - 0.5 * 0.072)).epsilon(1e-10));
  CHECK(two.spins[0] == Approx(1.0).epsilon(1e-10));
  CHECK(two.spins[1] == Approx(-1.0).epsilon(1e-10));
}

TEST_CASE("without spin constants, and without a spin, the energy is that of paired electrons") {
  test::World world;
  for (const bool periodic : {false, true}) {
    auto plain = keys(periodic);
    plain.filling.temperature = 4000.0;
    if (periodic) plain.k_points.grid = {2, 1, 2};
    const auto atoms = periodic ? crystal() : molecule();
    const DftbState paired = Case(atoms, plain).run(world);
    for (const bool relax : {false, true}) {
      auto k = polarised(periodic, relax ? 1.5 : 0.0, relax);
      k.filling = plain.filling;
      k.k_points = plain.k_points;
      if (relax)
        for (auto& [name, w] : k.spin->constants)
          for (auto& row : w) row.assign(row.size(), 0.0);
      const DftbState both = Case(atoms, k).run(world);
      CHECK(std::abs(both.mermin - paired.mermin) < 1e-10);
      CHECK(both.spin == Approx(0.0).margin(1e-14));
      CHECK(both.mu == Approx(paired.mu).margin(1e-8));
      CHECK(both.mu_down == Approx(paired.mu).margin(1e-8));
      for (const double spin : both.spins) CHECK(std::abs(spin) < 1e-9);
      for (std::size_t i = 0; i < paired.forces.size(); ++i) CHECK(std::abs(both.forces[i] - paired.forces[i]) < 1e-9);
    }
  }
}

TEST_CASE("unpaired electrons that leave half an electron of each spin are warned of") {
  test::World world;
  const auto warned = [&](int atoms, double unpaired) {
    Log log;
    Context context{world.context.comm, log, world.context.timing};
    auto k = polarised(false, unpaired);
    k.filling.temperature = 3000.0;
    const Case one(line(hydrogen, atoms, 1.5), k);
    ground_state(one.atoms, one.parameters, one.keys, context);
    return log.warnings();
  };
  CHECK(warned(2, 0.0).empty());
  CHECK(warned(3, 1.0).empty());
  CHECK(warned(2, 0.5).empty());
  REQUIRE(warned(2, 1.0).size() == 1);
  CHECK(warned(2, 1.0)[0].text ==
        "dftb: spin.unpaired_electrons is 1 with 2 electrons: 1.5 of one spin and 0.5 of the other, states with half "
        "an electron; give an even number");
  REQUIRE(warned(3, 0.0).size() == 1);
  CHECK(warned(3, 0.0)[0].text.ends_with("; give an odd number"));
}

TEST_CASE("a molecule with paired electrons loses the spin with which it begins") {
  test::World world;
  auto k = polarised(false, 1.0, true);
  k.filling.temperature = 300.0;
  const DftbState pair = Case(line(hydrogen, 2, 1.5), k).run(world);
  auto plain = keys(false);
  plain.filling.temperature = 300.0;
  const DftbState paired = Case(line(hydrogen, 2, 1.5), plain).run(world);
  CHECK(pair.mermin == Approx(paired.mermin).epsilon(1e-12));
  for (const double spin : pair.spins) CHECK(std::abs(spin) < 1e-8);
}

TEST_CASE("two electrons in two degenerate states are unpaired: a diatomic molecule like O2") {
  test::World world;
  // Eight electrons: three pairs in sigma states, and two for the degenerate pi states.
  const auto energy = [&](double unpaired, bool relax) {
    auto k = polarised(false, unpaired, relax);
    return Case(line(carbon, 2, 2.4), k).run(world);
  };
  const DftbState triplet = energy(2.0, false), singlet = energy(0.0, false), relaxed = energy(1.4, true);
  CHECK(triplet.mermin < singlet.mermin - 1e-3);
  CHECK(relaxed.mermin == Approx(triplet.mermin).epsilon(1e-10));
  CHECK(sum(relaxed.spins) == Approx(2.0).epsilon(1e-9));
  CHECK(relaxed.mu == Approx(relaxed.mu_down).epsilon(1e-14));
  CHECK(triplet.mu != triplet.mu_down);
  const DftbState turned = energy(-2.0, false);
  CHECK(turned.mermin == Approx(triplet.mermin).epsilon(1e-11));
  for (std::size_t a = 0; a < 2; ++a) CHECK(turned.spins[a] == Approx(-triplet.spins[a]).epsilon(1e-9));
}

TEST_CASE("one constant for all shells is the matrix that has it everywhere") {
  test::World world;
  auto one = polarised(false, 2.0);
  one.spin->constants = {{"H", {{-0.07}}}, {"C", {{-0.025}}}, {"X", {{-0.02}}}};
  auto all = one;
  all.spin->constants["C"].assign(2, {-0.025, -0.025});
  all.spin->constants["X"].assign(3, {-0.02, -0.02, -0.02});
  CHECK(Case(molecule(), one).run(world).mermin == Case(molecule(), all).run(world).mermin);
}

TEST_CASE("forces of a spin-polarised molecule are slopes of its Mermin energy") {
  test::World world;
  auto fixed = polarised(false, 2.0);
  check_forces(Case(molecule(), fixed), world);
  fixed.filling.temperature = 3000.0;
  fixed.hubbard_derivatives = {{"C", -0.15}, {"H", -0.19}, {"X", -0.08}};
  fixed.hydrogen_damping = 4.0;
  const Case warm(molecule(), fixed);
  CHECK(std::abs(warm.run(world).spin) > 1e-3);
  check_forces(warm, world);
  // Three hydrogen atoms with equal spins, at different distances, and one Fermi level.
  auto free = polarised(false, 3.0, true);
  free.filling.temperature = 6000.0;
  DftbAtoms chain = line(hydrogen, 3, 4.5);
  chain.x[3] += 0.4;
  chain.x[8] += 0.7;
  const Case radical(chain, free);
  const DftbState at = radical.run(world);
  CHECK(sum(at.spins) > 2.5);
  CHECK(sum(at.spins) < 3.0 - 1e-4);
  check_forces(radical, world);
}

TEST_CASE("forces and virial of a spin-polarised crystal with k-points are slopes of its Mermin energy") {
  test::World world;
  auto k = polarised(true, 1.0);
  k.k_points.grid = {2, 1, 1};
  k.k_points.shift = {0.25, 0.0, 0.0};
  k.filling.temperature = 2000.0;
  const Case c(crystal(), k);
  CHECK(std::abs(c.run(world).spin) > 1e-3);
  check_forces(c, world);
  check_virial(c, world);
}

TEST_CASE("fillings of two channels: the free energy is stationary") {
  const std::vector<double> e{-0.5, -0.2, 0.1, -0.45, -0.1, 0.2}, w{1.0};
  for (const auto kind : {FillingKeys::Kind::fermi, FillingKeys::Kind::gaussian, FillingKeys::Kind::methfessel_paxton})
    for (const bool fixed : {false, true}) {
      const FillingKeys keys{kind, 20000.0, 2};
      ElectronNumbers numbers{2.6, true};
      if (fixed) numbers.unpaired = 0.8;
      const auto at = fill(e, w, numbers, keys);
      CHECK(at.electrons == Approx(2.6).epsilon(1e-12));
      const double up = at.f[0] + at.f[1] + at.f[2], down = at.f[3] + at.f[4] + at.f[5];
      if (fixed) CHECK(up - down == Approx(0.8).epsilon(1e-12));
      if (!fixed) CHECK(at.mu == at.mu_down);
      for (std::size_t k = 0; k < e.size(); ++k) {
        auto more = e, less = e;
        more[k] += 1e-5;
        less[k] -= 1e-5;
        const auto high = fill(more, w, numbers, keys), low = fill(less, w, numbers, keys);
        const double slope = (high.band_energy + high.entropy_term - low.band_energy - low.entropy_term) / 2e-5;
        CHECK(slope == Approx(at.f[k]).margin(1e-8));
      }
    }
}

TEST_CASE("both channels by submatrices, with one Fermi level and with two") {
  test::World world;
  for (const bool relax : {false, true}) {
    auto dense = polarised(true, 1.0, relax);
    dense.filling.temperature = 8000.0;
    dense.tolerance = 1e-9;
    dense.cycles = 500;
    dense.mixing = {MixingKeys::Kind::broyden, 0.05, 8};
    dense.spin->initial_atoms = {1.4, -0.2, 1.1};
    auto other = dense;
    other.solver = DftbKeys::Solver::submatrix;
    other.eps = 1e-9;
    const DftbState wanted = Case(crystal(), dense).run(world), found = Case(crystal(), other).run(world);
    CHECK(found.mermin == Approx(wanted.mermin).margin(1e-7));
    CHECK(found.uncharged == Approx(wanted.uncharged).margin(1e-6));
    CHECK(found.mu == Approx(wanted.mu).margin(1e-6));
    CHECK(found.mu_down == Approx(wanted.mu_down).margin(1e-6));
    for (std::size_t a = 0; a < 3; ++a) CHECK(found.spins[a] == Approx(wanted.spins[a]).margin(1e-6));
    for (std::size_t i = 0; i < wanted.forces.size(); ++i)
      CHECK(found.forces[i] == Approx(wanted.forces[i]).margin(1e-6));
    for (std::size_t i = 0; i < 9; ++i) CHECK(found.virial[i] == Approx(wanted.virial[i]).margin(1e-5));
  }
}

TEST_CASE("both channels by purification, with one Fermi level and with two, and paired electrons") {
  test::World world;
  DftbAtoms atoms = line(hydrogen, 6, 3.6);
  atoms.x[3] += 0.5;
  const auto compare = [&](const DftbKeys& k) {
    auto other = k;
    other.solver = DftbKeys::Solver::purification;
    other.eps = 1e-10;
    const DftbState wanted = Case(atoms, k).run(world), found = Case(atoms, other).run(world);
    CHECK(found.mermin == Approx(wanted.mermin).margin(1e-7));
    CHECK(found.spin == Approx(wanted.spin).margin(1e-7));
    for (std::size_t a = 0; a < found.spins.size(); ++a) CHECK(found.spins[a] == Approx(wanted.spins[a]).margin(1e-6));
    for (std::size_t i = 0; i < wanted.forces.size(); ++i)
      CHECK(found.forces[i] == Approx(wanted.forces[i]).margin(1e-6));
    CHECK(found.mu > wanted.homo);
    CHECK(found.mu < wanted.lumo);
  };
  for (const bool relax : {false, true}) {
    auto k = polarised(false, 0.0, relax);
    k.tolerance = 1e-9;
    k.cycles = 500;
    k.spin->initial_atoms = {1.0, -1.0, 1.0, -1.0, 1.0, -1.0};
    compare(k);
  }
  auto paired = keys(false);
  paired.tolerance = 1e-9;
  for (std::size_t a : {1, 3, 5}) atoms.x[3 * a + 2] -= 2.0;
  compare(paired);
  auto odd = paired;
  odd.solver = DftbKeys::Solver::purification;
  odd.charge = 1.0;
  CHECK_THROWS_WITH(Case(atoms, odd).run(world),
                    "there are 5 electrons: purification fills states with two electrons each; write solver: dense, or "
                    "add spin");
  odd = polarised(false, 0.0);
  odd.solver = DftbKeys::Solver::purification;
  odd.charge = 0.5;
  CHECK_THROWS_WITH(Case(atoms, odd).run(world),
                    "there are 5.5 electrons: purification fills states with one electron of each spin; write solver: "
                    "dense");
  odd.filling.temperature = 300.0;
  CHECK(odd.conflict() == "solver purification is for zero temperature; leave filling out, or write solver: submatrix");
  // Four atoms at equal distances on a square have two states at the Fermi level.
  DftbAtoms square = line(hydrogen, 4, 2.5);
  square.x = {0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 2.5, 2.5, 0.0, 0.0, 2.5, 0.0};
  paired.solver = DftbKeys::Solver::purification;
  CHECK_THROWS_WITH(Case(square, paired).run(world),
                    Catch::Matchers::Contains("dftb: purification ended after ") &&
                        Catch::Matchers::Contains(" iterations at an idempotency error of ") &&
                        Catch::Matchers::Contains(
                            " per atom: there is no gap at this number of electrons; write solver: submatrix with a "
                            "filling.temperature, or solver: dense"));
}

TEST_CASE("spins that cannot be are refused") {
  test::World world;
  auto k = polarised(false, 2.0);
  k.spin->constants.erase("H");
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.constants has none for H; give those of every species of the structure");
  k = polarised(false, 2.0);
  k.spin->constants["C"] = {{-0.03, -0.02}};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.constants of C has 1 rows; expected 2 of 2 values each, for its shells sp, or [[W]]");
  k.spin->constants["C"] = {{-0.03, -0.02}, {-0.01, -0.02}};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.constants of C has -0.02 for sp and -0.01 for ps; they are one constant");
  k.spin->constants["C"] = {{-1.9}};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.constants of C has -1.9; expected hartree, at most 1 in size. Is it in eV?");
  k = polarised(false, 2.0);
  k.spin->initial = {{"Fe", 2.0}};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.initial_spins names Fe, which the structure does not have; leave it out");
  k.spin->initial = {{"H", 1.5}};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "the first spin of atom 2 (H) is 1.5, but its 1 functions hold one electron of each spin; choose a "
                    "smaller one");
  k.spin->initial.clear();
  k.spin->initial_atoms = {1.0, -1.0};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.initial_atom_spins has 2 values, but there are 5 atoms; give one for each");
  k = polarised(false, 15.0);
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.unpaired_electrons is 15 with 14 electrons and 19 functions, which hold one of each spin; "
                    "choose a smaller one");
  k = polarised(false, 14.0);
  k.solver = DftbKeys::Solver::submatrix;
  CHECK_THROWS_WITH(
      Case(molecule(), k).run(world),
      "spin.unpaired_electrons is 14 with 14 electrons: solvers submatrix and purification need electrons "
      "of both spins; write solver: dense");
  k.spin->unpaired = 1.0;
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "spin.unpaired_electrons is 1 with 14 electrons: 7.5 of one spin; without filling.temperature "
                    "solvers submatrix and purification need a whole number of each spin");
  k = polarised(false, 2.0);
  k.self_consistent = false;
  CHECK(k.conflict() == "spin is for self-consistent charges; leave it out, or write self_consistent: true");
}
