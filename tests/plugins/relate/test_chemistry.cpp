// SMILES, fragments and words.
#include <algorithm>

#include "core/base/error.hpp"
#include "plugins/relate/chemistry/fragments.hpp"
#include "plugins/relate/chemistry/similarity.hpp"
#include "plugins/relate/chemistry/words.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::relate;

TEST_CASE("a SMILES is read into atoms and bonds") {
  const auto aspirin = parse_smiles("CC(=O)Oc1ccccc1C(=O)O");
  CHECK(aspirin.atoms.size() == 13);
  CHECK(aspirin.bonds.size() == 13);
  CHECK(std::count_if(aspirin.bonds.begin(), aspirin.bonds.end(), [](const auto& b) { return b.order == 5; }) == 6);
  CHECK(std::count_if(aspirin.bonds.begin(), aspirin.bonds.end(), [](const auto& b) { return b.order == 2; }) == 2);
  const auto salt = parse_smiles("[Na+].[Cl-]");
  CHECK(salt.atoms.size() == 2);
  CHECK(salt.bonds.empty());
  CHECK(salt.atoms[0].charge == 1);
  CHECK(salt.atoms[1].element == "Cl");
  const auto alanine = parse_smiles("C[C@@H](N)C(=O)[O-]");
  CHECK(alanine.atoms[1].hydrogens == 1);
  CHECK(parse_smiles("[13CH4]").atoms[0].hydrogens == 4);
  CHECK(parse_smiles("c1cc[nH]c1").atoms[3].element == "N");
  CHECK(parse_smiles("C%12CCCCC%12").bonds.size() == 6);
}

TEST_CASE("fragments do not depend on the order in which atoms are written") {
  const std::vector<std::pair<const char*, const char*>> same{
      {"CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1OC(C)=O"}, {"C1CC1CO", "OCC1CC1"}, {"Clc1ccncc1", "c1cc(Cl)ccn1"}};
  for (const auto& [a, b] : same)
    for (const int radius : {0, 1, 2, 3})
      CHECK(fragment_rows(parse_smiles(a), radius, 100000) == fragment_rows(parse_smiles(b), radius, 100000));
  CHECK(fragment_rows(parse_smiles("CCO"), 2, 100000) != fragment_rows(parse_smiles("CCN"), 2, 100000));
  const auto rows = fragment_rows(parse_smiles("CC(C)Cc1ccc(cc1)C(C)C(=O)O"), 2, 64);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  CHECK(rows.front() >= 0);
  CHECK(rows.back() < 64);
}

TEST_CASE("a molecule has the same fragments with and without marks of chirality and bonds that need not be written") {
  const std::vector<std::pair<const char*, const char*>> same{
      {"C[C@@H](N)C(=O)O", "CC(N)C(=O)O"},
      {"[CH3][CH2]O", "CCO"},
      {"C[C@](F)(Cl)Br", "CC(F)(Cl)Br"},
      {"c1[cH]cccc1", "c1ccccc1"},
      {"CS[C@H]1CCS1", "CSC1CCS1"},
      {"F/C=C/F", "FC=CF"},
      {"c1ccccc1c1ccccc1", "c1ccccc1-c1ccccc1"},
      {"c1ccccc1c1cc(ccc1)c1ccncc1", "c1ccccc1-c1cc(ccc1)-c1ccncc1"}};
  for (const auto& [a, b] : same) {
    INFO(a);
    for (const int radius : {0, 1, 2})
      CHECK(fragment_rows(parse_smiles(a), radius, 100000) == fragment_rows(parse_smiles(b), radius, 100000));
  }
  // Hydrogens that an atom outside brackets would not have still count, and so do rings.
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"C[NH3+]", "C[N+]"}, {"c1cc[nH]c1", "c1ccnc1"}, {"c1ccc2ccccc2c1", "c1ccc-2ccccc2c1"}})
    CHECK(fragment_rows(parse_smiles(a), 1, 100000) != fragment_rows(parse_smiles(b), 1, 100000));
  CHECK(parse_smiles("C[Sm]C").atoms[1].element == "Sm");
  CHECK(parse_smiles("[211At]").atoms[0].element == "At");
  CHECK(parse_smiles("[U]").atoms[0].element == "U");
}

TEST_CASE("every element, charge, class of geometry and bond of OpenSMILES, and what RDKit writes beside it") {
  for (const char* text : {"[Og]",
                           "[Rf]",
                           "[Cn+2]",
                           "[#6]C",
                           "[Fe++].[Cl-].[Cl-]",
                           "[O--]",
                           "F[Pt@SP1](Cl)(Br)I",
                           "[C@TH1H](F)(Cl)Br",
                           "F[Co@OH30](Cl)(Br)(I)(C)N",
                           "CC=[C@AL2]=CC",
                           "S[As@TB20](F)(Cl)(Br)N",
                           "[Re]$[Re]",
                           "C(.Cl)C",
                           "C1.C1",
                           "c1cc[te]c1",
                           "c1cc[as]cc1",
                           "b1ccccc1",
                           "[13CH4:7]",
                           "[*H2]",
                           "[H][H]",
                           "[H+]",
                           "[si]1ccccc1"})
    CHECK_NOTHROW(parse_smiles(text));
  CHECK(parse_smiles("[#79+3]").atoms[0].element == "Au");
  CHECK(parse_smiles("[Fe++]").atoms[0].charge == 2);
  CHECK(parse_smiles("[S-2]").atoms[0].charge == -2);
  CHECK(parse_smiles("C%(100)CCCCC%(100)").bonds.size() == 6);
  CHECK(parse_smiles("C%(12)CCCCC%12").bonds.size() == 6);
  CHECK(parse_smiles(" CCO ethanol\n").atoms.size() == 3);
  CHECK(parse_smiles("CCO |$;;OH$|").atoms.size() == 3);
  const auto dative = parse_smiles("CN(C)(C)->[Pt]"), back = parse_smiles("[Pt]<-N(C)(C)C");
  CHECK(dative.bonds.back().order == MoleculeGraph::dative);
  CHECK(dative.bonds.back().b == 4);
  CHECK(back.bonds.front().b == 0);
  const auto closed = parse_smiles("N->1CC[Pt]1"), opened = parse_smiles("N1CC[Pt]<-1");
  CHECK((closed.bonds.back().a == 0 && opened.bonds.back().a == 0));
  for (const int radius : {0, 1, 2}) {
    CHECK(fragment_rows(dative, radius, 100000) == fragment_rows(back, radius, 100000));
    CHECK(fragment_rows(closed, radius, 100000) == fragment_rows(opened, radius, 100000));
  }
}

TEST_CASE("hydrogens that are written as atoms are those that brackets count, isotopes stay") {
  CHECK(parse_smiles("[H]C([H])([H])O[H]").atoms.size() == 2);
  CHECK(parse_smiles("[H]C([H])([H])O[H]").atoms[0].hydrogens == -1);
  CHECK(parse_smiles("[H][N+]([H])([H])C").atoms[0].hydrogens == 3);
  CHECK(parse_smiles("[2H]O[2H]").atoms.size() == 3);
  CHECK(parse_smiles("[H]S([H])([H])([H])C").atoms[0].hydrogens == 5);  // a valence of six
  for (const int radius : {0, 1, 2}) {
    CHECK(fragment_rows(parse_smiles("[H]C([H])([H])O[H]"), radius, 100000) ==
          fragment_rows(parse_smiles("CO"), radius, 100000));
    CHECK(fragment_rows(parse_smiles("C[C]C"), radius, 100000) != fragment_rows(parse_smiles("CCC"), radius, 100000));
  }
}

TEST_CASE("a SMILES that cannot be read is refused where it breaks") {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"CC(C", "the SMILES 'CC(C' cannot be read at letter 5: a branch is not closed"},
      {"CC)C", "the SMILES 'CC)C' cannot be read at letter 3: no branch is open"},
      {"(CC)", "the SMILES '(CC)' cannot be read at letter 1: a branch needs an atom before it"},
      {"C1CC", "the SMILES 'C1CC' cannot be read at letter 5: ring 1 is not closed"},
      {"C11", "the SMILES 'C11' cannot be read at letter 3: a ring cannot close at the atom where it opened"},
      {"1CC", "the SMILES '1CC' cannot be read at letter 1: a ring's number needs an atom before it"},
      {"C%1", "the SMILES 'C%1' cannot be read at letter 2: '%' needs two digits"},
      {"CXC", "the SMILES 'CXC' cannot be read at letter 2: 'X' is not an atom that may be written without brackets"},
      {"[Qq]", "the SMILES '[Qq]' cannot be read at letter 2: 'Q' is no element"},
      {"[Na+", "the SMILES '[Na+' cannot be read at letter 5: ']' was expected"},
      {"=CC", "the SMILES '=CC' cannot be read at letter 1: a bond needs an atom before it"},
      {"CC=", "the SMILES 'CC=' cannot be read at letter 4: a bond leads to no atom"},
      {"C(=)C", "the SMILES 'C(=)C' cannot be read at letter 4: a bond leads to no atom"},
      {"C=(C)C", "the SMILES 'C=(C)C' cannot be read at letter 3: a bond leads to no atom"},
      {"C==C", "the SMILES 'C==C' cannot be read at letter 3: a bond leads to no atom"},
      {"C-.C", "the SMILES 'C-.C' cannot be read at letter 3: a bond leads to no atom"},
      {"C()C", "the SMILES 'C()C' cannot be read at letter 3: the branch holds no atom"},
      {"C1C1", "the SMILES 'C1C1' cannot be read at letter 4: these two atoms have a bond already"},
      {"C=1CCC-1",
       "the SMILES 'C=1CCC-1' cannot be read at letter 8: ring 1 opened with another bond than it closes with"},
      {"", "the SMILES '' cannot be read at letter 1: it has no atoms"},
      {".CC", "the SMILES '.CC' cannot be read at letter 1: a dot needs an atom before it"},
      {"CC.", "the SMILES 'CC.' cannot be read at letter 4: a dot leads to no atom"},
      {"C(C.)C", "the SMILES 'C(C.)C' cannot be read at letter 5: a dot leads to no atom"},
      {"C~C",
       "the SMILES 'C~C' cannot be read at letter 2: '~' is a bond of any order, as patterns have it; a molecule has "
       "bonds of known order"},
      {"CC>>CO",
       "the SMILES 'CC>>CO' cannot be read at letter 3: '>' separates the parts of a reaction; give each molecule "
       "by itself"},
      {"C%(1CC", "the SMILES 'C%(1CC' cannot be read at letter 2: '%(' needs a number and ')'"},
      {"[#119]", "the SMILES '[#119]' cannot be read at letter 6: 119 is the atomic number of no element"},
      {"[cl]", "the SMILES '[cl]' cannot be read at letter 3: ']' was expected"},
      {"[fe]",
       "the SMILES '[fe]' cannot be read at letter 2: 'f' is no aromatic atom; b, c, n, o, p, s, as, se, si and te can "
       "be"},
      {"[C@TB21](F)(Cl)(Br)(I)N",
       "the SMILES '[C@TB21](F)(Cl)(Br)(I)N' cannot be read at letter 8: geometries of the class TB are numbered 1 to "
       "20, not 21"},
      {"[Na+16]", "the SMILES '[Na+16]' cannot be read at letter 7: a charge of +16 is none; they go up to 15"},
      {"[CH3:]", "the SMILES '[CH3:]' cannot be read at letter 6: a number was expected after ':'"},
      {"C->1CC->1",
       "the SMILES 'C->1CC->1' cannot be read at letter 9: ring 1 opened with another bond than it closes with"}};
  for (const auto& [text, message] : wrong) CHECK_THROWS_WITH(parse_smiles(text), message);
}

TEST_CASE("words of a sequence, and those that it has not") {
  CHECK(word_rows("ABCA", 2) == std::vector<std::int32_t>{1, 28, 52});
  CHECK(word_rows("abca", 2) == word_rows("ABCA", 2));
  CHECK(words_in_all(3) == 17576);
  CHECK_THROWS_WITH(word_rows("MK*L", 3), "letter 3 of the sequence is '*'; residues are letters");
  CHECK_THROWS_WITH(word_rows("MK", 3),
                    "the sequence has 2 letters, but a word has 3; give the full sequence, or take shorter words");
}

TEST_CASE("texts that share pieces are alike") {
  const std::vector<std::string> texts{"ABCD", "ABCD", "ABCX", "", "WXYZ"};
  const int lengths[] = {2, 3};
  auto s = text_similarity(texts, lengths);
  const auto at = [&](std::size_t i, std::size_t j) { return s[i * 5 + j]; };
  CHECK(at(0, 1) == Approx(1.0));
  CHECK(at(0, 2) == Approx(3.0 / 5.0));  // AB, BC, ABC of five pieces each
  CHECK(at(0, 4) == 0.0);
  CHECK(at(3, 0) == 0.0);
  for (std::size_t k = 0; k < 25; ++k) s[k] *= 2.0;
  s[1] = 1.0;
  normalise_similarity(s, 5);
  CHECK(at(0, 0) == Approx(1.0));
  CHECK(at(0, 1) == Approx(0.75));
  CHECK(at(1, 0) == at(0, 1));
}
