#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace cambium::relate {

/// Atoms and bonds of a molecule, as far as fragments need them: no geometry, no isotopes.
struct MoleculeGraph {
  struct Atom {
    std::string element;  ///< such as "Cl"; "*" for any
    bool aromatic = false;
    int charge = 0;
    int hydrogens = -1;  ///< written in brackets; -1 where they follow from the element
  };
  struct Bond {
    int a = 0, b = 0;
    int order = 1;  ///< 1 to 4; 5 is aromatic
  };
  std::vector<Atom> atoms;
  std::vector<Bond> bonds;
};

/// Reads a SMILES (OpenSMILES without stereochemistry, which is read over). InputError says at which letter it cannot
/// be read, and why.
MoleculeGraph parse_smiles(std::string_view text);

}  // namespace cambium::relate
