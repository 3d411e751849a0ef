#include "plugins/relate/chemistry/smiles.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>

#include "core/base/error.hpp"

namespace cambium::relate {

namespace {

class SmilesReader {
 public:
  explicit SmilesReader(std::string_view text) : text_(text) {}
  MoleculeGraph read();

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(fmt::format("the SMILES '{}' cannot be read at letter {}: {}", text_, at_ + 1, why));
  }
  char here(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void add_atom(MoleculeGraph::Atom atom);
  void add_bond(int a, int b, int written);
  void require_no_bond() const;
  void organic();
  void bracket();
  void ring();
  int number();

  std::string_view text_;
  std::size_t at_ = 0;
  MoleculeGraph out_;
  int last_ = -1;  ///< the atom that a bond begins at
  int order_ = 0;  ///< of the next bond; 0 where nothing was written
  std::vector<int> branches_;
  std::vector<std::size_t> unwritten_;  ///< bonds between aromatic atoms that nothing was written for
  struct Open {
    int atom = 0, order = 0;
  };
  std::map<int, Open> rings_;
};

const std::set<std::string, std::less<>> elements = {
    "*",  "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl",
    "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br",
    "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",
    "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu",
    "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac",
    "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr"};

void SmilesReader::add_atom(MoleculeGraph::Atom atom) {
  const int number = static_cast<int>(out_.atoms.size());
  out_.atoms.push_back(std::move(atom));
  if (last_ >= 0) add_bond(last_, number, order_);
  last_ = number, order_ = 0;
}

/// A bond that was not written is aromatic between aromatic atoms of a ring, else single.
void SmilesReader::add_bond(int a, int b, int written) {
  for (const auto& bond : out_.bonds)
    if ((bond.a == a && bond.b == b) || (bond.a == b && bond.b == a)) refuse("these two atoms have a bond already");
  const bool aromatic =
      out_.atoms[static_cast<std::size_t>(a)].aromatic && out_.atoms[static_cast<std::size_t>(b)].aromatic;
  if (written == 0 && aromatic) unwritten_.push_back(out_.bonds.size());
  out_.bonds.push_back({a, b, written > 0 ? written : aromatic ? 5 : 1});
}

void SmilesReader::require_no_bond() const {
  if (order_ > 0) refuse("a bond leads to no atom");
}

/// Whether the atoms of a bond hang together without it.
bool in_ring(const MoleculeGraph& molecule, std::size_t bond) {
  std::vector<std::vector<int>> neighbours(molecule.atoms.size());
  for (std::size_t k = 0; k < molecule.bonds.size(); ++k) {
    if (k == bond) continue;
    neighbours[static_cast<std::size_t>(molecule.bonds[k].a)].push_back(molecule.bonds[k].b);
    neighbours[static_cast<std::size_t>(molecule.bonds[k].b)].push_back(molecule.bonds[k].a);
  }
  std::vector<bool> met(molecule.atoms.size());
  std::vector<int> open{molecule.bonds[bond].a};
  met[static_cast<std::size_t>(open.back())] = true;
  while (!open.empty()) {
    const int atom = open.back();
    open.pop_back();
    for (const int next : neighbours[static_cast<std::size_t>(atom)]) {
      if (next == molecule.bonds[bond].b) return true;
      if (!met[static_cast<std::size_t>(next)]) met[static_cast<std::size_t>(next)] = true, open.push_back(next);
    }
  }
  return false;
}

/// An atom that needs no brackets.
void SmilesReader::organic() {
  MoleculeGraph::Atom atom;
  const std::string two{here(), here(1)};
  if (two == "Cl" || two == "Br") {
    atom.element = two, at_ += 2;
  } else if (std::string_view("BCNOPSFI*").find(here()) != std::string_view::npos) {
    atom.element = here(), ++at_;
  } else if (std::string_view("bcnops").find(here()) != std::string_view::npos) {
    atom.element = static_cast<char>(std::toupper(here())), atom.aromatic = true, ++at_;
  } else {
    refuse(fmt::format("'{}' is no atom that may stand without brackets", here()));
  }
  add_atom(std::move(atom));
}

int SmilesReader::number() {
  int out = 0;
  while (std::isdigit(static_cast<unsigned char>(here())) && out < 1000) out = 10 * out + (here() - '0'), ++at_;
  return out;
}

/// [isotope element chirality H charge class]
void SmilesReader::bracket() {
  ++at_;
  number();
  MoleculeGraph::Atom atom;
  atom.hydrogens = 0;
  std::string symbol(1, here());
  atom.aromatic = std::islower(static_cast<unsigned char>(here())) != 0;
  symbol[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(here())));
  if (std::islower(static_cast<unsigned char>(here(1))) && elements.contains(symbol + here(1))) symbol += here(1);
  if (!elements.contains(symbol)) refuse(fmt::format("'{}' is no element", here()));
  atom.element = symbol, at_ += symbol.size();
  while (here() == '@' || (std::isupper(static_cast<unsigned char>(here())) && here() != 'H')) ++at_;
  if (here() == 'H') ++at_, atom.hydrogens = std::isdigit(static_cast<unsigned char>(here())) ? number() : 1;
  while (here() == '+' || here() == '-') {
    const int sign = here() == '+' ? 1 : -1;
    ++at_;
    atom.charge += sign * (std::isdigit(static_cast<unsigned char>(here())) ? number() : 1);
  }
  if (here() == ':') ++at_, number();
  if (here() != ']') refuse("']' was expected");
  ++at_;
  add_atom(std::move(atom));
}

/// A number that closes a ring with the atom where it stood before.
void SmilesReader::ring() {
  if (last_ < 0) refuse("a ring's number needs an atom before it");
  int number = here() - '0';
  if (here() == '%') {
    if (!std::isdigit(static_cast<unsigned char>(here(1))) || !std::isdigit(static_cast<unsigned char>(here(2))))
      refuse("'%' needs two digits");
    number = 10 * (here(1) - '0') + (here(2) - '0'), at_ += 2;
  }
  const auto open = rings_.find(number);
  if (open == rings_.end()) {
    rings_[number] = {last_, order_};
  } else {
    if (open->second.atom == last_) refuse("a ring cannot close at the atom where it opened");
    if (order_ > 0 && open->second.order > 0 && order_ != open->second.order)
      refuse(fmt::format("ring {} opened with another bond than it closes with", number));
    add_bond(open->second.atom, last_, order_ > 0 ? order_ : open->second.order);
    rings_.erase(open);
  }
  order_ = 0, ++at_;
}

MoleculeGraph SmilesReader::read() {
  static constexpr std::string_view bonds = "-=#$:/\\";
  static constexpr int orders[] = {1, 2, 3, 4, 5, 1, 1};
  while (at_ < text_.size()) {
    const char c = here();
    if (c == '(') {
      if (last_ < 0) refuse("a branch needs an atom before it");
      require_no_bond();
      branches_.push_back(last_), ++at_;
    } else if (c == ')') {
      if (branches_.empty()) refuse("no branch is open");
      require_no_bond();
      if (text_[at_ - 1] == '(') refuse("the branch holds no atom");
      last_ = branches_.back(), branches_.pop_back(), ++at_;
    } else if (c == '.') {
      require_no_bond();
      last_ = -1, ++at_;
    } else if (const auto bond = bonds.find(c); bond != std::string_view::npos) {
      if (last_ < 0) refuse("a bond needs an atom before it");
      require_no_bond();
      order_ = orders[bond], ++at_;
    } else if (c == '%' || std::isdigit(static_cast<unsigned char>(c))) {
      ring();
    } else if (c == '[') {
      bracket();
    } else {
      organic();
    }
  }
  if (!branches_.empty()) refuse("a branch is not closed");
  if (!rings_.empty()) refuse(fmt::format("ring {} is not closed", rings_.begin()->first));
  require_no_bond();
  if (out_.atoms.empty()) refuse("it has no atoms");
  for (const auto bond : unwritten_)
    if (!in_ring(out_, bond)) out_.bonds[bond].order = 1;
  return std::move(out_);
}

}  // namespace

MoleculeGraph parse_smiles(std::string_view text) { return SmilesReader(text).read(); }

}  // namespace cambium::relate
