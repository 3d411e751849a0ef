// DFTB+'s gen files: clusters, periodic cells with Cartesian and fractional positions, comments, and what is refused.
#include "core/io/structures/gen_reader.hpp"

#include <filesystem>

#include "core/base/log.hpp"
#include "core/base/timing.hpp"
#include "core/io/structures/structure_input.hpp"
#include "tests/catch.hpp"
#include "tests/core/io/structure_case.hpp"

using namespace cambium;
using namespace cambium::testing;

namespace {

/// All atoms, on every rank, in the axes of the file.
struct GenRead {
  Structure share;
  std::vector<std::array<double, 3>> x;
  std::vector<std::string> symbol;
};

GenRead read_text(const std::string& text) {
  const Comm comm;
  const File file(text);
  GenRead out;
  out.share = io::read_gen(file.path, comm);
  const auto n = static_cast<std::size_t>(out.share.nglobal);
  std::vector<double> rows(4 * n, 0.0);
  for (std::size_t i = 0; i < out.share.x.size(); ++i) {
    const auto to = 4 * static_cast<std::size_t>(out.share.tag[i] - 1);
    const auto given = out.share.axes.vector(out.share.x[i].data());
    for (std::size_t k = 0; k < 3; ++k) rows[to + k] = given[k];
    rows[to + 3] = out.share.type[i];
  }
  comm.sum(rows);
  for (std::size_t i = 0; i < n; ++i) {
    out.x.push_back({rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]});
    out.symbol.push_back(out.share.species[static_cast<std::size_t>(rows[4 * i + 3])].symbol);
  }
  return out;
}

std::string gen_refusal(const std::string& text) {
  return message(text, [](const std::string& path, const Comm& comm) { io::read_gen(path, comm); });
}

void check_point(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  for (std::size_t k = 0; k < 3; ++k) CHECK(a[k] == Approx(b[k]).margin(1e-12));
}

const std::string atoms = " Ga As\n 1 1 0.0 0.0 0.0\n 2 2 1.25 1.5 0.5 # the anion\n";

}  // namespace

TEST_CASE("gen: a periodic cell with Cartesian positions, comments and blank lines") {
  const auto s =
      read_text("# zinc blende\n  2  S\n" + atoms + "\n 0 0 0\n# vectors\n 4 0 0\n 0 5 0\n 1 0 6\n\n# end\n");
  CHECK(s.symbol == std::vector<std::string>{"Ga", "As"});
  CHECK(s.share.nglobal == 2);
  check_point(s.x[1], {1.25, 1.5, 0.5});
  const auto cell = s.share.axes.cell(s.share.box);
  const double rows[9] = {4, 0, 0, 0, 5, 0, 1, 0, 6};
  for (std::size_t k = 0; k < 9; ++k) CHECK(cell[k] == Approx(rows[k]).margin(1e-12));
}

TEST_CASE("gen: fractional positions are multiplied by the lattice vectors, as the origin is") {
  const auto s = read_text("2 f\n" + atoms + "0.5 0 0\n0 4 0\n0 0 5\n6 0 0\n");
  check_point(s.x[1], {3.0, 5.0, 7.5});  // 1.25 (0 4 0) + 1.5 (0 0 5) + 0.5 (6 0 0)
  const auto corner = s.share.axes.vector(s.share.box.origin);
  check_point({corner[0], corner[1], corner[2]}, {0.0, 2.0, 0.0});
}

TEST_CASE("gen: a left-handed cell is turned round") {
  const Comm comm;
  const auto s = read_text("2 S\n" + atoms + "0 0 1\n0 4 0\n5 0 0\n0 0 6\n");
  check_point(s.x[1], {1.25, 1.5, 0.5});
  const auto corner = s.share.axes.vector(s.share.box.origin);
  check_point({corner[0], corner[1], corner[2]}, {5.0, 4.0, 7.0});
  if (comm.root()) CHECK(s.share.remarks.size() == 1);
}

TEST_CASE("gen: a cluster is put in a cell with vacuum around it") {
  const Comm comm;
  const auto s = read_text("3 C\n O H\n1 1 0 0 0\n2 2 0.76 0.59 0\n3 2 -7.6D-1 0.59 0\n");
  CHECK(s.symbol == std::vector<std::string>{"O", "H", "H"});
  check_point(s.x[2], {-0.76, 0.59, 0.0});
  const double size[3] = {21.52, 20.59, 20.0}, origin[3] = {-10.76, -10.0, -10.0};
  for (int k = 0; k < 3; ++k) {
    CHECK(s.share.box.h[k][k] == Approx(size[k]));
    CHECK(s.share.box.origin[k] == Approx(origin[k]));
  }
  if (!comm.root()) return;
  REQUIRE(s.share.remarks.size() == 1);
  CHECK_THAT(
      s.share.remarks[0],
      Catch::Matchers::Contains("a cluster, put in a cell of 21.52 x 20.59 x 20 Å with 10 Å of vacuum on each side"));
}

TEST_CASE("gen: what is no gen file or cut short is refused at its line") {
  const std::string cell = "0 0 0\n4 0 0\n0 5 0\n0 0 6\n";
  CHECK(gen_refusal("2 S\n" + atoms + "0 0 0\n4 0 0\n0 5 0\n") ==
        "FILE ends before the lattice vectors: it is cut short, or no gen file of DFTB+");
  CHECK(gen_refusal("3 S\nGa As\n1 1 0 0 0\n2 2 0 0 1\n") ==
        "FILE ends before atom 3 of 3: it is cut short, or no gen file of DFTB+");
  CHECK(gen_refusal("3 S\n" + atoms + cell) ==
        "FILE:5: 3 words, expected five: index, species index and position of an atom");
  CHECK(gen_refusal("1 S\nGa\n1 1 0 0 0\n2 1 1 1 1\n" + cell) == "FILE:4: 5 words, expected three numbers, the origin");
  CHECK(gen_refusal("2 C\n" + atoms + cell) ==
        "FILE:5: a line after the last one: the first line gives 2 atoms and a cluster, without a cell");
  CHECK(gen_refusal("2 S\n" + atoms + cell + "1\n") ==
        "FILE:9: a line after the last one: the first line gives 2 atoms");
  CHECK(gen_refusal("2 H\n" + atoms + cell) ==
        "FILE:1: helical structures (H) are not read: give the atoms of a periodic cell (S or F), or a cluster (C)");
  CHECK(gen_refusal("2 P\n" + atoms + cell) ==
        "FILE:1: the kind is 'P', expected C (cluster), S (periodic, Cartesian) or F (periodic, fractional)");
  CHECK(gen_refusal("2\n" + atoms) == "FILE:1: 1 words, expected the number of atoms and C, S or F");
  CHECK(gen_refusal("0 C\nH\n") == "FILE:1: 0 atoms, expected at least 1");
  CHECK(gen_refusal("1 C\nXq\n1 1 0 0 0\n") ==
        "FILE:2: 'Xq' is no chemical element; the second line holds the symbols of the species");
  CHECK(gen_refusal("1 C\nH H\n1 1 0 0 0\n") == "FILE:2: the species H occurs twice");
  CHECK(gen_refusal("1 C\nH C\n1 1 0 0 0\n") == "FILE:2: no atom has the species 2, C");
  CHECK(gen_refusal("1 C\nH\n1 2 0 0 0\n") == "FILE:3: species 2 of an atom, expected 1 to 1");
}

TEST_CASE("gen: the key structure reads *.gen, and any name with its format") {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  const File file("1 C\nH\n1 1 0 0 0\n");
  StructureInput input;
  input.file = file.path;
  comm.broadcast(input.file);
  const std::string named = input.file + ".gen";
  if (comm.root()) std::filesystem::copy_file(input.file, named);
  input.format = StructureInput::Format::gen;
  CHECK(build_structure(input, {}, context).species[0].symbol == "H");
  input.file = named;
  input.format = StructureInput::Format::by_name;
  CHECK(build_structure(input, {}, context).species[0].symbol == "H");
  comm.barrier();
  if (comm.root()) std::filesystem::remove(named);
}
