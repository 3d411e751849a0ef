// One LAMMPS data file, written in five hundred ways that LAMMPS reads alike, reads as the plain one.
#include <algorithm>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/core/io/spelling.hpp"
#include "tests/core/io/structure_case.hpp"

using namespace cambium;
using namespace cambium::testing;

namespace {

struct Row {
  int id, type, image[3];
  double x[3], v[3];
};

// Types 1 and 3 are copper. Ids are in the order of the plain file; some spellings have others, in the same order.
constexpr Row rows[] = {{1, 1, {0, 0, 0}, {4.0, 5.0, 6.0}, {0.1, 0.2, 0.3}},
                        {2, 2, {1, -2, 0}, {1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}},
                        {3, 3, {0, 0, 3}, {7.0, 7.5, 7.25}, {-1.0, -2.0, -3.0}},
                        {4, 1, {0, 0, 0}, {0.0, 0.0, 0.5}, {7.0, 8.0, 9.0}}};
constexpr double mass[] = {63.5, 58.7, 63.5};
constexpr double low[] = {-1.0, 0.0, 0.5}, edge[] = {10.0, 8.0, 7.0}, tilt[] = {1.5, -0.5, 0.25};

struct Units {
  const char* name;
  double length, velocity, mass;
};

struct Style {
  const char* name;
  bool molecule;
  std::vector<std::string> before, behind;  ///< words around the position
};

/// Those with a molecule have bonds in some spellings.
const std::vector<Style>& styles() {
  static const std::vector<Style> all = {{"atomic", false, {}, {}},
                                         {"charge", false, {"-0.5"}, {}},
                                         {"molecular", true, {}, {}},
                                         {"full", true, {"0.4"}, {}},
                                         {"bond", true, {}, {}},
                                         {"dpd", false, {"0.5"}, {}},
                                         {"dipole", false, {"0"}, {"0.5", "0", "1"}},
                                         {"hybrid", false, {}, {"0.5"}},
                                         {"spin", false, {}, {"0.5", "0", "1", "2.2"}},
                                         {"template", false, {"3", "1", "1"}, {}}};
  return all;
}

class DataSpelling {
 public:
  explicit DataSpelling(unsigned seed) : s_(seed), end_(s_.once_in(4) ? "\r\n" : "\n") {
    const double mol = 6.02214076e23, bohr = 0.529177210903;
    const Units all[] = {{"metal", 1, 1, 1},
                         {"real", 1, 1e3, 1},
                         {"si", 1e10, 1e-2, 1e3 * mol},
                         {"cgs", 1e8, 1e-4, mol},
                         {"micro", 1e4, 1e-2, 1e-12 * mol},
                         {"nano", 10, 1e-2, 1e-18 * mol},
                         {"electron", bohr, 1e3 * bohr, 1}};
    u_ = all[s_.once_in(2) ? 0 : s_.below(7)];
    for (int k = 0; k < 4; ++k) id_.push_back(k + 1);
    if (s_.once_in(4)) id_ = {2, 5, 6, 90};
    labels_ = s_.once_in(5);
    chosen_ = s_.below(static_cast<int>(styles().size()));
    bonds_ = styles()[chosen_].molecule && s_.once_in(2);
  }

  std::string text() {
    std::string out = s_.once_in(5) ? "\xEF\xBB\xBF" : "";
    out += "LAMMPS data file via write_data, version 29 Aug 2024, timestep = 0, units = " + std::string(u_.name) + end_;
    if (std::string(u_.name) == "metal" && s_.once_in(2)) out = "made by hand" + end_;
    out += header();
    if (labels_) out += section("Atom Type Labels", {"1 Cu", "2 Ni", "3 Cu"}, false);
    std::vector<std::string> before = {masses()}, behind = {velocities()};
    if (s_.once_in(3))
      before.push_back(section("Pair Coeffs # lj/cut", {"1 0.1 3.4", "2 0.2 3.3", "3 0.1 3.4"}, false));
    if (bonds_) before.push_back(section("Bond Coeffs # harmonic", {"1 3.5 1.5"}, false));
    if (s_.once_in(3))
      before.push_back(
          section("PairIJ Coeffs # lj/cut",
                  {"1 1 0.1 3.4", "1 2 0.2 3.3", "1 3 0.1 3.4", "2 2 0.2 3.3", "2 3 0.2 3.3", "3 3 0.1 3.4"}, false));
    if (bonds_) behind.push_back(section("Bonds", bond_lines(), false));
    if (s_.once_in(3)) {
      behind.push_back(masses());
      before.erase(before.begin());
    }
    s_.shuffle(before);
    s_.shuffle(behind);
    for (const auto& part : before) out += part;
    out += atoms();
    for (const auto& part : behind) out += part;
    if (s_.once_in(4)) out.resize(out.size() - end_.size());
    return out;
  }

 private:
  std::string number(double x) { return s_.number(x); }
  std::string remark() { return s_.once_in(4) ? s_.blank() + s_.one_of({"# a remark", "#", "# Cu", "# 7 atoms"}) : ""; }
  std::string line(const std::string& text) { return s_.maybe_blank() + text + remark() + end_; }
  std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (std::size_t k = 0; k < words.size(); ++k) out += (k ? s_.blank() : "") + words[k];
    return out;
  }

  std::string section(const std::string& name, std::vector<std::string> lines, bool shuffled) {
    if (shuffled) s_.shuffle(lines);
    std::string out = end_ + name + end_ + end_;
    for (const auto& each : lines) out += line(each);  // LAMMPS allows no empty line in a section
    return out;
  }

  std::vector<std::string> bond_lines() {
    const auto id = [&](std::size_t k) { return std::to_string(id_[k]); };
    return {"1 1 " + id(0) + " " + id(1), "2 1 " + id(1) + " " + id(2)};
  }

  std::string header() {
    std::vector<std::string> lines = {"4 atoms", "3 atom types"};
    if (bonds_) lines.insert(lines.end(), {"2 bonds", "1 bond types", "2 extra bond per atom"});
    for (const char* more : {"0 angles", "0 dihedral types", "0 impropers"})
      if (s_.once_in(4)) lines.emplace_back(more);
    const double l = 1.0 / u_.length;
    if (s_.once_in(3)) {
      lines.push_back(joined({number(l * edge[0]), "0", "0", "avec"}));
      lines.push_back(joined({number(l * tilt[0]), number(l * edge[1]), "0", "bvec"}));
      lines.push_back(joined({number(l * tilt[1]), number(l * tilt[2]), number(l * edge[2]), "cvec"}));
      lines.push_back(joined({number(l * low[0]), number(l * low[1]), number(l * low[2]), "abc origin"}));
    } else {
      const char* names[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
      for (int k = 0; k < 3; ++k)
        lines.push_back(joined({number(l * low[k]), number(l * (low[k] + edge[k])), names[k]}));
      lines.push_back(joined({number(l * tilt[0]), number(l * tilt[1]), number(l * tilt[2]), "xy xz yz"}));
    }
    s_.shuffle(lines);
    std::string out = s_.once_in(2) ? end_ : "";
    for (const auto& each : lines) out += line(each) + (s_.once_in(6) ? end_ : "");
    return out;
  }

  std::string type(int k) { return std::to_string(k + 1); }

  std::string masses() {
    std::vector<std::string> lines;
    for (int k = 0; k < 3; ++k) lines.push_back(joined({type(k), number(mass[k] / u_.mass)}));
    return section("Masses", lines, true);
  }

  std::string atoms() {
    const Style& style = styles()[chosen_];
    const std::string suffix = s_.one_of({"", "", "/kk", "/omp", "/gpu"});
    std::string name = "Atoms";
    if (chosen_ > 3 || s_.once_in(2))
      name += s_.one_of({" # ", "  # ", " #"}) + style.name + suffix;
    else if (s_.once_in(2))
      name += " # positions of all atoms";
    std::vector<std::string> lines;
    for (int k = 0; k < 4; ++k) {
      const Row& r = rows[k];
      std::vector<std::string> words = {std::to_string(id_[k])};
      if (style.molecule) words.emplace_back("17");  // no type: the file may be without its style
      words.push_back(type(r.type - 1));
      words.insert(words.end(), style.before.begin(), style.before.end());
      for (const double x : r.x) words.push_back(number(x / u_.length));
      words.insert(words.end(), style.behind.begin(), style.behind.end());
      for (const int n : r.image) words.push_back(std::to_string(n));
      lines.push_back(joined(words));
    }
    return section(name, lines, true);
  }

  std::string velocities() {
    std::vector<std::string> lines;
    for (int k = 0; k < 4; ++k) {
      std::vector<std::string> words = {std::to_string(id_[k])};
      for (const double v : rows[k].v) words.push_back(number(v / u_.velocity));
      lines.push_back(joined(words));
    }
    return section("Velocities", lines, true);
  }

  Spelling s_;
  std::string end_;
  Units u_{};
  std::vector<int> id_;
  bool labels_ = false, bonds_ = false;
  int chosen_ = 0;
};

/// Rows in the order of ids.
std::vector<std::size_t> by_id(const Structure& s) {
  std::vector<std::size_t> out(s.tag.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[static_cast<std::size_t>(s.tag[i]) - 1] = i;
  return out;
}

}  // namespace

TEST_CASE("five hundred spellings of one LAMMPS data file are the same atoms") {
  const Comm self(MPI_COMM_SELF);
  for (unsigned seed = 1; seed <= 500; ++seed) {
    const std::string text = DataSpelling(seed).text();
    INFO("seed " << seed << ":\n" << text);
    const Structure s = read_data(text, {"Cu", "Ni", "Cu"}, self);
    REQUIRE(s.nglobal == 4);
    REQUIRE(s.species.size() == 2);
    REQUIRE(s.species[0].symbol == "Cu");
    REQUIRE(s.species[0].mass == Approx(63.5).epsilon(1e-12));
    REQUIRE(s.species[1].mass == Approx(58.7).epsilon(1e-12));
    const double h[9] = {10, 0, 0, 1.5, 8, 0, -0.5, 0.25, 7};
    for (int k = 0; k < 9; ++k) REQUIRE(s.box.h[k / 3][k % 3] == Approx(h[k]).epsilon(1e-12).margin(1e-12));
    for (int k = 0; k < 3; ++k) REQUIRE(s.box.origin[k] == Approx(low[k]).epsilon(1e-12).margin(1e-12));
    const auto row = by_id(s);
    for (std::size_t k = 0; k < 4; ++k) {
      REQUIRE(s.type[row[k]] == (rows[k].type == 2 ? 1 : 0));
      for (std::size_t c = 0; c < 3; ++c) {
        REQUIRE(s.image[row[k]][c] == rows[k].image[c]);
        REQUIRE(s.x[row[k]][c] == Approx(rows[k].x[c]).epsilon(1e-12).margin(1e-12));
        REQUIRE(s.v[row[k]][c] == Approx(rows[k].v[c]).epsilon(1e-12).margin(1e-12));
      }
    }
  }
}
