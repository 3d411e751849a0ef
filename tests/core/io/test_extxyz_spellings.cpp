// One frame of extended XYZ, written in five hundred ways that the format's rules allow, reads as the plain one.
#include <cmath>

#include "core/base/constants.hpp"
#include "tests/catch.hpp"
#include "tests/core/io/spelling.hpp"
#include "tests/core/io/structure_case.hpp"

using namespace cambium;
using namespace cambium::testing;

namespace {

struct Atom {
  const char* symbol;
  int z, id;
  double mass, x[3], v[3];  // Å, Å/ps
};

constexpr Atom atoms[] = {{"O", 8, 3, 15.999, {0.25, 1.5, -0.75}, {1.5, -2.25, 0.125}},
                          {"H", 1, 1, 1.008, {1.0, 2.0, 3.0}, {20.0, 0.0, -7.5}},
                          {"H", 1, 2, 1.008, {2.5, 0.1, 4.0}, {-11.0, 3.0, 0.0}},
                          {"Cu", 29, 5, 63.546, {3.0, 3.0, 3.0}, {0.0, 0.0, 0.5}},
                          {"O", 8, 4, 15.999, {4.5, 4.0, 1e-3}, {0.75, -0.5, 2.0}}};
constexpr double cell[9] = {6, 0, 0, 1.5, 7, 0, -0.5, 0.25, 8};

std::string plain() {
  std::string out =
      "5\nLattice=\"6 0 0 1.5 7 0 -0.5 0.25 8\" Properties=id:I:1:species:S:1:pos:R:3:velo:R:3:masses:R:1 pbc=\"T T "
      "T\"\n";
  Spelling same(0);
  for (const Atom& a : atoms) {
    char line[300];
    std::snprintf(line, sizeof line, "%d %s %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", a.id, a.symbol, a.x[0],
                  a.x[1], a.x[2], a.v[0], a.v[1], a.v[2], a.mass);
    out += line;
  }
  return out;
}

/// A list of words in one of the ways in which several may stand behind a key.
std::string list(Spelling& s, const std::vector<std::string>& words, bool rows) {
  const int form = s.below(rows ? 6 : 5);
  std::string out = s.maybe_blank();
  for (std::size_t k = 0; k < words.size(); ++k) {
    const bool comma = form == 3 || form == 5 || (form < 3 && s.once_in(4));
    if (k) out += comma ? s.maybe_blank() + "," + s.maybe_blank() : s.blank();
    if (form == 5 && k % 3 == 0) out += "[" + s.maybe_blank();
    out += words[k];
    if (form == 5 && k % 3 == 2) out += s.maybe_blank() + "]";
  }
  out += s.maybe_blank();
  switch (form) {
    case 0:
      return '"' + out + '"';
    case 1:
      return '\'' + out + '\'';
    case 2:
      return '{' + out + '}';
    case 4:
      return "\"_JSON " + out + '"';
    default:
      return '[' + out + ']';
  }
}

std::string cased(Spelling& s, std::string word) {
  const int form = s.below(4);
  for (std::size_t k = 0; k < word.size(); ++k) {
    const auto letter = static_cast<unsigned char>(word[k]);
    if (form == 1) word[k] = static_cast<char>(std::tolower(letter));
    if (form == 2) word[k] = static_cast<char>(std::toupper(letter));
  }
  return word;
}

std::string pair(Spelling& s, std::string key, const std::string& value) {
  if (s.once_in(5)) {
    key = s.one_of({"\"", "'"}) + key;
    key += key[0];
  }
  return key + s.maybe_blank() + "=" + s.maybe_blank() + value;
}

/// Keys that nobody reads, some with text that looks like keys.
std::string another(Spelling& s) {
  return s.one_of({"config_type=bulk", "done", "note=\"two words\"", "note='it is \\'quoted\\''",
                   "note=\"Lattice=\\\"1 0 0\\\" pbc=\\\"F F F\\\"\"", "info={\"a\": {\"b\": [1, 2]}, \"c\": \"}\"}",
                   "spacegroup=\"_JSON {\\\"number\\\": 225}\"", "dipole=[1, 2, 3]",
                   "virial=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "\"my key\"=3", "Time = 0.5", "energy=-3.5",
                   "free_energy=-1d0", "path=C:\\\\data", "a\\ b=c\\=d", "comment={Lattice=none}", "empty= flag",
                   "step=7,"});
}

struct Columns {
  std::string properties;
  std::vector<std::vector<std::string>> words;  ///< by atom
};

std::vector<std::string> three(Spelling& s, const double* x, double factor) {
  std::vector<std::string> out;
  for (int k = 0; k < 3; ++k) out.push_back(s.number(factor * x[k], true));
  return out;
}

Columns columns(Spelling& s) {
  const bool number = s.once_in(3), both = number && s.once_in(2);
  const int motion = s.below(3);
  std::vector<std::string> names = {"id:I:1", "pos", "motion", "masses"};
  if (!number || both) names.push_back("species");
  if (number) names.push_back("Z:I:1");
  for (const char* extra : {"charge:R:1", "tags:I:1", "label:S:1", "frozen:L:1", "forces:R:3", "magmoms:R:3"})
    if (s.once_in(4)) names.emplace_back(extra);
  s.shuffle(names);
  Columns out;
  out.words.resize(5);
  for (const std::string& name : names) {
    std::string shown = name;
    if (name == "pos") shown = s.one_of({"pos:R:3", "positions:R:3", "Position:R:3"});
    if (name == "motion") shown = motion == 0 ? "velo:R:3" : motion == 1 ? "vel:R:3" : "momenta:R:3";
    if (name == "masses") shown = s.one_of({"masses:R:1", "mass:R:1"});
    if (name == "species") shown = s.one_of({"species:S:1", "element:S:1", "symbols:S:1", "Species:S:1"});
    out.properties += (out.properties.empty() ? "" : ":") + shown;
    for (std::size_t i = 0; i < 5; ++i) {
      const Atom& a = atoms[i];
      std::vector<std::string> words = {"7"};
      if (name == "id:I:1") words = {std::to_string(a.id)};
      if (name == "pos") words = three(s, a.x, 1.0);
      if (name == "motion")
        words = three(s, a.v, motion == 0 ? 1.0 : motion == 1 ? 1e-3 : std::sqrt(constants::mvv2e) * a.mass);
      if (name == "masses") words = {s.number(a.mass, true)};
      if (name == "species") words = {a.symbol};
      if (name == "Z:I:1") words = {std::to_string(a.z)};
      if (name == "label:S:1") words = {s.one_of({"\"x\"", "a=b", "[", "it's"})};
      if (name == "frozen:L:1") words = {s.one_of({"T", "F"})};
      if (name == "forces:R:3" || name == "magmoms:R:3") words = {"9", "-9", "9e-1"};
      out.words[i].insert(out.words[i].end(), words.begin(), words.end());
    }
  }
  return out;
}

std::string spelled(unsigned seed) {
  Spelling s(seed);
  const std::string end = s.once_in(4) ? "\r\n" : "\n";
  std::vector<std::string> numbers;
  for (const double x : cell) numbers.push_back(s.number(x, true));
  const Columns c = columns(s);
  std::vector<std::string> keys = {
      pair(s, cased(s, "Lattice"), list(s, numbers, true)),
      pair(s, cased(s, "Properties"), s.once_in(3) ? '"' + c.properties + '"' : c.properties)};
  const std::vector<std::string> yes = {"T", "true", "True", "TRUE", "t", "1"};
  if (!s.once_in(3))
    keys.push_back(pair(s, cased(s, "pbc"),
                        s.once_in(5) ? s.one_of(yes) : list(s, {s.one_of(yes), s.one_of(yes), s.one_of(yes)}, false)));
  for (int n = s.below(4); n > 0; --n) keys.push_back(another(s));
  s.shuffle(keys);
  std::string out = s.once_in(5) ? "\xEF\xBB\xBF" : "";
  if (s.once_in(4)) out += "1" + end + "Lattice=\"9 0 0 0 9 0 0 0 9\"" + end + "H 1 1 1" + end;  // an earlier frame
  out += s.maybe_blank() + "5" + s.maybe_blank() + end + s.maybe_blank();
  for (std::size_t k = 0; k < keys.size(); ++k) out += (k ? s.blank() : "") + keys[k];
  out += s.maybe_blank() + end;
  for (const auto& words : c.words) {
    out += s.maybe_blank();
    for (std::size_t k = 0; k < words.size(); ++k) out += (k ? s.blank() : "") + words[k];
    out += s.maybe_blank() + end;
  }
  if (s.once_in(4)) out.resize(out.size() - end.size());
  if (s.once_in(4)) out += end + end;
  return out;
}

void require_same(const Structure& a, const Structure& b) {
  REQUIRE(b.nglobal == a.nglobal);
  REQUIRE(b.tag == a.tag);
  REQUIRE(b.type == a.type);
  REQUIRE(b.species.size() == a.species.size());
  for (std::size_t k = 0; k < a.species.size(); ++k) {
    REQUIRE(b.species[k].symbol == a.species[k].symbol);
    REQUIRE(b.species[k].mass == a.species[k].mass);
  }
  for (int k = 0; k < 9; ++k) REQUIRE(b.box.h[k / 3][k % 3] == a.box.h[k / 3][k % 3]);
  REQUIRE(b.x == a.x);
  REQUIRE(b.v.size() == a.v.size());
  for (std::size_t i = 0; i < a.v.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) REQUIRE(std::abs(b.v[i][k] - a.v[i][k]) <= 1e-13 * std::abs(a.v[i][k]));
}

}  // namespace

TEST_CASE("five hundred spellings of one frame of extended XYZ are the same frame") {
  const Comm self(MPI_COMM_SELF);
  const Structure expected = read_xyz(plain(), -1, self);
  REQUIRE(expected.v[0][1] == -2.25);
  for (unsigned seed = 1; seed <= 500; ++seed) {
    const std::string text = spelled(seed);
    INFO("seed " << seed << ":\n" << text);
    require_same(expected, read_xyz(text, -1, self));
  }
}

TEST_CASE("comment lines as programs and people write them") {
  const Comm self(MPI_COMM_SELF);
  const auto height = [&](const std::string& comment) {
    return read_xyz("1\n" + comment + "\nO 1 2 3\n", -1, self).box.h[2][2];
  };
  const std::string lattice = "Lattice=\"5 0 0 0 5 0 0 0 8\"";
  const std::vector<std::string> comments = {lattice,
                                             "It's a slab, 'cold " + lattice,
                                             "a = b = c " + lattice,
                                             "name= " + lattice,
                                             lattice + " name=",
                                             "x={it's} " + lattice,
                                             "\"quoted text\" " + lattice,
                                             lattice + "pbc=\"T T T\"",
                                             "E(eV)=-3 [unit " + lattice,
                                             "Lattice = [[5, 0, 0], [0, 5, 0], [0, 0, 8]]",
                                             "a=\"\\\"Lattice=\\\"\" " + lattice,
                                             "=3 " + lattice,
                                             lattice + " end\\"};
  for (const auto& comment : comments) {
    INFO(comment);
    CHECK(height(comment) == 8.0);
  }
  CHECK(xyz_message("1\na=\"b " + lattice.substr(0, 9) + "\nO 1 2 3\n") != "no error");
  CHECK(xyz_message("1\na={b " + lattice + "\nO 1 2 3\n") == "FILE:2: the value of a has no closing }");
}
