"""SMILES as RDKit writes them, for test_smiles_spellings.cpp.

Prints a line for each spelling, with tabs between: the canonical SMILES, the spelling, and what RDKit's own molecule has: heavy atoms, bonds
between them, the sum of charges, hydrogens. Ends with 3 where RDKit is missing.
"""
import random
import sys

try:
    from rdkit import Chem, RDLogger
except ImportError as error:
    print(error)
    sys.exit(3)

RDLogger.DisableLog("rdApp.*")
MOLECULES = """CC(=O)Oc1ccccc1C(=O)O
CN1C=NC2=C1C(=O)N(C(=O)N2C)C
CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)O
C[C@@H](C(=O)O)N
OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O
CC(=O)[O-].[Na+]
F/C=C/F
C#Cc1ccccc1[N+](=O)[O-]
CS(=O)(=O)Nc1ccc2c(c1)ncs2
c1cc[se]c1
c1cc2c(cc1)[nH]cc2CCN
O=c1cc[nH]c(=O)[nH]1
[13CH3]C([2H])O
C[n+]1ccccc1.[Cl-]
CP(=O)(O)OCC[N+](C)(C)C
B(O)(O)c1ccccc1
FC(F)(F)Cl
[Cu+2].[O-]S(=O)(=O)[O-]
CC12CCC3C(C1CCC2O)CCC4=CC(=O)CCC34C
C1CC2CCC1C2
c1ccc(-c2ccccc2)cc1
CN(C)(C)->[Pt]
[Fe+2]
*C(=O)O
C[Si](C)(C)C
ClC1=C(Cl)C(Cl)=C(Cl)C1
N#CC(=NO)c1ccc(I)cc1Br
[O-][n+]1ccccc1
C1=CC=CN1C
Cc1ccc(cc1)S(=O)(=O)N""".split()


def say(canonical, spelling, molecule):
    heavy = [a for a in molecule.GetAtoms() if a.GetSymbol() != "H" or a.GetIsotope()]
    hydrogens = sum(a.GetTotalNumHs() for a in molecule.GetAtoms()) + len(list(molecule.GetAtoms())) - len(heavy)
    bonds = sum(1 for b in molecule.GetBonds() if all(a.GetSymbol() != "H" or a.GetIsotope() for a in (b.GetBeginAtom(), b.GetEndAtom())))
    print(canonical, spelling, len(heavy), bonds, Chem.GetFormalCharge(molecule), hydrogens, sep="\t")


random.seed(7)
for k in range(540):
    molecule = Chem.MolFromSmiles(MOLECULES[k % len(MOLECULES)])
    canonical = Chem.MolToSmiles(molecule)
    how = {"doRandom": True, "canonical": False, "allBondsExplicit": random.random() < 0.25, "allHsExplicit": random.random() < 0.25,
           "isomericSmiles": any(a.GetIsotope() for a in molecule.GetAtoms()) or random.random() < 0.8}
    written = Chem.AddHs(molecule) if random.random() < 0.25 else molecule
    spelling = Chem.MolToSmiles(written, **how)
    if random.random() < 0.2:  # atom maps, as reactions have them
        mapped = Chem.Mol(molecule)
        for atom in mapped.GetAtoms():
            atom.SetAtomMapNum(atom.GetIdx() + 1)
        spelling = Chem.MolToSmiles(mapped, doRandom=True, canonical=False)
    if random.random() < 0.2:
        spelling = Chem.MolToCXSmiles(Chem.MolFromSmiles(spelling)) if random.random() < 0.5 else spelling + " a name"
    say(canonical, spelling, Chem.MolFromSmiles(canonical))
