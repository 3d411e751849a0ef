#pragma once
#include "plugins/relate/chemistry/smiles.hpp"

namespace cambium::relate {

/// Implicit hydrogens of an atom outside brackets with this sum of bond orders (OpenSMILES); -1 if brackets are
/// required.
int usual_hydrogens(const MoleculeGraph::Atom& atom, int bonds);

/// Sum of bond orders of every atom: a double bond counts twice, an aromatic one once, a dative one only for the
/// acceptor.
std::vector<int> orders_of(const MoleculeGraph& molecule);

/// Merges explicit hydrogen atoms into the counts of the atoms that they are bound to, so that [CH4] and C are equal:
/// those without isotope, charge or hydrogens of their own and with one single bond, to an atom that is not hydrogen.
/// `plain[a]`: atom a has no isotope.
void join_hydrogens(MoleculeGraph& molecule, const std::vector<bool>& plain);

}  // namespace cambium::relate
