// Structures read from files: what is right is read right, on any number of ranks, and what is wrong is said where.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "core/io/structures/extxyz.hpp"
#include "core/io/structures/extxyz_reader.hpp"
#include "core/io/structures/lammps_data_reader.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

/// A file that rank 0 writes and takes away again; every rank has its own name for it, only rank 0's is read.
struct File {
  std::string path;
  explicit File(const std::string& text)
      : path((std::filesystem::temp_directory_path() / ("structure_" + std::to_string(::getpid()))).string()) {
    std::ofstream(path) << text;
  }
  ~File() { std::remove(path.c_str()); }
};

/// The message of reading `text`, without the path in front of it. Rank 0's path is in the text on every rank.
template <class Read>
std::string message(const std::string& text, Read read) {
  const Comm comm;
  const File file(text);
  std::string root_path = file.path;
  comm.broadcast(root_path);
  try {
    read(file.path, comm);
  } catch (const InputError& error) {
    std::string what = error.what();
    for (std::size_t at; (at = what.find(root_path)) != std::string::npos;) what.replace(at, root_path.size(), "FILE");
    return what;
  }
  return "no error";
}

std::string xyz_message(const std::string& text, int frame = -1) {
  return message(text, [frame](const std::string& path, const Comm& comm) { io::read_extxyz(path, frame, comm); });
}

std::string data_message(const std::string& text, std::vector<std::string> species = {"Cu"}) {
  return message(text, [&](const std::string& path, const Comm& comm) { io::read_lammps_data(path, species, comm); });
}

Structure read_xyz(const std::string& text, int frame, const Comm& comm) {
  const File file(text);
  return io::read_extxyz(file.path, frame, comm);
}

Structure read_data(const std::string& text, const std::vector<std::string>& species, const Comm& comm) {
  const File file(text);
  return io::read_lammps_data(file.path, species, comm);
}

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

const std::string data = R"(LAMMPS data file: two kinds of atoms in a skewed cell

4 atoms
2 atom types
0 bonds

-1.0 9.0 xlo xhi
0.0 8.0 ylo yhi   # a remark
0.5 7.5 zlo zhi
1.5 -0.5 0.25 xy xz yz

Masses

1 63.5
2 58.7

Pair Coeffs # eam/alloy

1 some thing
2 some thing

Atoms # atomic

4 1 0.0 0.0 0.5 0 0 0
2 2 1.0 2.0 3.0 1 -2 0
1 1 4.0 5.0 6.0
3 2 7.0 7.5 7.25 0 0 3

Velocities

1 0.1 0.2 0.3
3 -1 -2 -3
2 4 5 6
4 7 8 9
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

TEST_CASE("a LAMMPS data file is read: tilted cell, images, velocities by id, masses") {
  const Comm self(MPI_COMM_SELF);
  const Structure s = read_data(data, {"Cu", "Ni"}, self);
  CHECK(s.nglobal == 4);
  CHECK(s.box.origin[0] == -1.0);
  CHECK(s.box.origin[2] == 0.5);
  const double h[3][3] = {{10, 0, 0}, {1.5, 8, 0}, {-0.5, 0.25, 7}};
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) CHECK(s.box.h[r][k] == h[r][k]);
  CHECK(s.tag == std::vector<std::int64_t>{4, 2, 1, 3});
  CHECK(s.type == std::vector<int>{0, 1, 0, 1});
  CHECK(s.x[1] == std::array<double, 3>{1, 2, 3});
  CHECK(s.image[1] == std::array<int, 3>{1, -2, 0});
  CHECK(s.v[1] == std::array<double, 3>{4, 5, 6});
  CHECK(s.v[3] == std::array<double, 3>{-1, -2, -3});
  const Particles p = particles_of(s);
  CHECK(p.species[0].mass == 63.5);
  const std::vector<Species> declared = {{"Ni", 0.0}, {"Cu", 60.0}};
  const Particles q = particles_of(s, declared);
  CHECK(q.species[0].mass == 58.7);
  CHECK(q.species[1].mass == 60.0);
}

TEST_CASE("type labels name the species") {
  const Comm self(MPI_COMM_SELF);
  const Structure s = read_data(
      "title\n\n1 atoms\n2 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n"
      "Atom Type Labels\n\n1 Si\n2 C\n\nMasses\n\nC 12.5\nSi 28\n\nAtoms\n\n1 C 1 2 3\n",
      {}, self);
  CHECK(s.species[0].symbol == "Si");
  CHECK(s.species[1].mass == 12.5);
  CHECK(s.type[0] == 1);
}

TEST_CASE("every rank gets its share of what rank 0 reads") {
  const Comm world, self(MPI_COMM_SELF);
  const Structure all = read_data(data, {"Cu", "Ni"}, self), mine = read_data(data, {"Cu", "Ni"}, world);
  CHECK(mine.nglobal == 4);
  CHECK(mine.species[1].symbol == "Ni");
  CHECK(mine.species[1].mass == 58.7);
  CHECK(mine.box.h[2][0] == -0.5);
  CHECK(mine.box.origin[2] == 0.5);
  const auto [begin, end] = even_share(4, world.rank(), world.size());
  REQUIRE(static_cast<std::int64_t>(mine.tag.size()) == end - begin);
  for (std::int64_t i = begin; i < end; ++i) {
    CHECK(mine.tag[i - begin] == all.tag[i]);
    CHECK(mine.type[i - begin] == all.type[i]);
    CHECK(mine.x[i - begin] == all.x[i]);
    CHECK(mine.v[i - begin] == all.v[i]);
    CHECK(mine.image[i - begin] == all.image[i]);
  }
}

TEST_CASE("faults of an extended XYZ file are said with their place") {
  const std::string cell = "Lattice=\"5 0 0 0 5 0 0 0 5\" ";
  CHECK(xyz_message(two_frames, 2) ==
        "FILE has no frame 2: it holds 2 frames, numbered 0 to 1 (or -1 to -2 from the end)");
  CHECK(xyz_message(two_frames.substr(0, two_frames.size() - 30)) ==
        "FILE:8: the file ends inside frame 1, which should hold 3 atoms: it was cut short; frame 0 is whole");
  CHECK(xyz_message("") == "FILE holds no atoms");
  CHECK(xyz_message("two\n\nO 1 2 3\n") == "FILE:1: expected a whole number for the number of atoms, found 'two'");
  CHECK(xyz_message("1\nProperties=species:S:1:pos:R:3\nO 1 2 3\n") ==
        "FILE:2: no Lattice=\"ax ay az bx by bz cx cy cz\" in the comment line: the periodic cell (Å) is needed");
  CHECK(xyz_message("1\nLattice=\"5 0 0 0 5 0\"\nO 1 2 3\n") == "FILE:2: Lattice holds 6 numbers, not 9");
  CHECK(xyz_message("1\n" + cell + "Origin=\"1 2\"\nO 1 2 3\n") == "FILE:2: Origin holds 2 numbers, not 3");
  CHECK(xyz_message("1\nLattice=\"5 0 0\nO 1 2 3\n") == "FILE:2: the value of Lattice has no closing \"");
  CHECK(xyz_message("1\nLattice=\"0 5 0 5 0 0 0 0 5\"\nO 1 2 3\n") ==
        "FILE:2: the cell vectors (0 5 0), (5 0 0), (0 0 5) are flat or left-handed (volume -125): give three "
        "independent vectors in right-handed order");
  CHECK(xyz_message("1\n" + cell + "pbc=\"T T F\"\nO 1 2 3\n") ==
        "FILE:2: pbc=\"T T F\": only cells that are periodic in all three directions are simulated; put free surfaces "
        "between vacuum in a periodic cell");
  CHECK(xyz_message("1\n" + cell + "Properties=species:S:1:forces:R:3\nO 1 2 3\n") ==
        "FILE:2: Properties=species:S:1:forces:R:3 lacks pos:R:3");
  CHECK(xyz_message("2\n" + cell + "\nO 1 2 3\nO 1 2\n") ==
        "FILE:4: expected 4 columns (species:S:1:pos:R:3), found 3");
  CHECK(xyz_message("1\n" + cell + "\nO 1 2 3x\n") == "FILE:3: expected a number for a position, found '3x'");
  CHECK(xyz_message("1\n" + cell + "\nO 1 2 nan\n") == "FILE:3: expected a number for a position, found 'nan'");
  CHECK(xyz_message("1\n" + cell + "Properties=id:I:1:species:S:1:pos:R:3\n7 O 1 2 3\n") ==
        "FILE:3: atom id 7 is outside of 1 to 1, the number of atoms: renumber the atoms without gaps");
  const Comm comm;
  CHECK_THROWS_WITH(io::read_extxyz("no_such_file.xyz", -1, comm),
                    "cannot open 'no_such_file.xyz': No such file or directory; check the path");
}

TEST_CASE("faults of a LAMMPS data file are said with their place") {
  const std::string head = "title\n\n2 atoms\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n";
  CHECK(data_message(head + "Atoms # full\n\n1 1 1 0 1 2 3\n") ==
        "FILE:9: atom style 'full' is not read, only 'atomic' (id type x y z): change the style with LAMMPS "
        "(atom_style atomic, read_data, write_data)");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n") == "FILE:11: the file ends after 1 of 2 atoms");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n\nVelocities\n\n1 0 0 0\n") ==
        "FILE:13: expected 'id type x y z' or 'id type x y z ix iy iz', found 1 words after 1 of 2 atoms");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n2 2 1 2 3\n") == "FILE:12: type 2 is outside of 1 to 1 (atom types)");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n1 1 1 2 3\n") == "FILE:12: atom id 1 is given twice");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n2 1 1 2 3\n", {"Cu", "Ni"}) ==
        "FILE has 1 atom types, but 2 names are given: name one species per type, in the order of the types (type 1 "
        "first)");
  CHECK(data_message("title\n1 atoms\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\nAtoms\n\n1 1 1 2 3\n") ==
        "FILE lacks a line 'xlo xhi', 'ylo yhi' or 'zlo zhi', so it is no LAMMPS data file, as which it was read; ASE "
        "makes extended XYZ of POSCAR, CIF, PDB and others: ase.io.write(\"atoms.xyz\", ase.io.read(\"FILE\"))");
  CHECK(data_message("title\n1 atoms\n5 -5 xlo xhi\n") == "FILE:3: the cell ends at -5 before it begins at 5");
  CHECK(data_message("title\n1 atoms\n3 0 0 avec\n") ==
        "FILE:3: a general triclinic cell (avec, bvec, cvec): write the file with restricted triclinic vectors (xlo "
        "xhi ... xy xz yz)");
  CHECK(data_message(head) == "FILE has no section Atoms");
}
