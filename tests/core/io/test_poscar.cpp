// VASP's POSCAR and CONTCAR: scalings, coordinates, species, velocities, and what is refused.
#include "core/io/structures/poscar_reader.hpp"
#include "tests/catch.hpp"
#include "tests/core/io/structure_case.hpp"

using namespace cambium;
using namespace cambium::testing;

namespace {

const std::string cell = " 4.0 0.0 0.0\n 0.0 5.0 0.0\n 0.0 0.0 6.0\n";

/// All atoms, on every rank.
struct Read {
  Structure share;
  std::vector<std::array<double, 3>> x, v;
  std::vector<std::string> symbol;
};

std::vector<std::array<double, 3>> all(const Comm& comm, const std::vector<std::array<double, 3>>& mine,
                                       const Structure& s) {
  std::vector<double> rows(static_cast<std::size_t>(3 * s.nglobal), 0.0);
  for (std::size_t i = 0; i < mine.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) rows[3 * static_cast<std::size_t>(s.tag[i] - 1) + k] = mine[i][k];
  comm.sum(rows);
  std::vector<std::array<double, 3>> out;
  for (std::size_t i = 0; i + 2 < rows.size(); i += 3) out.push_back({rows[i], rows[i + 1], rows[i + 2]});
  return out;
}

Read read(const std::string& text, std::vector<std::string> species = {}) {
  const Comm comm;
  const File file(text);
  Read out;
  out.share = io::read_poscar(file.path, species, comm);
  out.x = all(comm, out.share.x, out.share);
  if (comm.max(out.share.has_velocities() ? 1 : 0) == 1) out.v = all(comm, out.share.v, out.share);
  std::vector<double> type(static_cast<std::size_t>(out.share.nglobal), 0.0);
  for (std::size_t i = 0; i < out.share.type.size(); ++i)
    type[static_cast<std::size_t>(out.share.tag[i] - 1)] = out.share.type[i];
  comm.sum(type);
  for (const double t : type) out.symbol.push_back(out.share.species[static_cast<std::size_t>(t)].symbol);
  return out;
}

std::string refusal(const std::string& text, std::vector<std::string> species = {}) {
  return message(text, [&](const std::string& path, const Comm& comm) { io::read_poscar(path, species, comm); });
}

void check_near(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  for (std::size_t k = 0; k < 3; ++k) CHECK(a[k] == Approx(b[k]).margin(1e-12));
}

}  // namespace

TEST_CASE("poscar: direct coordinates, species of pseudopotentials, twice the same one") {
  const auto s = read("salt\n1.0\n" + cell + "Na_pv Cl/0a1b Na\n1 2 1\nDirect\n0 0 0\n0.5 0 0 Cl\n0 .5 0\n0 0 .5 T\n");
  CHECK(s.symbol == std::vector<std::string>{"Na", "Cl", "Cl", "Na"});
  CHECK(s.share.species.size() == 2);
  check_near(s.x[1], {2, 0, 0});
  check_near(s.x[3], {0, 0, 3});
  CHECK(s.v.empty());
  CHECK(s.share.box.h[1][1] == 5.0);
}

TEST_CASE("poscar: scaling by a factor, by a volume, by three factors") {
  const std::string atoms = "Si\n1\nCartesian\n1 1 1\n";
  const auto factor = read("a\n2.0\n" + cell + atoms);
  CHECK(factor.share.box.h[2][2] == Approx(12.0));
  check_near(factor.x[0], {2, 2, 2});
  const auto volume = read("a\n-960.0\n" + cell + atoms);  // of 120 Å^3 as written
  CHECK(volume.share.box.h[0][0] == Approx(8.0));
  check_near(volume.x[0], {2, 2, 2});
  const auto three = read("a\n2 3 0.5\n" + cell + atoms);
  CHECK(three.share.box.h[1][1] == Approx(15.0));
  check_near(three.x[0], {2, 3, 0.5});
  CHECK(refusal("a\n2 -3 0.5\n" + cell + atoms) == "FILE:2: three scaling factors have to be above 0");
  CHECK(refusal("a\n0\n" + cell + atoms) == "FILE:2: the scaling factor is 0");
}

TEST_CASE("poscar: a cell in any orientation, a left-handed one") {
  const auto turned = read("a\n1\n0 4 0\n0 0 5\n6 0 0\nSi\n1\nDirect\n0.25 0 0\n");
  const auto back = turned.share.axes.vector(turned.x[0].data());
  check_near({back[0], back[1], back[2]}, {0, 1, 0});
  const auto left = read("a\n1\n0 4 0\n5 0 0\n0 0 6\nSi\n1\nDirect\n0.25 0.5 0\n");
  double s[3];
  left.share.box.to_fractional(left.x[0].data(), s);
  CHECK(s[0] == Approx(0.75));  // of the vector turned round, from the corner across
  const auto corner = left.share.axes.vector(left.x[0].data());
  check_near({corner[0], corner[1], corner[2]}, {2.5, 1, 0});
}

TEST_CASE("poscar: selective dynamics, species of VASP 4 from the deck") {
  const Comm comm;
  const auto s =
      read("old\n1\n" + cell + "1 1 ! counts\nSelective dynamics\nDirect\n0 0 0 T T T\n.5 0 0 F F F\n", {"Ga", "As"});
  CHECK(s.symbol == std::vector<std::string>{"Ga", "As"});
  if (comm.root()) {
    REQUIRE(s.share.warnings.size() == 1);
    CHECK_THAT(s.share.warnings[0],
               Catch::Matchers::Contains("selective dynamics of 1 atom is not read: all atoms move; hold a group of "
                                         "atoms in the deck"));
  }
  CHECK(refusal("old\n1\n" + cell + "1 1\nDirect\n0 0 0\n.5 0 0\n") ==
        "FILE:6: the file names no species, as VASP 4 wrote it; name those of its 2 counts in the deck: species: [..]");
}

TEST_CASE("poscar: velocities in angstrom/fs, of all zeros none, of the lattice passed over") {
  const std::string head = "run\n1\n" + cell + "Si\n2\nDirect\n0 0 0\n.5 0 0\n";
  const auto moving = read(head + "\n 1e-3 0 0\n 0 -2e-3 0\n\n 1\n 0.5 some predictor\n");
  check_near(moving.v[0], {1, 0, 0});
  check_near(moving.v[1], {0, -2, 0});
  CHECK(read(head + "Cartesian\n 0 0 3e-3\n 0 0 0\n").v[0][2] == Approx(3.0));
  CHECK(read(head + "\n 0.0 0.0 0.0\n 0.0 0.0 0.0\n").v.empty());
  CHECK(read(head + "\n").v.empty());
  const std::string lattice = "Lattice velocities and vectors\n 1\n 0 0 0\n 0 0 0\n 0 0 0\n" + cell;
  CHECK(read(head + lattice + "\n 1e-3 0 0\n 0 0 0\n").v[0][0] == Approx(1.0));
  CHECK_THAT(refusal(head + "Direct\n 1e-3 0 0\n 0 0 0\n"),
             Catch::Matchers::Contains("velocities in direct coordinates are in lattice vectors a time step, and the "
                                       "file does not give the time step (POTIM); write them in Cartesian coordinates "
                                       "(Å/fs), or leave them out"));
  CHECK(refusal(head + "\n 1e-3 0 0\n") == "FILE:12: velocities of 1 atoms, expected 2");
}

TEST_CASE("poscar: what is no POSCAR or cut short is refused at its line") {
  CHECK(refusal("a\n1\n" + cell + "Si\n2\nDirect\n0 0 0\n") ==
        "FILE ends before the last position: it is cut short, or no POSCAR file");
  CHECK(refusal("a\n1\n" + cell + "Si C\n2\nDirect\n0 0 0\n0 0 .5\n") ==
        "FILE:7: 2 species (Si C) and 1 numbers of atoms");
  CHECK(refusal("a\n1\n" + cell + "Xq\n1\nDirect\n0 0 0\n") ==
        "FILE:6: 'Xq' is no chemical element; the sixth line holds symbols, the seventh numbers of atoms");
  CHECK(refusal("a\n1\n" + cell + "Si\n1\n0 0 0\n") == "FILE:8: expected Direct or Cartesian, above the positions");
  CHECK(refusal("a\n1\n" + cell + "Si\n0\nDirect\n") == "FILE:7: the file has no atoms");
  CHECK(refusal("a\n1\n" + cell + "Si\n-1\nDirect\n") == "FILE:7: -1 atoms of a species");
  CHECK(refusal("a\nscale\n").find("FILE:2: ") == 0);
  CHECK(io::is_poscar_name("runs/POSCAR.start"));
  CHECK(io::is_poscar_name("CONTCAR"));
  CHECK(io::is_poscar_name("a.vasp"));
  CHECK_FALSE(io::is_poscar_name("POSCAR.xyz"));
  CHECK_FALSE(io::is_poscar_name("POSCAR/atoms.data"));
}
