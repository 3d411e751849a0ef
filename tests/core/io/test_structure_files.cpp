// Structures read from files: what is right is read right, on any number of ranks, and what is wrong is said where.
#include <algorithm>
#include <cmath>

#include "core/io/structures/extxyz.hpp"
#include "core/particles/atom_ids.hpp"
#include "tests/catch.hpp"
#include "tests/core/io/structure_case.hpp"

using namespace cambium;
using namespace cambium::testing;

namespace {

const std::string two_frames = R"(2
Lattice="5.0 0.0 0.0 0.0 6.0 0.0 0.0 0.0 7.0" Properties=species:S:1:pos:R:3 pbc="T T T"
O 0.1 0.2 0.3
H 1.0 2.0 3.0
3
energy=-3.5 Lattice="5 0 0 0 6 0 0 0 8" Properties=id:I:1:species:S:1:pos:R:3:forces:R:3:velo:R:3 note='two words' done
3 H 1.0 2.0 3.0 9 9 9 0.5 -0.25 1e-2
1 O 0.5 +0.6 0.7 9 9 9 1 2 3
2 H 4.0 5.0 6.0 9 9 9 4 5 6
)";

}  // namespace

TEST_CASE("an extended XYZ frame is read: columns, species, velocities, ids") {
  const Comm self(MPI_COMM_SELF);
  const Structure last = read_xyz(two_frames, -1, self);
  CHECK(last.nglobal == 3);
  CHECK(last.box.h[2][2] == 8.0);
  REQUIRE(last.species.size() == 2);
  CHECK(last.species[0].symbol == "H");
  CHECK(last.species[1].symbol == "O");
  CHECK(last.tag == std::vector<std::int64_t>{3, 1, 2});
  CHECK(last.type == std::vector<int>{0, 1, 0});
  CHECK(last.x[1] == std::array<double, 3>{0.5, 0.6, 0.7});
  CHECK(last.v[0] == std::array<double, 3>{0.5, -0.25, 0.01});

  for (int frame : {0, -2}) {
    const Structure first = read_xyz(two_frames, frame, self);
    CHECK(first.nglobal == 2);
    CHECK(first.box.h[2][2] == 7.0);
    CHECK_FALSE(first.has_velocities());
    CHECK(first.tag == std::vector<std::int64_t>{1, 2});
  }
  const Structure by_number =
      read_xyz("1\r\nLattice=\"3 0 0 0 3 0 0 0 3\" Properties=pos:R:3:Z:I:1\r\n1 1 1 29\r\n", 0, self);
  CHECK(by_number.species[0].symbol == "Cu");
}

TEST_CASE("momenta as ASE writes them become velocities, with the masses that it gives") {
  const Comm self(MPI_COMM_SELF);
  // ASE's unit of time is Å sqrt(g/mol / eV) = 10.180505 fs: a momentum of one mass is a speed of 98.226949 Å/ps.
  const std::string cell = "Lattice=\"5 0 0 0 5 0 0 0 5\" ";
  const Structure s =
      read_xyz("1\n" + cell + "Properties=species:S:1:pos:R:3:momenta:R:3\nAr 1 2 3 39.95 0 -79.9\n", -1, self);
  const Structure d =
      read_xyz("1\n" + cell + "Properties=species:S:1:pos:R:3:masses:R:1:momenta:R:3\nH 1 2 3 2 0 1 0\n", -1, self);
  REQUIRE(s.v.size() == 1);
  CHECK(s.v[0][0] == Approx(98.226949).epsilon(1e-7));
  CHECK(s.v[0][2] == Approx(-2.0 * 98.226949).epsilon(1e-7));
  CHECK(d.species[0].mass == 2.0);
  CHECK(d.v[0][1] == Approx(0.5 * 98.226949).epsilon(1e-7));
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:pos:R:3:momenta:R:3\nXx 1 2 3 1 0 0\n") ==
        "FILE:3: momenta of Xx, whose mass is not known: add the column masses:R:1, or write velocities (velo:R:3, in "
        "Å/ps)");
  CHECK(xyz_message("2\n" + cell + "Properties=species:S:1:pos:R:3:masses:R:1\nH 1 2 3 1\nH 2 2 3 2\n") ==
        "FILE:4: H has atoms of 1 and of 2 g/mol: name the isotopes differently, as in H and D");
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:pos:R:3:masses:R:1\nH 1 2 3 0\n") ==
        "FILE:3: the mass of an atom of H is 0 g/mol, but has to be above 0");
}

TEST_CASE("a cell in any orientation is turned with its atoms and velocities") {
  const Comm self(MPI_COMM_SELF);
  const Structure s = read_xyz(
      "2\nLattice=\"0 4 0 0 1 5 6 0 1\" Properties=species:S:1:pos:R:3:velo:R:3\n"
      "C 0 0 0 1 0 0\nC 3 2.5 3 0 2 0\n",
      -1, self);
  CHECK(s.box.h[0][0] == Approx(4.0));
  CHECK(s.box.h[0][1] == 0.0);
  CHECK(s.box.volume() == Approx(120.0));
  // The second atom is the middle of the cell in either frame.
  double f[3];
  s.box.to_fractional(s.x[1].data(), f);
  for (int k = 0; k < 3; ++k) CHECK(f[k] == Approx(0.5));
  CHECK(s.v[1][0] == Approx(2.0));                // along a
  CHECK(s.v[0][2] == Approx(1.0).epsilon(1e-9));  // normal to a and b
}

TEST_CASE("a left-handed cell is the same lattice with its vectors turned round") {
  const Comm self(MPI_COMM_SELF);
  const std::string columns = " Properties=species:S:1:pos:R:3:travel:I:3\n", atom = "Ar 1 2 3 2 -1 0\n";
  const Structure left = read_xyz("1\nLattice=\"0 5 0 4 0 0 0 1 6\" Origin=\"0.5 0 -1\"" + columns + atom, -1, self);
  CHECK(left.box.volume() == Approx(120.0));
  CHECK(left.image[0] == std::array<int, 3>{-2, 1, 0});
  double cell[3], fractional[3];
  const auto x = left.axes.inside(std::array<double, 3>{1, 2, 3}.data());
  CHECK(left.x[0] == x);
  for (int k = 0; k < 3; ++k) cell[k] = x[static_cast<std::size_t>(k)] - left.box.origin[k];
  left.box.to_fractional(left.x[0].data(), fractional);
  for (const double f : fractional) CHECK((f > 0.0 && f < 1.0));  // of the same parallelepiped
  const double length = std::sqrt(cell[0] * cell[0] + cell[1] * cell[1] + cell[2] * cell[2]);
  // From the corner across, (0.5, 0, -1) + (0, 5, 0) + (4, 0, 0) + (0, 1, 6) = (4.5, 6, 5).
  CHECK(length == Approx(std::sqrt(3.5 * 3.5 + 4.0 * 4.0 + 2.0 * 2.0)));
  CHECK(left.remarks.back().ends_with("the cell is left-handed: its vectors are turned round"));
  const auto rows = left.axes.cell(left.box);
  const std::array<double, 9> expected{0, -5, 0, -4, 0, 0, 0, -1, -6};
  for (std::size_t k = 0; k < 9; ++k) CHECK(rows[k] == Approx(expected[k]).margin(1e-12));
}

TEST_CASE("what the extended XYZ writer writes is read back, the corner of the cell included") {
  const Comm self(MPI_COMM_SELF);
  const Structure s = read_data(data, {"Cu", "Ni"}, self);
  io::Frame frame;
  frame.set_cell(s.box, s.axes);
  frame.species = s.species;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    frame.id.push_back(static_cast<std::int64_t>(i) + 1);
    frame.type.push_back(s.type[i]);
    frame.position.insert(frame.position.end(), s.x[i].begin(), s.x[i].end());
    frame.velocity.insert(frame.velocity.end(), s.v[i].begin(), s.v[i].end());
  }
  const Structure back = read_xyz(io::extxyz_text(frame), -1, self);
  for (int k = 0; k < 3; ++k) CHECK(back.box.origin[k] == s.box.origin[k]);
  for (int k = 0; k < 9; ++k) CHECK(back.box.h[k / 3][k % 3] == s.box.h[k / 3][k % 3]);
  CHECK(back.type == s.type);
  CHECK(back.x == s.x);
  CHECK(back.v == s.v);
}

TEST_CASE("a molecule without a cell, as ASE writes it, is put in vacuum") {
  const Comm self(MPI_COMM_SELF);
  const Structure s = read_xyz(
      "3\nProperties=species:S:1:pos:R:3:velo:R:3 pbc=\"F F F\"\nO 1 2 3 4 5 6\nH 1 2.5 3 0 0 0\nH 0 2 3.25 0 0 -1\n",
      -1, self);
  const double edges[3] = {21.0, 20.5, 20.25}, corner[3] = {-10.0, -8.0, -7.0};
  for (int k = 0; k < 3; ++k) {
    CHECK(s.box.origin[k] == corner[k]);
    for (int l = 0; l < 3; ++l) CHECK(s.box.h[k][l] == (k == l ? edges[k] : 0.0));
  }
  CHECK(s.x == std::vector<std::array<double, 3>>{{1, 2, 3}, {1, 2.5, 3}, {0, 2, 3.25}});
  CHECK(s.v[0] == std::array<double, 3>{4, 5, 6});
  CHECK(s.image.empty());
  REQUIRE(s.remarks.size() == 1);
  CHECK(s.remarks[0].ends_with("a cluster, put in a cell of 21 x 20.5 x 20.25 Å with 10 Å of vacuum on each side"));
}

TEST_CASE("faults of an extended XYZ file are said with their place") {
  const std::string cell = "Lattice=\"5 0 0 0 5 0 0 0 5\" ";
  CHECK(xyz_message(two_frames, 2) ==
        "FILE has no frame 2: it holds 2 frames, numbered 0 to 1 (or -1 to -2 from the end)");
  CHECK(xyz_message(two_frames.substr(0, two_frames.size() - 30)) ==
        "FILE:8: the file ends inside frame 1, which should hold 3 atoms: it was cut short; frame 0 is complete");
  CHECK(xyz_message("") == "FILE holds no atoms");
  CHECK(xyz_message("two\n\nO 1 2 3\n") == "FILE:1: expected a whole number for the number of atoms, found 'two'");
  CHECK(xyz_message("1\nProperties=species:S:1:pos:R:3\nO 1 2 3\n") ==
        "FILE:2: no Lattice=\"ax ay az bx by bz cx cy cz\" in the comment line: the periodic cell (Å) is needed");
  CHECK(xyz_message("1\nLattice=\"5 0 0 0 5 0\"\nO 1 2 3\n") == "FILE:2: Lattice holds 6 values, not 9");
  CHECK(xyz_message("1\n" + cell + "Origin=\"1 2\"\nO 1 2 3\n") == "FILE:2: Origin holds 2 values, not 3");
  CHECK(xyz_message("1\n" + cell + "lattice=\"5 0 0\"\nO 1 2 3\n") == "no error");
  CHECK(xyz_message("1\n" + cell + cell + "\nO 1 2 3\n") == "no error");
  CHECK(xyz_message("1\n" + cell + "Lattice=\"5 0 0\"\nO 1 2 3\n") ==
        "FILE:2: the key Lattice occurs twice, with '5 0 0 0 5 0 0 0 5' and with '5 0 0': leave one of them out");
  CHECK(xyz_message("1\n" + cell + "pbc=\"T no T\"\nO 1 2 3\n") ==
        "FILE:2: pbc=\"T no T\": expected T or F (or true, false, 1, 0), found 'no'");
  CHECK(xyz_message("1\n" + cell + "pbc=\"T T\"\nO 1 2 3\n") == "FILE:2: pbc=\"T T\" holds 2 values, not 3");
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:pos:Q:3\nO 1 2 3\n") ==
        "FILE:2: Properties=species:S:1:pos:Q:3: pos is of type 'Q', expected S, R, I or L");
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:pos:R:2\nO 1 2\n") ==
        "FILE:2: Properties=species:S:1:pos:R:2: pos has 2 columns, expected 3");
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:Z:I:1:pos:R:3\nO 9 1 2 3\n") ==
        "FILE:3: the species is O, but Z is 9: leave out the column that is wrong");
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:pos:R:3:travel:I:3\nO 1 2 3 0 2000000000 0\n") ==
        "FILE:3: the atom has crossed the cell 2e+09 times, expected less than 1e9");
  CHECK(xyz_message("\xFF\xFE"
                    "1") == "FILE: the text is in UTF-16; save it as UTF-8 or ASCII");
  CHECK(xyz_message("\x1F\x8B\x08") == "FILE: the file is compressed by gzip, expected text; unpack it (gunzip -k)");
  CHECK(xyz_message("PK\x03\x04") ==
        "FILE: the file is a zip archive, as .npz and .xlsx are, expected text; unpack it, or save its table as text");
  CHECK(xyz_message(std::string("1\n\0 2", 5)) ==
        "FILE: the file holds bytes of value 0, expected text; save it as text");
  CHECK(xyz_message("1\r" + cell + "\rO 1 2 3\r") ==
        "FILE: its lines end in CR alone, expected LF or CR LF; convert it: tr '\\r' '\\n'");
  CHECK(xyz_message("1\r\n" + cell + "\r\nO 1 2 3\r\n") == "no error");
  CHECK(xyz_message("1\nLattice=\"5 0 0\nO 1 2 3\n") == "FILE:2: the value of Lattice has no closing \"");
  CHECK(xyz_message("1\nLattice=\"5 0 0 0 5 0 5 5 0\"\nO 1 2 3\n") ==
        "FILE:2: the cell vectors (5 0 0), (0 5 0), (5 5 0) are flat or left-handed (volume 0): give three "
        "independent vectors in right-handed order");
  CHECK(xyz_message("1\n" + cell + "pbc=\"T T F\"\nO 1 2 3\n") ==
        "FILE:2: pbc=\"T T F\": only cells that are periodic in all three directions are simulated; put free surfaces "
        "between vacuum in a periodic cell");
  CHECK(xyz_message("1\n" + cell + "pbc=\"F F F\"\nO 1 2 3\n") ==
        "FILE:2: pbc=\"F F F\": only cells that are periodic in all three directions are simulated; put free surfaces "
        "between vacuum in a periodic cell, or leave Lattice out: molecules without a cell are put in one");
  CHECK(xyz_message("1\nProperties=species:S:1:pos:R:3 pbc=\"T T F\"\nO 1 2 3\n") ==
        "FILE:2: pbc=\"T T F\": only cells that are periodic in all three directions are simulated; put free surfaces "
        "between vacuum in a periodic cell");
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:forces:R:3\nO 1 2 3\n") ==
        "FILE:2: Properties=species:S:1:forces:R:3 lacks pos:R:3");
  CHECK(xyz_message("2\n" + cell + "\nO 1 2 3\nO 1 2\n") ==
        "FILE:4: expected 4 columns (species:S:1:pos:R:3), found 3");
  CHECK(xyz_message("1\n" + cell + "\nO 1 2 3x\n") == "FILE:3: expected a number for a position, found '3x'");
  CHECK(xyz_message("1\n" + cell + "\nO 1 2 nan\n") == "FILE:3: expected a number for a position, found 'nan'");
  CHECK(xyz_message("2\n" + cell + "Properties=id:I:1:species:S:1:pos:R:3\n7 O 1 2 3\n7 O 2 2 3\n") ==
        "FILE:4: atom id 7 is given twice");
  CHECK(problem_of_ids({7}) == "atom id 7 is outside of 1 to 1, the number of atoms: renumber the atoms without gaps");
  const Comm comm;
  CHECK_THROWS_WITH(io::read_extxyz("no_such_file.xyz", -1, comm),
                    "cannot open 'no_such_file.xyz': No such file or directory; check the path");
}

TEST_CASE("velocities are in the unit of their column, and refused where its name does not say one") {
  const Comm self(MPI_COMM_SELF);
  const std::string start = "1\nLattice=\"5 0 0 0 5 0 0 0 5\" ", columns = "Properties=species:S:1:pos:R:3:";
  CHECK(read_xyz(start + columns + "velo:R:3\nAr 1 2 3 1 0 2\n", -1, self).v[0] == std::array<double, 3>{1, 0, 2});
  const Structure gpumd = read_xyz(start + columns + "vel:R:3\nAr 1 2 3 0.001 0 0.002\n", -1, self);
  CHECK(gpumd.v[0][2] == Approx(2.0));
  REQUIRE(gpumd.remarks.size() == 1);
  CHECK(gpumd.remarks[0].ends_with(": the column vel was read in Å/fs"));
  const std::string how =
      "; give it in the deck, structure: {velocity_unit: angstrom/fs} or {velocity_unit: angstrom/ps}, "
      "or call it velo, in Å/ps";
  for (const std::string name : {"velocity", "velocities", "Velocity", "vels"}) {
    CHECK(xyz_message(start + columns + name + ":R:3\nAr 1 2 3 1 0 2\n") ==
          "FILE:2: the column " + name + " does not specify its unit: programs write it in Å/ps, Å/fs and ASE's unit" +
              how);
    const File file(start + columns + name + ":R:3\nAr 1 2 3 1 0 2\n");
    CHECK(io::read_extxyz(file.path, -1, self, "nm/ps").v[0][2] == Approx(20.0));
    CHECK_FALSE(io::read_extxyz(file.path, -1, self, "", false).has_velocities());
  }
  CHECK(xyz_message(start + "Timestep=5 " + columns + "vel:R:3\nAr 1 2 3 1 0 2\n") ==
        "FILE:2: the column vel does not specify its unit: LAMMPS' dump extxyz writes vel in the unit of its own "
        "style" +
            how);
  const File momenta(start + columns + "momenta:R:3\nAr 1 2 3 39.95 0 0\n");
  CHECK(io::read_extxyz(momenta.path, -1, self, "angstrom/fs").v[0][0] == Approx(98.226949).epsilon(1e-7));
  // QUIP's masses are eV fs^2/Å^2, 103.64 times g/mol, and its velocities Å/fs.
  const Structure quip = read_xyz(start + columns + "mass:R:1:velo:R:3\nSi 1 2 3 2910.8 0.001 0 0\n", -1, self);
  CHECK(quip.species[0].mass == Approx(28.085).epsilon(1e-4));
  CHECK(quip.v[0][0] == Approx(1.0));
  // 300 K in Å/fs, read in Å/ps: argon at 0.3 mK.
  const Structure cold = read_xyz(start + columns + "velo:R:3\nAr 1 2 3 0.004 0 0\n", -1, self);
  REQUIRE(cold.warnings.size() == 1);
  CHECK(cold.warnings[0].find("the column velo was read in Å/ps, which makes 0.000") != std::string::npos);
  CHECK(cold.warnings[0].ends_with(
      "in Å/fs: QUIP writes velo in Å/fs; where that is meant, set velocity_unit: angstrom/fs"));
  const Structure hot = read_xyz(start + columns + "vel:R:3\nAr 1 2 3 4 0 0\n", -1, self);
  REQUIRE(hot.warnings.size() == 1);
  CHECK(hot.warnings[0].ends_with(
      "some programs write vel in Å/ps; where that is meant, set velocity_unit: angstrom/ps"));
}

TEST_CASE("what a structure says beside its atoms is named once: columns not read, ids made anew, cell crossings") {
  const Comm self(MPI_COMM_SELF);
  const std::string start = "2\nLattice=\"5 0 0 0 5 0 0 0 5\" ";
  const Structure s = read_xyz(start +
                                   "Properties=id:I:1:species:S:1:pos:R:3:unwrapped_position:R:3:tags:I:1:forces:R:3:"
                                   "spin:R:3\n12 O 1 1 1 6 1 -9 0 9 9 9 1 1 1\n4 O 2 2 2 2 2 2 1 9 9 9 1 1 1\n",
                               -1, self);
  CHECK(s.tag == std::vector<std::int64_t>{2, 1});
  CHECK(s.image[0] == std::array<int, 3>{1, 0, -2});
  REQUIRE(s.remarks.size() == 2);
  CHECK(s.remarks[0].ends_with(": ids from 4 to 12 were made 1 to 2, in their order"));
  CHECK(s.remarks[1].ends_with(": columns not read: tags, spin"));
  const Structure plain = read_xyz(start + "\nO 1 1 1 0.5\nO 2 2 2 0.5\n", -1, self);
  REQUIRE(plain.remarks.size() == 1);
  CHECK(plain.remarks[0].ends_with(": column not read: those after the fourth"));
  const Structure travelled =
      read_xyz(start + "Properties=species:S:1:pos:R:3:travel:I:3\nO 1 1 1 0 1 -1\nO 2 2 2 0 0 0\n", -1, self);
  CHECK(travelled.image[0] == std::array<int, 3>{0, 1, -1});
}

TEST_CASE("atoms that ASE holds are warned of") {
  const Comm self(MPI_COMM_SELF);
  const std::string start = "2\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3:move_mask:L:";
  const Structure one = read_xyz(start + "1\nO 1 1 1 T\nO 2 2 2 F\n", -1, self);
  REQUIRE(one.warnings.size() == 1);
  CHECK(one.remarks.empty());
  CHECK(one.warnings[0].ends_with(
      ": move_mask of 1 atom is not read: all atoms move; hold a group of atoms in the deck"));
  const Structure directions = read_xyz(start + "3\nO 1 1 1 T T F\nO 2 2 2 F F F\n", -1, self);
  REQUIRE(directions.warnings.size() == 1);
  CHECK(directions.warnings[0].find("move_mask of 2 atoms") != std::string::npos);
  CHECK(read_xyz(start + "1\nO 1 1 1 T\nO 2 2 2 T\n", -1, self).warnings.empty());
}

TEST_CASE("masses that contradict their species are doubted") {
  const auto first = [](const std::vector<Species>& species) {
    const auto doubts = doubtful_masses(species);
    return doubts.empty() ? std::string() : doubts[0];
  };
  CHECK(doubtful_masses(std::vector<Species>{{"Na", 35.45}, {"Cl", 22.98977}}).size() == 2);
  CHECK(first({{"Na", 35.45}, {"Cl", 0.0}}) ==
        "the file gives 'Na' the mass 35.45 g/mol, which is nearer to that of Cl (35.45) than to its own (22.9898): "
        "check "
        "the order of the species, or set masses: {Na: ...}");
  CHECK(first({{"Ag", 63.55}}).find("nearer to that of Cu (63.546)") != std::string::npos);
  CHECK(first({{"Na", 22.99}, {"Cl", 35.4}, {"A", 12.0}, {"Ar", 36.0}}).empty());
  CHECK(first({{"H", 2.0}, {"O", 16.0}}).empty());
}
