// Molecules from files and from a recipe.
#include <cmath>
#include <fstream>
#include <set>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/graph/datasets/molecules.hpp"
#include "plugins/graph/molecules/pairs.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_case.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;

namespace {

/// Water and ammonia, as HDF5.
void write_h5(const std::string& path) {
  auto file = io::File::create(path);
  auto group = file.create_group("small");
  group.write("offset", std::vector<int>{0, 3, 7});
  group.write("species", std::vector<int>{8, 1, 1, 7, 1, 1, 1});
  const std::vector<float> x{0,    0,     0, 0.96f,  0,      0,     -0.24f, 0.93f,  0,      0,     0,
                             0.1f, 0.94f, 0, -0.27f, -0.47f, 0.81f, -0.27f, -0.47f, -0.81f, -0.27f};
  group.write("position", io::tensor_of(x.data(), {7, 3}));
  group.write("energy", std::vector<double>{-232.0, -297.0});
  const std::vector<std::int16_t> none;
  const std::vector<int> bonds{0, 1, 1, 0, 2, 1, 0, 1, 1, 0, 2, 1, 0, 3, 1};
  group.write("bond", io::tensor_of(bonds.data(), {5, 3}));
  group.write("bond_offset", std::vector<int>{0, 2, 5});
  group.write("fold", std::vector<int>{0, 1});
}

}  // namespace

TEST_CASE("molecules of an HDF5 file") {
  Scratch scratch;
  write_h5(scratch.file("m.h5"));
  const auto table = read_molecule_h5(scratch.file("m.h5"), "small");
  REQUIRE(table.molecules.size() == 2);
  CHECK(table.molecules[1].species == std::vector<std::int32_t>{7, 1, 1, 1});
  CHECK(table.molecules[1].position[3] == Approx(0.94));
  CHECK(table.molecules[1].bond == std::vector<std::int32_t>{0, 1, 1, 0, 2, 1, 0, 3, 1});
  CHECK(table.molecules[0].energy == -232.0);
  CHECK(table.fold == std::vector<int>{0, 1});
  CHECK(table.bonds);
  CHECK(!table.forces);
}

TEST_CASE("lengths and forces of an HDF5 file in another unit than Å are refused") {
  Scratch scratch;
  const auto path = scratch.file("m.h5");
  const auto text = [&](const std::string& position, const std::string& energy, const std::string& force) {
    write_h5(path);
    auto file = io::File::append(path);
    const std::vector<double> zero(21, 0.0);
    auto group = file.group("small");
    group.dataset("position").set_attribute("units", position);
    group.dataset("energy").set_attribute("unit", energy);
    group.write("force", io::tensor_of(zero.data(), {7, 3})).set_attribute("unit", force);
    file.close();
    try {
      read_molecule_h5(path, "small");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  for (const char* angstrom : {"Å", "A", "angstrom", "Angstroms", "Ang"})
    CHECK(text(angstrom, "eV", std::string("eV/") + angstrom) == "read");
  CHECK(text("angstrom", "kcal/mol", "kcal/mol/A") == "read");
  CHECK(text("bohr", "eV", "eV/angstrom") == "'" + path +
                                                 "', group 'small': 'position' has the unit 'bohr', expected angstrom; "
                                                 "convert the array and correct the attribute");
  CHECK(text("angstrom", "hartree", "hartree/bohr") ==
        "'" + path +
            "', group 'small': 'force' has the unit 'hartree/bohr', expected hartree/angstrom; convert the array and "
            "correct the attribute");
}

TEST_CASE("frames of an extended XYZ file") {
  Scratch scratch;
  std::ofstream(scratch.file("m.xyz")) << "2\nProperties=species:S:1:pos:R:3:f:R:3 E=-1.5 pbc=\"F F F\"\n"
                                          "O 0 0 0 0.1 0 0\nH 0.97 0 0 -0.1 0 0\n\n"
                                          "1\nE=-13.6 Properties=species:S:1:pos:R:3:f:R:3\nH 1 1 1 0 0 0\n";
  const auto table = read_molecule_xyz(scratch.file("m.xyz"), "E", "f");
  REQUIRE(table.molecules.size() == 2);
  CHECK(table.forces);
  CHECK(table.molecules[0].energy == -1.5);
  CHECK(table.molecules[0].force == std::vector<double>{0.1, 0, 0, -0.1, 0, 0});
  CHECK(table.molecules[1].species == std::vector<std::int32_t>{1});
}

TEST_CASE("molecules in the spellings of other programs") {
  Scratch scratch;
  const std::string rows = "8 0 0 0 0.1 0 0\n1 0.97 0 0 -0.1 0 0\n";
  for (const std::string comment :
       {"Properties = Z:I:1:pos:R:3:forces:R:3 energy = '-1.5' pbc = [false, false, false]",
        "note=\"energy=3 pbc=\\\"T T T\\\"\" properties=\"Z:I:1:positions:R:3:force:R:3\" Energy={-1.5} pbc=\"f f f\"",
        "Lattice=[[9, 0, 0], [0, 9, 0], [0, 0, 9]]\tpbc=F REF_energy=\"_JSON -1.5\" "
        "Properties=Z:I:1:pos:R:3:REF_forces:R:3"}) {
    std::ofstream(scratch.file("m.xyz")) << "\xEF\xBB\xBF"
                                            "2\r\n"
                                         << comment << "\r\n"
                                         << rows;
    const auto table = read_molecule_xyz(scratch.file("m.xyz"), "energy", "forces");
    REQUIRE(table.molecules.size() == 1);
    CHECK(table.molecules[0].energy == -1.5);
    CHECK(table.molecules[0].species == std::vector<std::int32_t>{8, 1});
    CHECK(table.molecules[0].force == std::vector<double>{0.1, 0, 0, -0.1, 0, 0});
  }
}

TEST_CASE("columns of molecules that nobody reads are named once") {
  Scratch scratch;
  const std::string frame = "1\nenergy=1 Properties=species:S:1:pos:R:3:charge:R:1:tags:I:1\nH 0 0 0 0.5 1\n";
  std::ofstream(scratch.file("m.xyz")) << frame << frame;
  CHECK(read_molecule_xyz(scratch.file("m.xyz"), "energy", "forces").remarks ==
        std::vector<std::string>{scratch.file("m.xyz") + ": columns not read: charge, tags"});
}

TEST_CASE("a molecule without atoms", "[messages]") {
  std::string said;
  try {
    require_sound(Molecule{}, "'none.h5', molecule 0");
  } catch (const InputError& error) {
    said = error.what();
  }
  CHECK(said == "'none.h5', molecule 0 has no atoms; leave it out");
}

TEST_CASE("synthetic molecules: functions of seed and number, forces minus the gradient of the energy") {
  const auto table = make_molecules(recipe(20, 1, 9)), more = make_molecules(recipe(25, 1, 9));
  for (std::size_t k = 0; k < 20; ++k) CHECK(table.molecules[k].position == more.molecules[k].position);
  std::int64_t fewest = 100, most = 0;
  for (const auto& m : table.molecules) {
    require_sound(m, "a made-up molecule");
    CHECK(std::ssize(m.bond) == 3 * (m.atoms() - 1));
    fewest = std::min(fewest, m.atoms());
    most = std::max(most, m.atoms());
    for (std::size_t k = 0; k < m.position.size(); ++k) {
      const double h = 1e-5;
      Molecule up = m, down = m;
      up.position[k] += h;
      down.position[k] -= h;
      made_energy(up);
      made_energy(down);
      CHECK(m.force[k] == Approx((down.energy - up.energy) / (2.0 * h)).epsilon(1e-6).margin(1e-5));
    }
  }
  CHECK(fewest < 3);
  CHECK(most == 9);
}

TEST_CASE("parts of a data set: folds hold every molecule once") {
  World world;
  std::int64_t all = 0;
  for (std::int64_t fold = 0; fold < 3; ++fold) {
    Molecules::Params p;
    p.made_up = recipe(20);
    p.folds = 3;
    p.fold = fold;
    p.part = Molecules::Part::test;
    Molecules test(p, world.context);
    test.open(world.context);
    p.part = Molecules::Part::training;
    Molecules training(p, world.context);
    training.open(world.context);
    CHECK(training.size() + test.size() == 20);
    all += test.size();
  }
  CHECK(all == 20);
}

TEST_CASE("atomic configurations of other data sets are molecules, with their cells", "[messages]") {
  std::string symbols = "Si O";
  const std::vector<std::int32_t> type{1, 0, 1};
  const std::vector<double> coord{0, 0, 0, 1.6, 0, 0, 0, 1.6, 0}, box{5, 0, 0, 1, 6, 0, 0, 2, 7}, energy{-3.5},
      force{1, 2, 3, 4, 5, 6, -5, -7, -9};
  const auto with = [&](bool cell) {
    train::Sample sample;
    sample.id = 4;
    sample.fields["species"] =
        io::tensor_of(reinterpret_cast<const std::uint8_t*>(symbols.data()), {std::ssize(symbols)});
    sample.fields["type"] = io::tensor_of(type);
    sample.fields["coord"] = io::tensor_of(coord.data(), {3, 3});
    if (cell) sample.fields["box"] = io::tensor_of(box.data(), {3, 3});
    sample.fields["energy"] = io::tensor_of(energy);
    sample.fields["force"] = io::tensor_of(force.data(), {3, 3});
    return sample;
  };
  const auto sample = with(true), open = with(false);
  const auto m = molecule_of(sample);
  CHECK(m.species == std::vector<std::int32_t>{8, 14, 8});
  CHECK(std::vector<double>(m.position.begin(), m.position.end()) == coord);
  CHECK(std::vector<double>(m.cell.begin(), m.cell.end()) == box);
  CHECK(std::vector<double>(m.force.begin(), m.force.end()) == force);
  CHECK(m.energy == -3.5);
  CHECK(m.periodic());
  CHECK_FALSE(molecule_of(open).periodic());
  symbols = "Si Xx";
  CHECK(message([&] { molecule_of(with(true)); }) == "'Xx' in sample 4 is no element");
}

TEST_CASE("pairs of a periodic cell are those of its images, each once") {
  Molecule m;
  m.species = {14, 14, 8};
  m.position = {0.1, 0.2, 0.3, 9.4, -7.0, 1.2, 1.1, 2.3, 30.0};  // in any image
  m.cell = {3.1, 0, 0, 0.7, 4.2, 0, -0.4, 0.9, 5.3};
  MoleculeView view;
  view.species = m.species;
  view.position = m.position;
  view.cell = m.cell;
  const double cutoff = 6.1;
  AtomPairs found;
  add_pairs(view, cutoff, 10, found);
  std::multiset<std::int64_t> lengths, expected;  // in 1e-9 Å
  for (std::size_t k = 0; k < found.first.size(); ++k) {
    const auto a = found.first[k] - 10, b = found.second[k] - 10;
    double square = 0.0;
    for (int x = 0; x < 3; ++x)
      square += std::pow(m.position[3 * b + x] + found.shift[3 * k + x] - m.position[3 * a + x], 2);
    lengths.insert(std::llround(1e9 * std::sqrt(square)) * 100 + 10 * a + b);
  }
  constexpr int far = 20;
  for (int a = 0; a < 3; ++a)
    for (int b = a; b < 3; ++b)
      for (int i = -far; i <= far; ++i)
        for (int j = -far; j <= far; ++j)
          for (int k = -far; k <= far; ++k) {
            double square = 0.0;
            for (int x = 0; x < 3; ++x)
              square += std::pow(
                  m.position[3 * b + x] - m.position[3 * a + x] + i * m.cell[x] + j * m.cell[3 + x] + k * m.cell[6 + x],
                  2);
            const bool once = a != b || std::array{i, j, k} > std::array{0, 0, 0};
            if (once && square < cutoff * cutoff)
              expected.insert(std::llround(1e9 * std::sqrt(square)) * 100 + 10 * a + b);
          }
  CHECK(lengths.size() > 50);
  CHECK(lengths == expected);
}

TEST_CASE("gdb1k", "[data]") {
  const auto path = gdb1k_file();
  if (path.empty()) return;
  const auto table = read_molecule_h5(path, "gdb1k");
  CHECK(table.molecules.size() == 960);
  CHECK(table.bonds);
  std::int64_t atoms = 0;
  for (const auto& m : table.molecules) atoms += m.atoms();
  CHECK(atoms == 13593);
}
