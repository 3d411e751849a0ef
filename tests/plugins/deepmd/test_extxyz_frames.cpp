// Labelled frames of extended XYZ, as ASE, MACE, GPUMD, QUIP and LAMMPS write them, and slabs whose cell is widened.
#include <cmath>
#include <fstream>

#include "plugins/deepmd/data/extxyz_frames.hpp"
#include "plugins/deepmd/data/labelled_data.hpp"
#include "tests/catch.hpp"
#include "tests/core/io/spelling.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::deepmd;

namespace {

const std::string cell = "Lattice=\"4 0 0 0 5 0 0 0 6\" ", columns = "Properties=species:S:1:pos:R:3:";

struct Frames {
  Scratch scratch{"extxyz_frames"};
  std::vector<ExtxyzFrame> all;
  std::vector<std::string> remarks;
  explicit Frames(const std::string& text) {
    std::ofstream(scratch.file("a.xyz")) << text;
    all = read_extxyz_frames(scratch.file("a.xyz"));
    remarks = label_remarks("a.xyz", all);
  }
};

LabelledFrame read(const std::string& comment, const std::string& rows = "Cu 1 2 3 0.5 0 -1") {
  return Frames("1\n" + comment + "\n" + rows + "\n").all.at(0).frame;
}

}  // namespace

TEST_CASE("labels under the names that programs write") {
  const std::string stress = "=\"1 0 0 0 2 0 0 0 3\"";
  for (const std::string name : {"forces", "force", "Forces", "REF_forces", "REF_force", "MACE_forces"})
    CHECK(read(cell + columns + name + ":R:3").force.at(0) == std::array<double, 3>{0.5, 0, -1});
  for (const std::string name : {"energy", "Energy", "ENERGY", "REF_energy", "MACE_energy"})
    CHECK(read(cell + columns + "forces:R:3 " + name + "=\"-3.5\"").energy == -3.5);
  // A virial is -volume times ASE's stress: 120 Å^3.
  for (const std::string name : {"stress", "REF_stress", "MACE_stress"})
    CHECK(read(cell + columns + "forces:R:3 " + name + stress).virial.at(4) == Approx(-240.0));
  for (const std::string name : {"virial", "virials", "Virial", "REF_virial", "REF_virials"})
    CHECK(read(cell + columns + "forces:R:3 " + name + "={1 0 0 0 2 0 0 0 3} stress=\"9 9 9 0 0 0\"").virial.at(8) ==
          3.0);
  // LAMMPS' dump extxyz writes its pressure so, in its own unit.
  CHECK(read(cell + columns + "forces:R:3 Timestep=5 Potential_energy=-3 Stress" + stress).virial.empty());
  CHECK(!read(cell + columns + "forces:R:3 Potential_energy=-3").energy);
}

TEST_CASE("names of labels that are not the deck's are said, and where frames differ") {
  const std::string one = "1\n" + cell + columns + "REF_forces:R:3 REF_energy=-1 config_type=bulk\nCu 1 2 3 0 0 0\n";
  const Frames same(one + one), other(one + "1\n" + cell + columns + "forces:R:3 energy=-1\nCu 1 2 3 0 0 0\n");
  CHECK(same.remarks == std::vector<std::string>{"a.xyz: energy is read from REF_energy",
                                                 "a.xyz: forces are read from column REF_forces"});
  CHECK(other.remarks == std::vector<std::string>{"a.xyz: energy is read from REF_energy in 1 of 2 frames",
                                                  "a.xyz: forces are read from column REF_forces in 1 of 2 frames"});
  CHECK(same.all[0].unread == std::vector<std::string>{"config_type"});
  const Frames both("1\n" + cell + columns +
                    "forces:R:3:REF_forces:R:3 energy=-1 REF_energy=-2\nCu 1 2 3 1 1 1 0 0 0\n");
  CHECK(LabelledData::load(both.scratch.file("a.xyz")).remarks().size() == 3);
  CHECK(both.all[0].frame.energy == -1.0);
  CHECK(both.all[0].frame.force[0][0] == 1.0);
  CHECK(both.remarks == std::vector<std::string>{"a.xyz: columns not read: REF_forces"});
  CHECK(both.all[0].unread == std::vector<std::string>{"REF_energy", "column REF_forces"});
  CHECK(label_doubts("a.xyz", both.all) ==
        std::vector<std::string>{"a.xyz: energy and REF_energy differ in 1 of 1 frames, and energy is read; where "
                                 "REF_energy is meant, write energy: REF_energy",
                                 "a.xyz: forces and REF_forces differ in 1 of 1 frames, and forces is read; where "
                                 "REF_forces is meant, write force: REF_forces"});
  CHECK(label_doubts("a.xyz", other.all).empty());
  // A program that copies its labels, and a model's own answers, leave no doubt.
  const Frames alike("1\n" + cell + columns +
                     "forces:R:3:REF_forces:R:3:MACE_forces:R:3 energy=-1 REF_energy=-1.0 MACE_energy=-2\n"
                     "Cu 1 2 3 1 1 1 1.0 1 1 0 0 0\n");
  CHECK(label_doubts("a.xyz", alike.all).empty());
  const Frames again(one);
  CHECK(LabelledData::load(again.scratch.file("a.xyz")).remarks().size() == 2);
}

TEST_CASE("periodic in all directions, in some, in none") {
  const std::string rest = columns + "forces:R:3 ", row = "Cu 1 2 3 0 0 0";
  for (const std::string yes : {"\"T T T\"", "[true, true, true]", "'1 1 1'", "{t t t}", "T", "\"TRUE TRUE TRUE\""}) {
    const auto frame = read(cell + rest + "pbc=" + yes, row);
    REQUIRE(frame.box);
    CHECK(frame.box->h[2][2] == 6.0);
  }
  CHECK(read(cell + rest, row).box);
  for (const std::string no : {"\"F F F\"", "[false, false, false]", "F", "'0 0 0'"})
    CHECK(!read(cell + rest + "pbc=" + no, row).box);
  CHECK(!read(rest, row).box);
  CHECK(!read(rest + "pbc=\"F F F\"", row).box);

  // A slab: the periodic vectors stay, no image along the third is nearer than 40 Å, stress goes with the file's
  // volume.
  const std::string rows = "Cu 1 2 0 0 0 0\nCu 1 2 9 0 0 1";
  for (const std::string third : {"0 0 12", "0 0 0", "3 1 12"}) {
    const LabelledFrame slab =
        Frames("2\nLattice=\"4 0 0 1 5 0 " + third + "\" " + rest + "pbc=\"T T F\" energy=1\n" + rows + "\n")
            .all[0]
            .frame;
    REQUIRE(slab.box);
    CHECK(slab.box->h[0][0] == Approx(4.0));
    CHECK(slab.box->h[1][1] == Approx(5.0));
    CHECK(slab.box->h[2][2] == Approx(49.0));
    CHECK(slab.box->h[2][0] == Approx(0.0).margin(1e-12));
    CHECK(slab.axes.vector(slab.force[1].data())[2] == Approx(1.0));
    CHECK(slab.open == std::array{false, false, true});
  }
  CHECK(read(cell + rest + "pbc=\"T T F\" stress=\"1 2 3 0 0 0\"", row).virial.at(0) == Approx(-120.0));
  const LabelledFrame wire =
      Frames("2\nLattice=\"0 0 0 0 0 0 0 0 6\" " + rest + "pbc=\"F F T\"\n" + rows + "\n").all[0].frame;
  REQUIRE(wire.box);
  double shortest = 1e9;
  for (int r = 0; r < 3; ++r) shortest = std::min(shortest, wire.box->h[r][r]);
  CHECK(shortest == Approx(6.0));
  CHECK(wire.box->volume() == Approx(6.0 * 40.0 * 40.0));
}

TEST_CASE("labels in five hundred spellings are the same labels") {
  using cambium::testing::Spelling;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    Spelling s(seed);
    std::vector<std::string> nine;
    for (const double x : {1.0, 0.25, 0.0, 0.25, 2.0, 0.5, 0.0, 0.5, 3.0}) nine.push_back(s.number(x, true));
    std::string list;
    for (std::size_t k = 0; k < 9; ++k) list += (k ? s.one_of({" ", ",", ", ", "\t"}) : "") + nine[k];
    const std::vector<std::string> around = {"\"\"", "''", "{}", "[]"};
    const std::string mark = s.one_of(around);
    const std::string equal = s.one_of({"=", " = ", "= ", " ="});
    const std::string energy = s.number(-3.5, true);
    std::vector<std::string> keys = {
        "energy" + equal +
            s.one_of({energy, '"' + energy + '"', "'" + energy + "'", "[" + energy + "]", "\"_JSON " + energy + '"'}),
        s.one_of({"virial", "stress"}) + equal + mark[0] + list + mark[1],
        cell,
        columns + "forces:R:3",
        "note=\"energy=5 stress=\\\"9\\\"\"",
        "pbc" + equal + s.one_of({"\"T T T\"", "T", "[true,true,true]"})};
    const bool stress = keys[1].starts_with("stress");
    s.shuffle(keys);
    std::string comment;
    for (const auto& key : keys) comment += key + " ";
    INFO(comment);
    const LabelledFrame frame = read(comment);
    REQUIRE(frame.energy == -3.5);
    REQUIRE(frame.virial.size() == 9);
    REQUIRE(frame.virial[1] == Approx(stress ? -30.0 : 0.25));
    REQUIRE(frame.virial[8] == Approx(stress ? -360.0 : 3.0));
    REQUIRE(frame.box->h[1][1] == 5.0);
  }
}
