// Dumps of LAMMPS: frames, cells, kinds of positions, orders of atoms and columns, units, and what is refused.
#include "core/base/constants.hpp"
#include "core/io/structures/lammps_dump_reader.hpp"
#include "tests/catch.hpp"
#include "tests/core/io/structure_case.hpp"

using namespace cambium;
using namespace cambium::testing;

namespace {

/// Bounds of the cell (8 0 0), (2 7 0), (-1 3 6) whose corner is (1, -2, 0.5): they enclose it.
const std::string tilted = "ITEM: BOX BOUNDS xy xz yz pp pp pp\n0 11 2\n-2 8 -1\n0.5 6.5 3\n";
const std::string three = "ITEM: NUMBER OF ATOMS\n3\n";

std::string frame(int step, const std::string& box, const std::string& atoms) {
  return "ITEM: TIMESTEP\n" + std::to_string(step) + "\n" + three + box + "ITEM: ATOMS " + atoms;
}

Structure read_dump(const std::string& text, const std::vector<std::string>& species = {}, std::int64_t frame = -1,
                    const std::string& units = "") {
  const Comm self(MPI_COMM_SELF);
  const File file(text);
  return io::read_lammps_dump(file.path, species, frame, self, units);
}

std::string dump_message(const std::string& text, const std::vector<std::string>& species = {},
                         std::int64_t frame = -1) {
  return message(text,
                 [&](const std::string& path, const Comm& comm) { io::read_lammps_dump(path, species, frame, comm); });
}

void check_place(const std::array<double, 3>& x, double a, double b, double c) {
  CHECK(x[0] == Approx(a).margin(1e-12));
  CHECK(x[1] == Approx(b).margin(1e-12));
  CHECK(x[2] == Approx(c).margin(1e-12));
}

}  // namespace

TEST_CASE("a tilted cell lies within the bounds of a dump") {
  const Structure s = read_dump(frame(0, tilted, "id element x y z\n1 Cu 1 -2 0.5\n2 O 2 2 2\n3 O 3 3 3\n"));
  const double h[3][3] = {{8, 0, 0}, {2, 7, 0}, {-1, 3, 6}}, origin[3] = {1, -2, 0.5};
  for (int r = 0; r < 3; ++r) {
    CHECK(s.box.origin[r] == origin[r]);
    for (int k = 0; k < 3; ++k) CHECK(s.box.h[r][k] == h[r][k]);
  }
  REQUIRE(s.species.size() == 2);
  CHECK(s.species[1].symbol == "O");
  CHECK(s.v.empty());
  CHECK(s.image.empty());
  const Structure general = read_dump(frame(0, "ITEM: BOX BOUNDS abc origin pp pp pp\n0 8 0 1\n-7 2 0 -2\n0 0 6 0.5\n",
                                            "id element x y z\n1 Cu 0 -2 0.5\n2 O 2 2 2\n3 O 3 3 3\n"));
  const auto cell = general.axes.cell(general.box);
  const std::array<double, 9> given = {0, 8, 0, -7, 2, 0, 0, 0, 6};
  for (std::size_t k = 0; k < 9; ++k) CHECK(cell[k] == Approx(given[k]).margin(1e-12));
  const auto back = general.axes.vector(general.x[0].data());
  check_place(back, 0, -2, 0.5);
}

TEST_CASE("scaled, wrapped and unwrapped positions are the same atoms") {
  const std::string ids = "1 1 ", two = "2 2 ", last = "3 2 ";
  const auto of = [&](const std::string& columns, const std::string& a, const std::string& b, const std::string& c) {
    return read_dump(frame(5, tilted, "id type " + columns + "\n" + last + c + "\n" + ids + a + "\n" + two + b + "\n"),
                     {"Cu", "O"});
  };
  // Fractional (1/4, 1/2, 1/2), one cell further along a: 1 + 2 + 1 - 0.5 = 3.5, -2 + 3.5 + 1.5 = 3, 0.5 + 3 = 3.5.
  for (const auto& s : {of("x y z ix iy iz", "3.5 3 3.5 1 0 0", "1 -2 0.5 0 0 0", "2 2 2 0 -1 0"),
                        of("xs ys zs ix iy iz", "0.25 0.5 0.5 1 0 0", "0 0 0 0 0 0", "0.1 0.1 0.1 0 0 0")}) {
    REQUIRE(s.tag == std::vector<std::int64_t>{3, 1, 2});
    check_place(s.x[1], 3.5, 3, 3.5);
    CHECK(s.image[1] == std::array<int, 3>{1, 0, 0});
    CHECK(s.species[s.type[1]].symbol == "Cu");
    CHECK(s.species[s.type[0]].symbol == "O");
  }
  for (const auto& s : {of("xu yu zu", "11.5 3 3.5", "1 -2 0.5", "2 2 2"),
                        of("xsu ysu zsu ix iy iz", "1.25 0.5 0.5 1 0 0", "0 0 0 0 0 0", "0 0 0 0 0 0")}) {
    check_place(s.x[1], 11.5, 3, 3.5);
    CHECK(s.image.empty());  // the position itself lies outside
  }
}

TEST_CASE("frames of a dump are counted from its beginning or its end") {
  const std::string cell = "ITEM: BOX BOUNDS pp pp pp\n0 5\n0 5\n0 5\n", columns = "id element x y z\n";
  const auto at = [&](int n) {
    std::string rows;
    for (int k = 1; k <= 3; ++k)
      rows += std::to_string(k) + " Ar 0." + std::to_string(n) + " 1 " + std::to_string(k) + "\n";
    return frame(100 * n, cell, columns + rows);
  };
  const std::string all = at(1) + at(2) + at(3);
  CHECK(read_dump(all).x[0][0] == 0.3);
  CHECK(read_dump(all, {}, 0).x[0][0] == 0.1);
  CHECK(read_dump(all, {}, -2).x[0][0] == 0.2);
  CHECK(dump_message(all, {}, 3) ==
        "FILE has no frame 3: it holds 3 frames, numbered 0 to 2 (or -1 to -3 from the end)");
  const std::string cut = all.substr(0, all.size() - 20);
  CHECK(dump_message(cut).find("the file ends inside frame 2, which should hold 3 atoms: it was cut short; frame 1 "
                               "is complete") != std::string::npos);
  CHECK(read_dump(cut, {}, 1).x[0][0] == 0.2);
  CHECK(dump_message("\n") == "FILE holds no frame");
}

TEST_CASE("units, velocities and masses of a dump") {
  const std::string cell = "ITEM: BOX BOUNDS pp pp pp\n0 5\n0 5\n0 5\n";
  const std::string rows =
      "id type mass x y z vx vy vz q\n9 1 39.95 1 2 3 0.001 0 0 -1\n4 1 39.95 4 4 4 0 0 0 1\n7 1 39.95 1 1 1 0 0 0 0\n";
  const Structure metal = read_dump(frame(0, cell, rows), {"Ar"});
  CHECK(metal.tag == std::vector<std::int64_t>{3, 1, 2});
  CHECK(metal.species[0].mass == 39.95);
  CHECK(metal.v[0][0] == 0.001);
  CHECK(read_dump(frame(0, cell, rows), {"Ar"}, -1, "real").v[0][0] == 1.0);
  const Structure named = read_dump("ITEM: UNITS\nelectron\nITEM: TIME\n0\n" + frame(0, cell, rows), {"Ar"});
  CHECK(named.box.h[0][0] == Approx(5.0 * constants::angstrom_per_bohr));
  CHECK(named.x[0][2] == Approx(3.0 * constants::angstrom_per_bohr));
  CHECK(named.remarks[0].ends_with(": the item UNITS has electron: read as such"));
  CHECK(dump_message("ITEM: UNITS\nlj\n" + frame(0, cell, rows), {"Ar"})
            .find("the units are lj: numbers without units") != std::string::npos);
}

TEST_CASE("incomplete velocities of a dump are a warning") {
  const Structure s =
      read_dump(frame(0, tilted, "id element x y z vx vy\n1 Cu 1 -2 0.5 1 2\n2 O 2 2 2 3 4\n3 O 3 3 3 5 6\n"));
  CHECK(s.v.empty());
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].ends_with(": velocities are not read: of the columns vx, vy and vz one is missing"));
}

TEST_CASE("dumps that leave something open are refused") {
  const std::string cell = "ITEM: BOX BOUNDS pp pp pp\n0 5\n0 5\n0 5\n", rows = "1 1 1 1 1\n2 2 2 2 2\n3 1 3 3 3\n";
  CHECK(dump_message(frame(0, cell, "id type x y z\n" + rows)) ==
        "FILE: the dump has type indices and no column element; name the types in their order (type 1 first): "
        "species: [...] in a deck, --species for a command");
  CHECK(dump_message(frame(0, cell, "id type x y z\n" + rows), {"Cu"}) ==
        "FILE:11: type 2, but 1 name is given: name one species per type, in the order of the types (type 1 first)");
  CHECK(dump_message(frame(0, cell, "id type element x y z\n1 1 C 1 1 1\n2 2 C 2 2 2\n3 1 C 3 3 3\n")) ==
        "FILE: atoms of several types are all called C, as LAMMPS does without `dump_modify element`; name the types: "
        "species: [...] in a deck, --species for a command");
  CHECK(read_dump(frame(0, cell, "id type element x y z\n1 1 C 1 1 1\n2 1 C 2 2 2\n3 1 C 3 3 3\n")).species[0].symbol ==
        "C");
  CHECK(
      dump_message(frame(0, "ITEM: BOX BOUNDS pp pp fs\n0 5\n0 5\n0 5\n", "id element x y z\n")) ==
      "FILE:5: the boundary is 'fs': only cells that are periodic (pp) in all three directions are simulated; put free "
      "surfaces between vacuum in a periodic cell");
  CHECK(dump_message(frame(0, cell, "id element vx vy vz\n1 Cu 1 1 1\n2 Cu 1 1 1\n3 Cu 1 1 1\n"))
            .find("FILE:9: the columns hold no positions") == 0);
  CHECK(dump_message(frame(0, cell, "id x y z\n1 1 1 1\n2 2 2 2\n3 3 3 3\n"))
            .find("FILE:9: the columns hold no species") == 0);
  CHECK(dump_message(frame(0, cell, "id element x y z\n1 Cu 1 1\n2 Cu 1 1 1\n3 Cu 1 1 1\n")) ==
        "FILE:10: expected 5 columns (id element x y z), found 4");
  CHECK(dump_message(frame(0, cell, "id element x y z\n1 Cu 1 1 1\n1 Cu 2 2 2\n3 Cu 3 3 3\n")).find("FILE") == 0);
  CHECK(dump_message("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ENTRIES\n3\n") ==
        "FILE:3: 'ITEM: NUMBER OF ENTRIES' is nothing of a dump of atoms (styles atom and custom)");
  CHECK(dump_message("ITEM: TIMESTEP\n0\nITEM: ATOMS id\n") ==
        "FILE:3: the frame has no 'ITEM: NUMBER OF ATOMS' before its atoms");
  const auto says = [](const std::string& text, const std::string& words) {
    const std::string said = dump_message(text);
    INFO(said);
    CHECK(said.find(words) != std::string::npos);
  };
  const std::string one = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n";
  says("hello\n", "FILE:1: expected an item ('ITEM: TIMESTEP'), found 'hello'");
  says("ITEM: TIMESTEP\n0\n", "the file ends where 'ITEM: ATOMS' should be: it was cut short");
  says(one + cell + "ITEM: ATOMS\n",
       "'ITEM: ATOMS' names no columns; LAMMPS writes them there, as in 'ITEM: ATOMS id type x y z'");
  says(one + "ITEM: BOX BOUNDS pp pp pp\n0\n0 5\n0 5\n", " numbers, bounds of the cell");
  says("ITEM: UNITS\nlj\n" + frame(0, cell, "id element x y z\n1 Cu 1 1 1\n2 Cu 2 2 2\n3 Cu 3 3 3\n"),
       "the units are lj: numbers without units are no Å and no g/mol; convert the file, and specify the "
       "new units: structure: {units: metal}");
  says("ITEM: UNITS\nodd\n" + frame(0, cell, "id element x y z\n1 Cu 1 1 1\n2 Cu 2 2 2\n3 Cu 3 3 3\n"),
       "'odd' is no style of LAMMPS' units");
  says(frame(0, cell, "id element mass x y z\n1 Cu 0 1 1 1\n2 Cu 63 2 2 2\n3 Cu 63 3 3 3\n"),
       "the mass is 0 g/mol, but has to be above 0");
  says(frame(0, cell, "id element mass x y z\n1 Cu 63 1 1 1\n2 Cu 65 2 2 2\n3 Cu 63 3 3 3\n"),
       "Cu has atoms of 63 and of 65 g/mol: name them differently");
}

TEST_CASE("a dump is known by its beginning") {
  const File dump("ITEM: TIMESTEP\n"), other("ITEMS\n");
  CHECK(io::is_lammps_dump(dump.path));
  CHECK_FALSE(io::is_lammps_dump(other.path));
  CHECK_FALSE(io::is_lammps_dump(other.path + "nowhere"));
}

TEST_CASE("all frames of a dump, with forces where they have them") {
  const std::string text =
      frame(0, tilted, "id element x y z fx fy fz\n1 Cu 1 -2 0.5 1 2 3\n2 O 2 2 2 0 0 0\n3 O 3 3 3 0 0 1\n") +
      frame(1, tilted, "element id zs ys xs\nO 3 0 0 0.5\nCu 1 0 0.5 0\nO 2 0.5 0 0\n");
  const File file(text), none("");
  const auto frames = io::read_lammps_dump_frames(file.path, {}, "electron");
  REQUIRE(frames.size() == 2);
  const double unit = constants::ev_per_hartree / constants::angstrom_per_bohr;
  REQUIRE(frames[0].force.size() == 3);
  check_place(frames[0].force[0], unit, 2 * unit, 3 * unit);
  check_place(frames[0].structure.x[1], 2 * constants::angstrom_per_bohr, 2 * constants::angstrom_per_bohr,
              2 * constants::angstrom_per_bohr);
  CHECK(frames[1].force.empty());
  CHECK(frames[1].structure.species[0].symbol == "O");
  CHECK(frames[1].structure.tag == std::vector<std::int64_t>{3, 1, 2});
  CHECK_THROWS_WITH(io::read_lammps_dump_frames(none.path, {}), none.path + " holds no frame");
}
