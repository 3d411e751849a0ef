#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace cambium::relate {

/// Atoms and bonds of a molecule, as far as fragments need them: no geometry, no isotopes.
struct MoleculeGraph {
  static constexpr int aromatic = 5, dative = 6;  ///< orders of bonds
  struct Atom {
    std::string element;  ///< such as "Cl"; "*" for any
    bool aromatic = false;
    int charge = 0;
    int hydrogens = -1;  ///< written in brackets or as atoms; -1 where they follow from the element
  };
  struct Bond {
    int a = 0, b = 0;  ///< of a dative bond a gives the electrons
    int order = 1;     ///< 1 to 4, aromatic or dative
  };
  std::vector<Atom> atoms;
  std::vector<Bond> bonds;
};

/// Reads a SMILES by the rules of OpenSMILES 1.0 (opensmiles.org); marks of geometry are checked and read over. Beside
/// them, what RDKit writes: ring numbers %(100), dative bonds -> and <-, [#6] for an atomic number. What follows the
/// first blank, a name or an extension |...|, is not part of it. Hydrogens that are written as atoms are counted with
/// the atoms that they are bound to, but for isotopes. InputError says at which letter it cannot be read, and why.
MoleculeGraph parse_smiles(std::string_view text);

}  // namespace cambium::relate
