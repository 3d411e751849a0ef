#include "plugins/relate/chemistry/smiles.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>

#include "core/base/error.hpp"
#include "plugins/relate/chemistry/elements.hpp"
#include "plugins/relate/chemistry/hydrogens.hpp"

namespace cambium::relate {

namespace {

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// A SMILES without surrounding text.
std::string_view smiles_in(std::string_view text) {
  const auto first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_first_of(" \t\r\n"));
}

class SmilesReader {
 public:
  explicit SmilesReader(std::string_view text) : text_(smiles_in(text)) {}
  MoleculeGraph read();

 private:
  /// An explicit bond; `order` 0: none. For a dative one, whether it points backwards.
  struct Written {
    int order = 0;
    bool back = false;
  };
  struct Open {
    int atom = 0;
    Written bond;
  };

  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(fmt::format("the SMILES '{}' cannot be read at letter {}: {}", text_, at_ + 1, why));
  }
  char here(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void add_atom(MoleculeGraph::Atom atom, bool plain);
  void add_bond(int a, int b, Written bond);
  void require_no_bond() const;
  bool read_bond();
  void organic();
  void bracket();
  std::string symbol(bool& aromatic);
  void chirality();
  int charge();
  void ring();
  int ring_number();
  int number();
  void step();

  std::string_view text_;
  std::size_t at_ = 0;
  MoleculeGraph out_;
  std::vector<bool> plain_;  ///< atoms without isotope
  int last_ = -1;            ///< the first atom of the next bond
  Written bond_;             ///< the next one
  std::vector<int> branches_;
  std::vector<std::size_t> unwritten_;  ///< implicit bonds between aromatic atoms
  std::map<int, Open> rings_;
};

void SmilesReader::add_atom(MoleculeGraph::Atom atom, bool plain) {
  const int number = static_cast<int>(out_.atoms.size());
  out_.atoms.push_back(std::move(atom));
  plain_.push_back(plain);
  if (last_ >= 0) add_bond(last_, number, bond_);
  last_ = number;
  bond_ = {};
}

/// An implicit bond is aromatic between aromatic atoms of a ring, else single.
void SmilesReader::add_bond(int a, int b, Written bond) {
  for (const auto& other : out_.bonds)
    if ((other.a == a && other.b == b) || (other.a == b && other.b == a)) refuse("these two atoms have a bond already");
  const bool aromatic = out_.atoms[a].aromatic && out_.atoms[b].aromatic;
  if (bond.order == 0 && aromatic) unwritten_.push_back(out_.bonds.size());
  if (bond.back) std::swap(a, b);
  out_.bonds.push_back({a, b, bond.order > 0 ? bond.order : aromatic ? MoleculeGraph::aromatic : 1});
}

void SmilesReader::require_no_bond() const {
  if (bond_.order > 0) refuse("a bond leads to no atom");
}

/// True if the atoms of a bond are connected without it.
bool in_ring(const MoleculeGraph& molecule, std::size_t bond) {
  std::vector<std::vector<int>> neighbours(molecule.atoms.size());
  for (std::size_t k = 0; k < molecule.bonds.size(); ++k) {
    if (k == bond) continue;
    neighbours[molecule.bonds[k].a].push_back(molecule.bonds[k].b);
    neighbours[molecule.bonds[k].b].push_back(molecule.bonds[k].a);
  }
  std::vector<bool> met(molecule.atoms.size());
  std::vector<int> open{molecule.bonds[bond].a};
  met[open.back()] = true;
  while (!open.empty()) {
    const int atom = open.back();
    open.pop_back();
    for (const int next : neighbours[atom]) {
      if (next == molecule.bonds[bond].b) return true;
      if (!met[next]) {
        met[next] = true;
        open.push_back(next);
      }
    }
  }
  return false;
}

/// An atom without brackets.
void SmilesReader::organic() {
  MoleculeGraph::Atom atom;
  const std::string two{here(), here(1)};
  if (two == "Cl" || two == "Br") {
    atom.element = two;
    at_ += 2;
  } else if (std::string_view("BCNOPSFI*").find(here()) != std::string_view::npos) {
    atom.element = here(), ++at_;
  } else if (std::string_view("bcnops").find(here()) != std::string_view::npos) {
    atom.element = static_cast<char>(std::toupper(here())), atom.aromatic = true, ++at_;
  } else if (here() == '~') {
    refuse("'~' is a bond of any order, as patterns have it; a molecule has bonds of known order");
  } else if (here() == '>') {
    refuse("'>' separates the parts of a reaction; give each molecule by itself");
  } else {
    refuse(fmt::format("'{}' is not an atom that may be written without brackets", here()));
  }
  add_atom(std::move(atom), true);
}

int SmilesReader::number() {
  int out = 0;
  while (digit(here()) && out < 1000000) out = 10 * out + (here() - '0'), ++at_;
  return out;
}

/// The element of a bracket atom: a symbol, an aromatic one, *, or # and an atomic number.
std::string SmilesReader::symbol(bool& aromatic) {
  if (here() == '*') return ++at_, "*";
  if (here() == '#') {
    ++at_;
    const int found = number();
    const auto element = element_of(found);
    if (!element) refuse(fmt::format("{} is the atomic number of no element", found));
    return std::string(*element);
  }
  const auto upper = [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); };
  const std::string two{upper(here()), here(1)}, one(1, upper(here()));
  if (std::islower(static_cast<unsigned char>(here()))) {
    aromatic = true;
    for (const char* known : {"Se", "As", "Te", "Si"})
      if (two == known) return at_ += 2, two;
    if (std::string_view("bcnops").find(here()) == std::string_view::npos)
      refuse(fmt::format("'{}' is no aromatic atom; b, c, n, o, p, s, as, se, si and te can be", here()));
    return ++at_, one;
  }
  if (std::islower(static_cast<unsigned char>(here(1))) && is_element(two)) return at_ += 2, two;
  if (!is_element(one)) refuse(fmt::format("'{}' is no element", here()));
  return ++at_, one;
}

/// @, @@, or a chirality class with its number.
void SmilesReader::chirality() {
  if (here() != '@') return;
  ++at_;
  if (here() == '@') {
    ++at_;
    return;
  }
  static constexpr std::array<std::pair<std::string_view, int>, 5> classes = {
      {{"TH", 2}, {"AL", 2}, {"SP", 3}, {"TB", 20}, {"OH", 30}}};
  for (const auto& [name, most] : classes)
    if (text_.substr(at_).starts_with(name) && digit(here(2))) {
      at_ += 2;
      const int found = number();
      if (found < 1 || found > most)
        refuse(fmt::format("geometries of the class {} are numbered 1 to {}, not {}", name, most, found));
      return;
    }
}

/// +, ++, +2 and so on.
int SmilesReader::charge() {
  const char sign = here();
  if (sign != '+' && sign != '-') return 0;
  ++at_;
  int size = 1;
  if (digit(here()))
    size = number();
  else
    while (here() == sign) ++at_, ++size;
  constexpr int most = 15;
  if (size > most) refuse(fmt::format("a charge of {}{} is none; they go up to {}", sign, size, most));
  return sign == '+' ? size : -size;
}

/// [isotope element chirality H charge class]
void SmilesReader::bracket() {
  ++at_;
  const bool plain = !digit(here());
  number();
  MoleculeGraph::Atom atom;
  atom.element = symbol(atom.aromatic);
  chirality();
  atom.hydrogens = 0;
  if (here() == 'H') ++at_, atom.hydrogens = digit(here()) ? number() : 1;
  atom.charge = charge();
  if (here() == ':') {
    ++at_;
    if (!digit(here())) refuse("a number was expected after ':'");
    number();
  }
  if (here() != ']') refuse("']' was expected");
  ++at_;
  add_atom(std::move(atom), plain);
}

/// One digit, two after %, or any in parentheses after %.
int SmilesReader::ring_number() {
  if (here() != '%') return here() - '0';
  if (here(1) == '(') {
    const auto percent = at_;
    at_ += 2;
    const bool some = digit(here());
    const int out = number();
    if (!some || here() != ')') {
      at_ = percent;
      refuse("'%(' needs a number and ')'");
    }
    return out;
  }
  if (!digit(here(1)) || !digit(here(2))) refuse("'%' needs two digits");
  at_ += 2;
  return 10 * (text_[at_ - 1] - '0') + (here() - '0');
}

/// A ring bond to the atom with the same ring number.
void SmilesReader::ring() {
  if (last_ < 0) refuse("a ring's number needs an atom before it");
  const int number = ring_number();
  const auto open = rings_.find(number);
  if (open == rings_.end()) {
    rings_[number] = {last_, bond_};
  } else {
    const auto& [atom, first] = open->second;
    if (atom == last_) refuse("a ring cannot close at the atom where it opened");
    const bool both = bond_.order > 0 && first.order > 0;
    // At the closing end, an arrow has the opposite direction.
    if (both && (bond_.order != first.order || (first.order == MoleculeGraph::dative && bond_.back == first.back)))
      refuse(fmt::format("ring {} opened with another bond than it closes with", number));
    Written bond = first;
    if (first.order == 0) bond = {bond_.order, bond_.order == MoleculeGraph::dative && !bond_.back};
    add_bond(atom, last_, bond);
    rings_.erase(open);
  }
  bond_ = {}, ++at_;
}

/// Reads an explicit bond, if there is one.
bool SmilesReader::read_bond() {
  static constexpr std::string_view bonds = "-=#$:/\\";
  static constexpr int orders[] = {1, 2, 3, 4, MoleculeGraph::aromatic, 1, 1};
  const bool to = here() == '-' && here(1) == '>', from = here() == '<' && here(1) == '-';
  const auto found = bonds.find(here());
  if (!to && !from && found == std::string_view::npos) return false;
  if (last_ < 0) refuse("a bond needs an atom before it");
  require_no_bond();
  bond_ = to || from ? Written{MoleculeGraph::dative, from} : Written{orders[found], false};
  at_ += to || from ? 2 : 1;
  return true;
}

void SmilesReader::step() {
  const char c = here();
  if (c == '(') {
    if (last_ < 0) refuse("a branch needs an atom before it");
    require_no_bond();
    branches_.push_back(last_), ++at_;
  } else if (c == ')') {
    if (branches_.empty()) refuse("no branch is open");
    require_no_bond();
    if (text_[at_ - 1] == '(') refuse("the branch holds no atom");
    if (last_ < 0) refuse("a dot leads to no atom");
    last_ = branches_.back(), branches_.pop_back(), ++at_;
  } else if (c == '.') {
    require_no_bond();
    if (last_ < 0) refuse("a dot needs an atom before it");
    last_ = -1, ++at_;
  } else if (c == '%' || digit(c)) {
    ring();
  } else if (c == '[') {
    bracket();
  } else if (!read_bond()) {
    organic();
  }
}

MoleculeGraph SmilesReader::read() {
  while (at_ < text_.size()) step();
  if (!branches_.empty()) refuse("a branch is not closed");
  if (!rings_.empty()) refuse(fmt::format("ring {} is not closed", rings_.begin()->first));
  require_no_bond();
  if (out_.atoms.empty()) refuse("it has no atoms");
  if (last_ < 0) refuse("a dot leads to no atom");
  for (const auto bond : unwritten_)
    if (!in_ring(out_, bond)) out_.bonds[bond].order = 1;
  join_hydrogens(out_, plain_);
  return std::move(out_);
}

}  // namespace

MoleculeGraph parse_smiles(std::string_view text) { return SmilesReader(text).read(); }

}  // namespace cambium::relate
