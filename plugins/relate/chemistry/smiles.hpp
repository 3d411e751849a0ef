#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace cambium::relate {

/// Atoms and bonds of a molecule as needed for fragments: no geometry, no isotopes.
struct MoleculeGraph {
  static constexpr int aromatic = 5, dative = 6;  ///< orders of bonds
  struct Atom {
    std::string element;  ///< for example "Cl"; "*" for any
    bool aromatic = false;
    int charge = 0;
    int hydrogens = -1;  ///< explicit, in brackets or as atoms; -1 if implied by the element
  };
  struct Bond {
    int a = 0, b = 0;  ///< a is the electron donor of a dative bond
    int order = 1;     ///< 1 to 4, aromatic or dative
  };
  std::vector<Atom> atoms;
  std::vector<Bond> bonds;
};

/// Parses a SMILES by the rules of OpenSMILES 1.0 (opensmiles.org); stereochemistry is checked and skipped. Also
/// accepts RDKit's extensions: ring numbers %(100), dative bonds -> and <-, [#6] for an atomic number. Text after the
/// first blank, a name or an extension |...|, is ignored. Explicit hydrogen atoms are counted with the atoms that they
/// are bound to, except isotopes. InputError gives the position and the reason.
MoleculeGraph parse_smiles(std::string_view text);

}  // namespace cambium::relate
