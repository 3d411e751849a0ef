#pragma once
#include "plugins/relate/chemistry/smiles.hpp"

namespace cambium::relate {

/// Hydrogens of an atom outside brackets with bonds of these orders in all (OpenSMILES); -1 where brackets are needed.
int usual_hydrogens(const MoleculeGraph::Atom& atom, int bonds);

/// Orders of the bonds of every atom in all: a double one counts twice, an aromatic one once, a dative one only for
/// the atom that takes the electrons.
std::vector<int> orders_of(const MoleculeGraph& molecule);

/// Hydrogens that are written as atoms become counts of the atoms that they are bound to, as [CH4] and C have them:
/// those without isotope, charge, hydrogens of their own and with one single bond, to an atom that is no hydrogen.
/// `plain[a]`: atom a has no isotope.
void join_hydrogens(MoleculeGraph& molecule, const std::vector<bool>& plain);

}  // namespace cambium::relate
