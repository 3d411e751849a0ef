#include "core/base/error.hpp"
#include "core/pair/lanes.hpp"
#include "plugins/md/coulomb/erfc.hpp"
#include "plugins/md/coulomb/splines.hpp"
#include "tests/plugins/md/charged.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;
using namespace cambium::md;

namespace {

using Method = Coulomb::Method;

struct Crystal {
  const char* name;
  std::vector<Position> basis;  ///< cations first
  double madelung;              ///< by the distance of nearest neighbours
  double distance;              ///< of nearest neighbours, over a
};

/// Madelung constants: D. Borwein, J. M. Borwein and K. F. Taylor, J. Math. Phys. 26, 2999 (1985).
const Crystal crystals[] = {
    {"NaCl",
     {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}, {.5, 0, 0}, {0, .5, 0}, {0, 0, .5}, {.5, .5, .5}},
     1.7475645946331821906,
     0.5},
    {"CsCl", {{0, 0, 0}, {.5, .5, .5}}, 1.7626747730709883979, 0.8660254037844386468},
    {"zincblende",
     {{0, 0, 0},
      {0, .5, .5},
      {.5, 0, .5},
      {.5, .5, 0},
      {.25, .25, .25},
      {.25, .75, .75},
      {.75, .25, .75},
      {.75, .75, .25}},
     1.6380550533887894238,
     0.4330127018922193234}};

PotentialCase crystal_case(const Crystal& crystal, const Coulomb::Params& params, World& world) {
  PotentialCase c;
  const double a = 5.5;
  c.box = Box::orthogonal(a, a, a);
  c.positions = lattice(a, {1, 1, 1}, crystal.basis);
  c.species = {{"Na", 23.0}, {"Cl", 35.5}};
  for (std::size_t i = 0; i < crystal.basis.size(); ++i) c.types.push_back(2 * i < crystal.basis.size() ? 0 : 1);
  c.potential = std::make_unique<Coulomb>(params, world.context);
  c.potential->bind(c.species);
  return c;
}

/// Forces and energy to some 1e-12.
Evaluation exact_of(const PotentialCase& c, World& world) {
  auto params = salt(Method::ewald);
  params.accuracy = 1e-12;
  Coulomb ewald(params, world.context);
  ewald.bind(c.species);
  PeriodicSystem s(c.box, c.positions, c.types, ewald.cutoff() + c.skin, c.species);
  NeighborList list;
  build_neighbors(s.particles, ewald.cutoff(), c.skin, list);
  return evaluate(ewald, s, list, world);
}

}  // namespace

TEST_CASE("the packs' complementary error function is that of the library") {
  double worst = 0.0;
  for (int k = 0; k < 4000; ++k) {
    const double x = 0.0019 * k;
    const auto [erfc, gauss] = erfc_of(KernelPack(x));
    worst = std::max(worst, std::abs(sum(erfc) / KernelPack::width / std::erfc(x) - 1.0));
    CHECK(sum(gauss) / KernelPack::width == Approx(std::exp(-x * x)).epsilon(1e-14));
  }
  CHECK(worst < 2e-14);
  CHECK(sum(erfc_of(KernelPack(1e15)).erfc) == 0.0);
}

TEST_CASE("splines of charges add up to 1 and their slopes are derivatives") {
  for (const double w : {0.0, 0.3, 0.999}) {
    const Splines<6> at(w), left(w - 1e-5), right(w + 1e-5);
    double all = 0.0;
    for (int j = 0; j < 6; ++j) {
      all += at.value[j];
      CHECK(at.slope[j] == Approx((right.value[j] - left.value[j]) / 2e-5).margin(1e-8));
    }
    CHECK(all == Approx(1.0).epsilon(1e-14));
  }
}

TEST_CASE("Madelung constants of three crystals") {
  World world;
  for (const auto& crystal : crystals)
    for (const Method method : {Method::ewald, Method::mesh}) {
      INFO(crystal.name << (method == Method::mesh ? " on a mesh" : " by waves"));
      auto params = salt(method);
      params.accuracy = 1e-12;
      params.order = 12;
      auto c = crystal_case(crystal, params, world);
      auto s = c.system();
      const auto found = c.evaluate(s, world);
      const double pairs = 0.5 * static_cast<double>(crystal.basis.size());
      const double madelung = -found.energy / pairs * crystal.distance * 5.5 / constants::coulomb;
      CHECK(std::abs(madelung - crystal.madelung) < 1e-10);
      for (const auto& f : found.forces)
        for (const double component : f) CHECK(std::abs(component) < 1e-9);
      // The energy goes with 1/a: the trace of the virial is the energy.
      CHECK(found.virial[0] + found.virial[4] + found.virial[8] == Approx(found.energy).epsilon(1e-9));
    }
}

TEST_CASE("coulomb has gradient, strain derivative and outputs that agree, in a triclinic cell") {
  World world;
  for (const Method method : {Method::ewald, Method::mesh, Method::dsf}) {
    INFO("method " << static_cast<int>(method));
    auto params = salt(method);
    params.accuracy = 1e-4;
    params.cutoff = 7.0;
    if (method != Method::dsf) params.alpha = 0.4;
    if (method == Method::mesh) params.mesh = {10, 12, 14};
    if (method == Method::ewald) params.k_max = 2.6;
    params.background = true;
    params.charges["Cl"] = -0.8;
    auto c = charged_case(params, world);
    c.gradient_step = 1e-3;
    // Pairs that cross the real-space cut-off jump by erfc(2.8), 7e-5.
    check_gradient(c, world, method == Method::dsf ? 1e-7 : 1e-3);
    check_outputs_agree(c, world);
  }
}

TEST_CASE("coulomb without jumps at the cut-off: gradient and virial to 1e-7") {
  World world;
  for (const Method method : {Method::ewald, Method::mesh, Method::dsf}) {
    INFO("method " << static_cast<int>(method));
    auto params = salt(method);
    params.accuracy = 1e-9;
    params.cutoff = method == Method::dsf ? 9.0 : 12.0;
    if (method != Method::dsf) params.alpha = 0.45;
    if (method == Method::mesh) params.mesh = {12, 14, 16};
    if (method == Method::ewald) params.k_max = 5.0;
    params.background = true;
    params.charges["Cl"] = -0.9;
    auto c = charged_case(params, world);
    c.gradient_step = 1e-3;
    check_gradient(c, world, 1e-7);
    check_strain(c, world, method == Method::dsf ? 1e-5 : 1e-6);  // pairs enter the cut-off of dsf
  }
}

TEST_CASE("errors of forces are those that accuracy states") {
  World world;
  for (const Method method : {Method::ewald, Method::mesh})
    for (const double accuracy : {1e-3, 1e-5, 1e-7}) {
      INFO("accuracy " << accuracy << ", method " << static_cast<int>(method));
      auto params = salt(method);
      params.accuracy = accuracy;
      auto c = charged_case(params, world, {4, 4, 5}, 1.0);
      auto s = c.system();
      const auto found = c.evaluate(s, world);
      const auto exact = exact_of(c, world);
      const double error = rms_difference(found.forces, exact.forces) / constants::coulomb;
      CHECK(error < 2.0 * accuracy);
      CHECK(error > 0.02 * accuracy);
      CHECK(found.energy == Approx(exact.energy).epsilon(10.0 * accuracy));
    }
}

TEST_CASE("energies of coulomb are those of a plain sum over neutral cells, and of images that are moved") {
  World world;
  auto params = salt(Method::mesh);
  params.accuracy = 1e-9;
  params.order = 10;
  auto c = charged_case(params, world);
  auto s = c.system();
  const auto found = c.evaluate(s, world);
  const auto exact = exact_of(c, world);
  CHECK(found.energy == Approx(exact.energy).epsilon(1e-8));
  CHECK(rms_difference(found.forces, exact.forces) < 1e-7);
  for (int k = 0; k < 9; ++k) CHECK(found.virial[k] == Approx(exact.virial[k]).margin(1e-6));
  auto moved = c.positions;
  for (auto& p : moved) p[0] += 3.1, p[2] -= 50.0;
  auto t = c.system(c.box, moved, c.types);
  CHECK(c.evaluate(t, world).energy == Approx(exact.energy).epsilon(1e-8));
}

TEST_CASE("charges of atoms come from a file, by id") {
  World world;
  const Scratch scratch("charges");
  const auto path = scratch.file("salt.xyz");
  auto params = salt(Method::ewald);
  params.accuracy = 1e-8;
  auto c = charged_case(params, world);
  std::ofstream file(path);
  file << c.positions.size()
       << "\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3:id:I:1:initial_charges:R:1\n";
  for (std::size_t i = c.positions.size(); i-- > 0;) file << fmt::format("X 0 0 0 {} {}\n", i + 1, i % 2 ? -1.0 : 1.0);
  file.close();
  auto s = c.system();
  const auto by_species = c.evaluate(s, world);
  params.charges.clear();
  params.charges_from = path;
  c.potential = std::make_unique<Coulomb>(params, world.context);
  c.potential->bind(c.species);
  const auto by_id = c.evaluate(s, world);
  CHECK(by_id.energy == by_species.energy);
  const auto data = scratch.file("salt.data");
  for (const auto& [title, unit] :
       {std::pair{"units = metal", 1.0}, {"units = micro", 1.602176634e-7}, {"units = si", 1.602176634e-19}}) {
    std::ofstream lammps(data);
    lammps << "salt, " << title << "\n\n"
           << c.positions.size() << " atoms\n2 atom types\n\n"
           << "0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nAtoms # full\n\n";
    for (std::size_t i = c.positions.size(); i-- > 0;)
      lammps << fmt::format("{} 1 {} {} 0 0 0 0 0 0\n", i + 1, i % 2 + 1, (i % 2 ? -1.0 : 1.0) * unit);
    lammps.close();
    params.charges_from = data;
    c.potential = std::make_unique<Coulomb>(params, world.context);
    c.potential->bind(c.species);
    CHECK(c.evaluate(s, world).energy == Approx(by_species.energy).epsilon(1e-14));
  }
  std::ofstream(data) << "salt\n\n1 atoms\n1 atom types\n\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n"
                         "Atoms # charge\n\n1 1 -1.602176634e-19 0 0 0\n";
  CHECK(message([&] { Coulomb(params, world.context); }) ==
        "coulomb: the largest charge of " + data +
            " is 1.6e-19 elementary charges, so it has other units: give elementary charges, or, in LAMMPS data, name "
            "the units in the first line (units = si, cgs or micro)");
  std::ofstream(data)
      << "salt\n\n1 atoms\n1 atom types\n\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nAtoms\n\n1 1 0 0 0\n";
  CHECK(message([&] { Coulomb(params, world.context); }) ==
        data + ": its section Atoms has no charges, those of atom style charge or full; give charges by species");
  params.charges_from = path;
  c.potential = std::make_unique<Coulomb>(params, world.context);
  c.potential->bind(c.species);
  c.positions.resize(14);
  c.types.resize(14);
  auto fewer = c.system();
  CHECK(message([&] { c.evaluate(fewer, world); }) ==
        "coulomb: " + path + " has charges of 16 atoms, but the structure has 14; give the file of this structure");
  std::ofstream(path) << "1\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3\nX 0 0 0\n";
  CHECK(message([&] { Coulomb(params, world.context); }) ==
        "coulomb: " + path + " has no column of charges, but species:S:1:pos:R:3; name a numeric column charge:R:1");
}

TEST_CASE("coulomb refuses what cannot be, by key and remedy") {
  World world;
  const auto refuses = [&](const std::function<void(Coulomb::Params&)>& change) {
    auto params = salt(Method::mesh);
    change(params);
    return message([&] { Coulomb(params, world.context); });
  };
  CHECK(refuses([](auto& p) { p.accuracy = 0.5; }) == "coulomb: `accuracy` is 0.5; give a value from 1e-14 to 0.1");
  CHECK(refuses([](auto& p) { p.order = 5; }) == "coulomb: `order` is 5; give 4, 6, 8, 10 or 12");
  CHECK(refuses([](auto& p) {
          p.mesh = {16, 15, 16};
        }) ==
        "coulomb: `mesh` has 15 points along an axis; give an even number of at least 6, the order of the splines");
  CHECK(refuses([](auto& p) {
          p.mesh = {16, 16, 16};
          p.method = Method::dsf;
        }) == "coulomb: `mesh` belongs to `method: mesh`; leave one of them out");
  CHECK(refuses([](auto& p) { p.k_max = 2.0; }) ==
        "coulomb: `k_max` belongs to `method: ewald`; leave it out, or give that method");
  CHECK(refuses([](auto& p) { p.charges.clear(); }) ==
        "coulomb: neither of `charges` (by species) and `charges_from` (a file) is given; give one of them");
  CHECK(refuses([](auto& p) { p.charges_from = "x.xyz"; }) ==
        "coulomb: both `charges` (by species) and `charges_from` (a file) are given; give one of them");
  CHECK(refuses([](auto& p) {
          p.alpha = 1.0;
          p.cutoff = 9.0;
        }) == "coulomb: `alpha` times `cutoff` is 9, but erfc(8) is 1e-29 already; give a smaller `alpha` or `cutoff`");
  auto params = salt(Method::mesh);
  Coulomb potential(params, world.context);
  const std::vector<Species> potassium = {{"K", 39.1}};
  CHECK_THROWS_WITH(potential.bind(potassium),
                    "coulomb: `charges` has no K; add `K: ...` in elementary charges, 0 for a neutral atom");
  params.charges["Na"] = 1.5;
  auto c = charged_case(params, world);
  auto s = c.system();
  CHECK(message([&] { c.evaluate(s, world); }) ==
        "coulomb: the charges of the cell add up to 4 e, but a periodic cell must be neutral; correct them, or give "
        "`background: true` for a uniform neutralising background");
  params = salt(Method::mesh);
  params.accuracy = 1e-12;
  params.cutoff = 1.0;
  auto fine = charged_case(params, world, {12, 1, 1});
  auto long_cell = fine.system();
  CHECK(message([&] { fine.evaluate(long_cell, world); }) ==
        "coulomb: `accuracy: 1e-12` needs more than 1024 mesh points along an edge; give a longer `cutoff`, a higher "
        "`order` or a larger `accuracy`");
}
