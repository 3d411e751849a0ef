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

TEST_CASE("a SMILES that cannot be read is refused where it breaks") {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"CC(C", "the SMILES 'CC(C' cannot be read at letter 5: a branch is not closed"},
      {"CC)C", "the SMILES 'CC)C' cannot be read at letter 3: no branch is open"},
      {"(CC)", "the SMILES '(CC)' cannot be read at letter 1: a branch needs an atom before it"},
      {"C1CC", "the SMILES 'C1CC' cannot be read at letter 5: ring 1 is not closed"},
      {"C11", "the SMILES 'C11' cannot be read at letter 3: a ring cannot close at the atom where it opened"},
      {"1CC", "the SMILES '1CC' cannot be read at letter 1: a ring's number needs an atom before it"},
      {"C%1", "the SMILES 'C%1' cannot be read at letter 2: '%' needs two digits"},
      {"CXC", "the SMILES 'CXC' cannot be read at letter 2: 'X' is no atom that may stand without brackets"},
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
      {"", "the SMILES '' cannot be read at letter 1: it has no atoms"}};
  for (const auto& [text, message] : wrong) CHECK_THROWS_WITH(parse_smiles(text), message);
}

TEST_CASE("words of a sequence, and those that it has not") {
  CHECK(word_rows("ABCA", 2) == std::vector<std::int32_t>{1, 28, 52});
  CHECK(word_rows("abca", 2) == word_rows("ABCA", 2));
  CHECK(words_in_all(3) == 17576);
  CHECK_THROWS_WITH(word_rows("MK*L", 3), "letter 3 of the sequence is '*'; residues are letters");
  CHECK_THROWS_WITH(word_rows("MK", 3),
                    "the sequence has 2 letters, but a word has 3; give the whole sequence, or take shorter words");
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
