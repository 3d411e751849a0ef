// DFTB2: forces and virial as slopes of the Mermin energy, k-points, fillings and mixers.
#include "core/base/constants.hpp"
#include "core/parallel/random.hpp"
#include "plugins/submatrix/potentials/dftb.hpp"
#include "tests/catch.hpp"
#include "tests/periodic.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/plugins/submatrix/dftb_cases.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using cambium::test::Case;
using cambium::test::check_forces;
using cambium::test::check_virial;
using cambium::test::crystal;
using cambium::test::keys;
using cambium::test::molecule;
using cambium::test::species;

TEST_CASE("forces are slopes of the Mermin energy of a molecule") {
  test::World world;
  for (bool charges : {false, true})
    for (double temperature : {0.0, 3000.0}) {
      auto k = keys(false);
      k.self_consistent = charges;
      k.filling.temperature = temperature;
      INFO("charges " << charges << ", " << temperature << " K");
      check_forces(Case(molecule(), k), world);
    }
  auto ion = keys(false);
  ion.charge = 1.0;
  ion.filling = {FillingKeys::Kind::methfessel_paxton, 2000.0, 1};
  check_forces(Case(molecule(), ion), world);
}

TEST_CASE("forces and virial of a crystal with k-points are slopes of its Mermin energy") {
  test::World world;
  auto k = keys(true);
  k.k_points.grid = {2, 1, 2};
  k.k_points.shift = {0.5, 0.0, 0.25};
  k.filling.temperature = 2000.0;
  const Case c(crystal(), k);
  check_forces(c, world);
  check_virial(c, world);
  auto ion = k;
  ion.charge = 0.3;
  check_virial(Case(crystal(), ion), world);
}

TEST_CASE("third order and damping of hydrogen: forces and virial are slopes of the Mermin energy") {
  test::World world;
  auto k = keys(false);
  k.filling.temperature = 3000.0;
  k.hubbard_derivatives = {{"C", -0.15}, {"H", -0.19}, {"X", -0.08}};
  k.hydrogen_damping = 4.0;
  k.charge = 1.0;
  const Case ion(molecule(), k);
  const DftbState at = ion.run(world);
  CHECK(std::abs(at.third_order) > 1e-4);
  CHECK(at.total == Approx(at.uncharged + at.second_order + at.third_order + at.repulsive).epsilon(1e-14));
  check_forces(ion, world);
  auto of_crystal = keys(true);
  of_crystal.filling.temperature = 2000.0;
  of_crystal.charge = 0.4;
  of_crystal.hubbard_derivatives = k.hubbard_derivatives;
  of_crystal.hydrogen_damping = 4.05;
  const Case c(crystal(), of_crystal);
  check_forces(c, world);
  check_virial(c, world);
}

TEST_CASE("k-points of a cell are the Gamma point of its supercell, and Ewald's sum knows no cell") {
  test::World world;
  auto k = keys(true);
  k.k_points.grid = {3, 1, 1};
  k.filling.temperature = 20000.0;
  const DftbState one = Case(crystal(), k).run(world);
  DftbAtoms three = crystal();
  for (int copy = 1; copy < 3; ++copy)
    for (std::size_t i = 0; i < 3; ++i) {
      three.type.push_back(three.type[i]);
      three.tag.push_back(std::ssize(three.type));
      for (std::size_t c = 0; c < 3; ++c) three.x.push_back(three.x[3 * i + c] + copy * three.cell[0][c]);
    }
  for (double& c : three.cell[0]) c *= 3.0;
  three.volume *= 3.0;
  k.k_points.grid = {1, 1, 1};
  const DftbState all = Case(three, k).run(world);
  CHECK(all.mermin == Approx(3.0 * one.mermin).epsilon(1e-11));
  CHECK(all.second_order == Approx(3.0 * one.second_order).epsilon(1e-8));
  for (std::size_t i = 0; i < one.forces.size(); ++i) CHECK(all.forces[i] == Approx(one.forces[i]).margin(1e-9));
}

TEST_CASE("k-points: grid, list and time reversal") {
  KPointKeys k;
  k.grid = {4, 4, 4};
  k.shift = {0.5, 0.5, 0.5};
  CHECK(k.points().size() == 32);
  k.shift = {};
  CHECK(k.points().size() == 36);
  k = {};
  k.list = std::vector<std::array<double, 4>>{
      {0.25, 0.0, 0.0, 1.0}, {0.75, 0.0, 0.0, 1.0}, {0.0, 0.0, 0.0, 2.0}, {0.5, 0.5, 0.0, 0.0}};
  const auto points = k.points();
  REQUIRE(points.size() == 2);
  CHECK(points[0].weight == 0.5);
  CHECK(points[1].weight == 0.5);
}

TEST_CASE("every mixer ends at the same charges") {
  test::World world;
  auto warm = keys(false);
  warm.filling.temperature = 5000.0;
  const DftbState reference = Case(molecule(), warm).run(world);
  for (auto type : {MixingKeys::Kind::simple, MixingKeys::Kind::broyden}) {
    auto k = warm;
    k.mixing = {type, 0.1, 8};
    k.cycles = 500;
    const DftbState other = Case(molecule(), k).run(world);
    CHECK(other.mermin == Approx(reference.mermin).epsilon(1e-13));
    for (std::size_t a = 0; a < 5; ++a) CHECK(other.excess[a] == Approx(reference.excess[a]).margin(1e-10));
    if (type == MixingKeys::Kind::broyden) CHECK(other.cycles < 60);
  }
  CHECK(reference.cycles < 60);
}

TEST_CASE("fillings: electrons, degenerate levels, entropy as the derivative") {
  const std::vector<double> e{-0.5, -0.2, -0.2, 0.1}, w{1.0};
  const auto zero = fill(e, w, 4.0, {});
  CHECK(zero.f[1] == Approx(0.5));
  CHECK(zero.f[2] == Approx(0.5));
  CHECK(zero.mu == Approx(-0.2));
  CHECK(fill(e, w, 2.0, {}).mu == Approx(-0.35));
  CHECK(fill(e, w, 2.0, {}).lumo == -0.2);
  CHECK(fill(e, w, 8.0, {}).electrons == Approx(8.0));
  CHECK(fill(e, w, 0.0, {}).electrons == Approx(0.0).margin(1e-12));
  for (auto kind : {FillingKeys::Kind::fermi, FillingKeys::Kind::gaussian, FillingKeys::Kind::methfessel_paxton}) {
    const FillingKeys keys{kind, 20000.0, 2};
    const auto at = fill(e, w, 3.3, keys);
    CHECK(at.electrons == Approx(3.3).epsilon(1e-12));
    // The free energy is stationary: its slope by a level is the occupation of the level.
    for (std::size_t k = 0; k < e.size(); ++k) {
      auto up = e, down = e;
      up[k] += 1e-5;
      down[k] -= 1e-5;
      const auto more = fill(up, w, 3.3, keys), less = fill(down, w, 3.3, keys);
      const double slope = (more.band_energy + more.entropy_term - less.band_energy - less.entropy_term) / 2e-5;
      CHECK(slope == Approx(2.0 * at.f[k]).margin(1e-8));
    }
  }
}

TEST_CASE("what cannot be computed is refused") {
  test::World world;
  auto k = keys(false);
  k.cycles = 2;
  CHECK_THROWS_WITH(
      Case(molecule(), k).run(world),
      Catch::Matchers::Contains("dftb: charges are not self-consistent after 2 cycles: one still changes by ") &&
          Catch::Matchers::Contains(
              " electrons, tolerance is 1e-11; give a smaller mixing.parameter, a filling.temperature or more cycles"));
  k = keys(false);
  k.charge = 100.0;
  CHECK_THROWS_WITH(Case(molecule(), k).run(world), "charge 100 leaves -86 electrons, but the functions hold 0 to 38");
  k = keys(false);
  DftbAtoms near = molecule();
  near.x[3] = near.x[0];
  near.x[4] = near.x[1];
  near.x[5] = near.x[2] + 0.01;
  CHECK_THROWS_WITH(Case(near, k).run(world),
                    "atoms 1 and 2 are 0.01 bohr apart; dftb needs at least 0.1 bohr: check the structure");
  // Two atoms of one function that overlap by more than 1.
  const Scratch scratch("dftb_overlap");
  const std::string folder = scratch.file("set");
  std::filesystem::create_directories(folder);
  std::string file = "0.1 41\n0 0 -0.24 0 0 0 0.0 0 0 1\n1.0 19*0.0\n";
  for (int row = 0; row < 40; ++row) file += "9*0.0 -0.5 9*0.0 1.5\n";
  std::ofstream(folder + "/H-H.skf") << file;
  DftbAtoms pair;
  pair.periodic = false;
  pair.tag = {1, 2};
  pair.type = {0, 0};
  pair.x = {0.0, 0.0, 0.0, 0.0, 0.0, 1.5};
  const std::vector<Species> hydrogen{{"H", 1.0}};
  auto h = keys(false);
  h.slater_koster.directory = folder;
  const DftbParameters parameters(h.slater_koster, {}, h.repulsion, hydrogen);
  CHECK_THROWS_WITH(ground_state(pair, parameters, h, world.context),
                    "the file of H has a Hubbard parameter of 0; self-consistent charges need a positive one: write "
                    "self_consistent: false, or name another set");
  h.self_consistent = false;
  CHECK_THROWS_WITH(ground_state(pair, parameters, h, world.context),
                    "dftb: the overlap of the functions is not positive definite: atoms are too close for this "
                    "parameter set, or the cell is too small for its k-points");
  h.hubbard_derivatives = {{"H", -0.19}};
  CHECK(h.conflict() ==
        "hubbard_derivatives and hydrogen_damping are for self-consistent charges; leave them out, or write "
        "self_consistent: true");
  k = keys(false);
  k.hubbard_derivatives = {{"C", -0.15}};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "hubbard_derivatives has none for H; give that of every species of the structure");
  k.hubbard_derivatives = {{"C", -4.1}, {"H", -0.19}, {"X", 0.0}};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "hubbard_derivatives of C is -4.1; expected hartree, at most 2 in size. Is it in eV?");
  Dftb::Params p;
  p.k_points.grid = {2, 1, 1};
  p.periodic = false;
  CHECK(p.conflict() == "k_points are for periodic cells; leave them out, or write periodic: true");
  p.periodic = true;
  p.solver = DftbKeys::Solver::submatrix;
  CHECK(p.conflict() == "solver submatrix is for the Gamma point; leave k_points out, or write solver: dense");
  p.k_points.grid = {1, 1, 1};
  p.filling.type = FillingKeys::Kind::gaussian;
  CHECK(p.conflict() == "solver submatrix has the Fermi filling only; write filling: {type: fermi}, or solver: dense");
}

TEST_CASE(
    "submatrices at 0 K: partly filled states are refused, and filled at a temperature as the dense solver does") {
  test::World world;
  auto k = keys(false);
  k.solver = DftbKeys::Solver::submatrix;
  k.eps = 1e-10;
  for (const bool self_consistent : {false, true}) {
    k.self_consistent = self_consistent;
    k.charge = 1.0;
    CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                      "there are 13 electrons: at 0 K submatrix fills states with two electrons each; write solver: "
                      "dense, or add spin or filling: {temperature: 1000 K}");
  }
  // Four atoms of hydrogen on a square have two states at the Fermi level, with two electrons.
  DftbAtoms square = molecule();
  square.type.assign(4, 1);
  square.tag.resize(4);
  square.x = {0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 2.5, 2.5, 0.0, 0.0, 2.5, 0.0};
  k.charge = 0.0;
  k.self_consistent = false;
  CHECK_THROWS_WITH(
      Case(square, k).run(world),
      Catch::Matchers::Contains("dftb: at 0 K solver submatrix finds no gap at 4 electrons: states at the "
                                "Fermi level are partly filled, and D is off by ") &&
          Catch::Matchers::Contains(" electrons; add filling: {temperature: 1000 K}, or write solver: "
                                    "dense"));
  k.filling.temperature = 1000.0;
  auto dense = k;
  dense.solver = DftbKeys::Solver::dense;
  const DftbState found = Case(square, k).run(world), wanted = Case(square, dense).run(world);
  CHECK(found.electrons == Approx(4.0).epsilon(1e-9));
  CHECK(found.mermin == Approx(wanted.mermin).margin(1e-9));
  for (std::size_t i = 0; i < wanted.forces.size(); ++i)
    CHECK(found.forces[i] == Approx(wanted.forces[i]).margin(1e-7));
}

TEST_CASE("shells with integrals that a default leaves out are warned of") {
  test::World world;
  const auto warnings = [&](const std::map<std::string, std::string>& shells) {
    Log log;
    Context context{world.context.comm, log, world.context.timing};
    auto k = keys(false);
    k.shells = shells;
    k.self_consistent = false;
    const Case one(molecule(), k);
    ground_state(one.atoms, one.parameters, one.keys, context);
    return log.warnings();
  };
  CHECK(warnings({{"X", "d"}}).empty());
  CHECK(warnings({{"X", "p"}}).empty());
  REQUIRE(warnings({}).size() == 1);
  CHECK(
      warnings({})[0].text ==
      "dftb: the files have d functions of X, which its neutral atom does not occupy and which are left out; name its "
      "highest shell, shells: {X: d} with them or {X: p} without");
}

TEST_CASE("a molecule surrounded by vacuum is warned of where it is computed as a crystal") {
  test::World world;
  if (world.comm.size() > 1) return;  // a periodic system of the tests is one rank's
  const auto warnings = [&](double edge, double width, bool periodic, double charge) {
    // H2 along z, in angstrom, across a face of the cell.
    test::PeriodicSystem system(Box::orthogonal(edge, width, edge), {{1.0, 1.0, 0.2}, {1.0, 1.0, edge - 0.6}}, {1, 1},
                                4.0, species);
    Log log;
    Context context{world.context.comm, log, world.context.timing};
    auto k = keys(periodic);
    k.charge = charge;
    k.self_consistent = false;
    const Case one(gather_atoms(system.particles, periodic, world.comm), k);
    ground_state(one.atoms, one.parameters, one.keys, context);
    return log.warnings();
  };
  CHECK(warnings(12.0, 12.0, false, 0.0).empty());
  CHECK(warnings(12.0, 9.0, true, 0.0).empty());
  CHECK(warnings(10.5, 12.0, true, 0.0).empty());  // 9.7 angstrom along z
  REQUIRE(warnings(11.0, 12.0, true, 0.0).size() == 1);
  CHECK(warnings(11.0, 12.0, true, 0.0)[0].text ==
        "dftb: the atoms leave 10 angstrom or more of the cell empty along every cell vector, but are computed as a "
        "periodic crystal; add periodic: false for a molecule in empty space");
  REQUIRE(warnings(11.0, 12.0, true, 1.0).size() == 1);
  CHECK(warnings(11.0, 12.0, true, 1.0)[0].text.find("with a uniform background that neutralises its charge; add ") !=
        std::string::npos);
}

TEST_CASE("the potential gives energy, forces and virial of the free energy in metal units") {
  test::World world;
  if (world.comm.size() > 1) return;  // a periodic system of the tests is one rank's
  using constants::angstrom_per_bohr;
  const DftbAtoms atoms = crystal();
  Dftb::Params params;
  static_cast<DftbKeys&>(params) = keys(true);
  params.filling.temperature = 3000.0;
  Dftb potential(params, world.context);
  potential.bind(species);
  test::PotentialCase c;
  for (std::size_t a = 0; a < 3; ++a) {
    c.positions.push_back({});
    for (std::size_t k = 0; k < 3; ++k) {
      c.box.h[a][k] = atoms.cell[a][k] * angstrom_per_bohr;
      c.positions[a][k] = atoms.x[3 * a + k] * angstrom_per_bohr;
    }
  }
  test::PeriodicSystem system(c.box, c.positions, atoms.type, 4.0, species);
  NeighborList list;
  build_neighbors(system.particles, potential.cutoff(), 0.5, list);
  const auto found = test::evaluate(potential, system, list, world, {true, false});
  const DftbState direct = Case(atoms, params).run(world);
  CHECK(found.energy == Approx(direct.mermin * ev_per_hartree).epsilon(1e-12));
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(found.forces[i / 3][i % 3] == Approx(direct.forces[i] * ev_per_hartree / angstrom_per_bohr).margin(1e-9));
    CHECK(found.virial[i] == Approx(direct.virial[i] * ev_per_hartree).margin(1e-9));
  }
  CHECK_THROWS_WITH(test::evaluate(potential, system, list, world, {true, true}),
                    "dftb gives no energies and virials per atom; leave out what needs them");
}
