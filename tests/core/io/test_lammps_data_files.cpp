// LAMMPS data files: units, atom styles, ids, cells, and what is wrong with its place.
#include <cmath>
#include <cstdio>

#include "tests/catch.hpp"
#include "tests/core/io/structure_case.hpp"

using namespace cambium;
using namespace cambium::testing;

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

TEST_CASE("a LAMMPS data file is read in the units of its title") {
  const Comm self(MPI_COMM_SELF);
  // Copper in a cell of 10 Å at 2 Å/ps, in every style: the manual's page units, electron as LAMMPS computes.
  struct Style {
    const char* name;
    double angstrom, per_ps, gram_per_mol;
  };
  const double bohr = 0.529177210903, mol = 6.02214076e23;
  for (const Style& u : {Style{"metal", 1, 1, 1}, Style{"real", 1, 1e3, 1}, Style{"si", 1e10, 1e-2, 1e3 * mol},
                         Style{"cgs", 1e8, 1e-4, mol}, Style{"electron", bohr, 1e3 * bohr, 1},
                         Style{"micro", 1e4, 1e-2, 1e-12 * mol}, Style{"nano", 10, 1e-2, 1e-18 * mol}}) {
    const auto edge = 10.0 / u.angstrom;
    char text[1000];
    std::snprintf(
        text, sizeof text,
        "\n\n1 atoms\n1 atom types\n\n0 %.17g xlo xhi\n0 %.17g ylo yhi\n%.17g %.17g zlo zhi\n%.17g 0 0 xy xz yz\n\n"
        "Masses\n\n1 %.17g\n\nAtoms # atomic\n\n1 1 %.17g 0 0\n\nVelocities\n\n1 0 %.17g 0\n",
        edge, edge, -edge, edge, 0.1 * edge, 63.546 / u.gram_per_mol, 0.3 * edge, 2.0 / u.per_ps);
    const std::string title =
        std::string("LAMMPS data file via write_data, version 2 Aug 2023, timestep = 5, units = ") + u.name;
    const File file("anything" + std::string(text));
    for (const Structure& s : {read_data(title + text, {"Cu"}, self),
                               io::read_lammps_data(file.path, std::vector<std::string>{"Cu"}, self, u.name)}) {
      CHECK(s.box.h[0][0] == Approx(10.0));
      CHECK(s.box.h[1][0] == Approx(1.0));
      CHECK(s.box.origin[2] == Approx(-10.0));
      CHECK(s.x[0][0] == Approx(3.0));
      CHECK(s.v[0][1] == Approx(2.0));
      CHECK(s.species[0].mass == Approx(63.546));
    }
  }
  const std::string rest =
      "\n\n1 atoms\n1 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nAtoms\n\n1 1 1 1 1\n\nVelocities"
      "\n\n1 0.004 0 0\n";
  const Structure unsaid = read_data("argon" + rest, {"Ar"}, self);
  REQUIRE(unsaid.warnings.size() == 1);
  CHECK(unsaid.warnings[0].ends_with("K in Å/fs: where the file is in LAMMPS' units real, set units: real"));
  REQUIRE(unsaid.remarks.size() == 1);
  CHECK(unsaid.remarks[0].ends_with(": the title names no units: velocities were read in those of metal, Å/ps"));
  const File both("argon, units = real" + rest);
  const Structure contrary = io::read_lammps_data(both.path, std::vector<std::string>{"Ar"}, self, "nano");
  REQUIRE(contrary.warnings.size() == 1);
  CHECK(contrary.warnings[0].ends_with(": the title has units = real, the deck units: nano, which is taken"));
  CHECK(contrary.x[0][0] == 10.0);
  CHECK(read_data("argon, units = real" + rest, {"Ar"}, self)
            .remarks[0]
            .ends_with(": the title has units = real: read as such"));
}

TEST_CASE("atom styles of a LAMMPS data file: named, with suffix, or judged by the lines") {
  const Comm self(MPI_COMM_SELF);
  const std::string head = "title\n\n2 atoms\n2 atom types\n0 bonds\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n";
  const auto of = [&](const std::string& remark, const std::string& one, const std::string& two) {
    return read_data(head + "Atoms" + remark + "\n\n1 " + one + "\n2 " + two + "\n", {"Cu", "Ni"}, self);
  };
  const std::string here = " 1 2 3", there = " 2 3 4";
  const auto right = [&](const Structure& s, int first, int second) {
    return s.type == std::vector<int>{first, second} && s.x[0] == std::array<double, 3>{1, 2, 3} &&
           s.x[1] == std::array<double, 3>{2, 3, 4};
  };
  for (const char* remark :
       {"", " # atomic", " #atomic", " # atomic/kk", " # atomic/omp", " # atoms of the film", " # full box"})
    CHECK(right(of(remark, "2" + here, "1" + there), 1, 0));
  const Structure flags = of("", "2" + here + " 0 -1 5", "1" + there + " 0 0 0");
  CHECK(right(flags, 1, 0));
  CHECK(flags.image[0] == std::array<int, 3>{0, -1, 5});
  CHECK(right(of(" # charge/gpu", "2 1" + here, "1 -1" + there), 1, 0));
  CHECK(right(of("", "2 1" + here, "1 -1" + there), 1, 0));  // -1 is no type: a charge
  CHECK(right(of("", "2 0.5" + here, "1 -0.5" + there), 1, 0));
  CHECK(right(of("", "7 2" + here, "7 1" + there), 1, 0));  // 7 is no type: a molecule
  CHECK(right(of(" # bond", "1 2" + here, "2 1" + there), 1, 0));
  CHECK(right(of("", "1 2 -0.8" + here, "1 1 0.4" + there), 1, 0));
  CHECK(right(of(" # full/kk", "1 2 -0.8" + here + " 1 0 0", "1 1 0.4" + there + " 0 0 0"), 1, 0));
  CHECK(right(of(" # sphere", "2 0.5 1.0" + here, "1 0.5 1.0" + there), 1, 0));
  CHECK(right(of(" # dipole", "2 0" + here + " 1 0 0", "1 0" + there + " 1 0 0"), 1, 0));
  CHECK(right(of(" # hybrid", "2" + here + " 0.3 7", "1" + there + " 0.3 7"), 1, 0));
  CHECK(of(" # hybrid", "2" + here + " 0.3 1 2 3", "1" + there + " 0.3 0 0 0").image[0] == std::array<int, 3>{1, 2, 3});
  CHECK(of(" # full", "1 2 0" + here, "1 1 0" + there)
            .remarks[0]
            .ends_with(": atom style full: not read: molecule ids, charges"));
  const std::string two = head + "Atoms\n\n1 1 2" + here + "\n2 2 1" + there + "\n";
  CHECK(data_message(two, {"Cu", "Ni"}) ==
        "FILE:10: the lines of Atoms have 6 words, which may be atom style charge or molecular or angle or bond or dpd "
        "or "
        "mdpd: give it after the section's name, as in 'Atoms # charge'");
}

TEST_CASE("types of one species are merged, ids with gaps made anew, and a general cell is turned") {
  const Comm self(MPI_COMM_SELF);
  const Structure s = read_data(
      "title\n\n3 atoms\n3 atom types\n0 4 0 avec\n-5 0 0 bvec\n0 0 6 cvec\n1 1 1 abc origin\n\n"
      "Masses\n\n1 63.55\n2 58.69\n3 63.546\n\nBonds\n\n1 1 1 2\n\nAtoms\n\n"
      "70 3 1 3 1\n5 2 0 1 1\n9 1 1 1 2\n\nVelocities\n\n9 0 1 0\n5 0 0 0\n70 -2 0 0\n",
      {"Cu", "Ni", "Cu"}, self);
  REQUIRE(s.species.size() == 2);
  CHECK(s.type == std::vector<int>{0, 1, 0});
  CHECK(s.tag == std::vector<std::int64_t>{3, 1, 2});
  CHECK(s.box.h[0][0] == Approx(4.0));
  CHECK(s.box.h[1][1] == Approx(5.0));
  double f[3];
  s.box.to_fractional(s.x[0].data(), f);  // half a from the corner
  CHECK(f[0] == Approx(0.5));
  CHECK(f[1] == Approx(0.0).margin(1e-12));
  s.box.to_fractional(s.x[1].data(), f);  // a fifth of b
  CHECK(f[1] == Approx(0.2));
  CHECK(s.v[0][1] == Approx(2.0));  // along b
  CHECK(s.v[2][0] == Approx(1.0));  // along a
  REQUIRE(s.remarks.size() == 3);
  CHECK(s.remarks[0].ends_with(": ids from 5 to 70 were made 1 to 3, in their order"));
  CHECK(s.remarks[1].ends_with(": sections not read: Bonds"));
  const Structure zero = read_data(
      "title\n\n2 atoms\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\nAtoms\n\n"
      "0 1 1 2 3\n0 1 2 2 3\n",
      {"Cu"}, self);
  CHECK(zero.tag == std::vector<std::int64_t>{1, 2});
  CHECK(zero.remarks[0].ends_with(": all ids are 0: atoms are numbered in the order of the file"));
  const Structure few = read_data(
      "title, units = metal\n\n2 atoms\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n"
      "Atoms\n\n1 1 1 2 3\n2 1 2 2 3\n\nVelocities\n\n2 1 1 1\n",
      {"Cu"}, self);
  CHECK(few.warnings[0].ends_with(": Velocities has 1 lines for 2 atoms; the others are at rest"));
}

TEST_CASE("faults of a LAMMPS data file are said with their place") {
  const std::string head = "title\n\n2 atoms\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n";
  CHECK(data_message(head + "Atoms # full\n\n1 1 1 2 3\n2 1 1 2 3\n") ==
        "FILE:11: expected 'id mol type q x y z' or 'id mol type q x y z ix iy iz', found 5 words");
  CHECK(data_message(head + "Atoms\n\n1 1 1 1 1 1 1 1.5\n2 1 1 1 1 1 1 1\n") ==
        "FILE:9: the lines of Atoms have 8 words, which may be atom style atomic or bpm/sphere or electron or line or "
        "sph "
        "or template or tri: give it after the section's name, as in 'Atoms # atomic'");
  CHECK(data_message(head + "Atoms # in rows\n\n1 1 1\n2 1 1\n") ==
        "FILE:9: the lines of Atoms have 3 words, which no atom style has: give it after the section's name, as in "
        "'Atoms "
        "# atomic' ('in' is no atom style)");
  CHECK(data_message(head + "Atoms\n\n") == "FILE:9: the file ends after 0 of 2 atoms");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n") == "FILE:11: the file ends after 1 of 2 atoms");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n\nVelocities\n\n1 0 0 0\n") ==
        "FILE:13: expected 'id type x y z' or 'id type x y z ix iy iz', found 1 words after 1 of 2 atoms");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n2 2 1 2 3\n") == "FILE:12: type 2 is outside of 1 to 1 (atom types)");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n1 1 1 2 3\n") == "FILE:12: atom id 1 is given twice");
  CHECK(data_message(head + "Atoms\n\n1 1 1 2 3\n2 1 1 2 3\n", {"Cu", "Ni"}) ==
        "FILE has 1 atom types, but 2 names are given: name one species per type, in the order of the types (type 1 "
        "first): species: [...] in a deck, --species for a command");
  CHECK(data_message("title\n1 atoms\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\nAtoms\n\n1 1 1 2 3\n") ==
        "FILE lacks a line 'xlo xhi', 'ylo yhi' or 'zlo zhi', so it is no LAMMPS data file, as which it was read; ASE "
        "makes extended XYZ of CIF, PDB and others: ase.io.write(\"atoms.xyz\", ase.io.read(\"FILE\"))");
  CHECK(data_message("title\n1 atoms\n5 -5 xlo xhi\n") == "FILE:3: the cell ends at -5 before it begins at 5");
  CHECK(data_message("title\n1 atoms\n3 0 avec\n") == "FILE:3: expected three numbers in front of avec");
  CHECK(
      data_message("title\n1 atoms\n3 0 0 avec\n0 -3 0 bvec\n0 0 3 cvec\n") ==
      "FILE: the cell vectors (3 0 0), (0 -3 0), (0 0 3) are flat or left-handed (volume -27): give three independent "
      "vectors in right-handed order");
  CHECK(data_message("title\n1 atoms\n3 0 0 avec\n0 5 xlo xhi\n") ==
        "FILE gives the cell twice, by xlo xhi and by avec, bvec, cvec: leave one of them out");
  CHECK(data_message("ITEM: TIMESTEP\n0\n") ==
        "FILE:1: a dump of LAMMPS was found, expected a data file (write_data); a structure reads it with format: "
        "lammps_dump");
  CHECK(data_message("made with units = LJ\n1 atoms\n") ==
        "FILE:1: units = lj: numbers without units are no Å and no g/mol; convert the file, and specify the new units: "
        "structure: "
        "{units: metal}");
  const std::string two_types = "title\n\n1 atoms\n2 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\n";
  CHECK(data_message(two_types + "Masses\n\n1 63.5\n2 65\n\nAtoms\n\n1 1 1 2 3\n", {"Cu", "Cu"}) ==
        "FILE: two types are named Cu, but their masses are 63.5 and 65 g/mol: name them differently");
  CHECK(data_message(head) == "FILE has no section Atoms");
  CHECK(data_message("title\n1 atom types\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\nAtoms\n\n1 1 1 2 3\n") ==
        "FILE:7: the header has no line 'N atoms', which gives the number of lines of Atoms");
}
