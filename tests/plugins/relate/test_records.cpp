// Files of pairs and clicks, folds, and what is refused.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <set>

#include "core/base/error.hpp"
#include "plugins/relate/datasets/clicks.hpp"
#include "plugins/relate/datasets/pairs.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

struct Files {
  Comm comm{MPI_COMM_SELF};
  SharedScratch scratch{comm};
  std::string text(const std::string& name, const std::string& content) {
    std::ofstream(scratch.file(name)) << content;
    return scratch.file(name);
  }
};

const std::string head = "compound,smiles,target,sequence,pKd";

/// What reading says, with the folder left away.
std::string refusal(Files& files, const std::string& content) {
  const auto path = files.text("pairs.csv", content);
  try {
    const auto table = std::make_shared<const PairTable>(read_pair_csv(path));
    pair_records(table, std::vector<Role>(table->entries.size(), Role::test), Role::test, {});
  } catch (const InputError& error) {
    std::string said = error.what();
    for (std::size_t at; (at = said.find(files.scratch.folder + "/")) != std::string::npos;)
      said.erase(at, files.scratch.folder.size() + 1);
    return said;
  }
  return "";
}

}  // namespace

TEST_CASE("text of pairs is read, and what cannot be is refused with its line") {
  Files files;
  const auto table = read_pair_csv(
      files.text("good.csv", head + ",fold\nA,CCO,P1,MKLV,5.5,0\nB,\"CC(=O)O\",P1,MKLV,6,1\n\nA,CCO,P2,MKLA,7.25,1\n"));
  REQUIRE(table.entries.size() == 3);
  CHECK(table.answer == "pKd");
  CHECK(table.compounds.id == std::vector<std::string>{"A", "B"});
  CHECK(table.targets.text == std::vector<std::string>{"MKLV", "MKLA"});
  CHECK(table.entries[2].value == 7.25);
  CHECK(table.entries[2].fold == 1);
  CHECK(table.entries[2].place == 5);
  CHECK(
      refusal(files, "name,smiles\n") ==
      "pairs.csv:1: no column holds sequences; the line of names is 'name,smiles', and it must name compound, smiles, "
      "target, sequence and a value, or Drug_ID, Drug, Target_ID, Target and Y");
  CHECK(refusal(files, head + "\nA,CCO,P1,MKL\n") ==
        "pairs.csv:2: 5 columns were expected, but the line has 4; is the file cut short?");
  CHECK(refusal(files, head + "\nA,CCO,P1,MKL,strong\n") == "pairs.csv:2: 'strong' is not a number");
  CHECK(refusal(files, head + ",fold\nA,CCO,P1,MKL,1,x\n") == "pairs.csv:2: the fold 'x' is not a whole number");
  CHECK(refusal(files, head + "\nA,CCO,P1,MKL,1\nA,CCC,P2,MKV,1\n") ==
        "pairs.csv:3: 'A' had another SMILES before; give things of different SMILES different names");
  CHECK(refusal(files, head + "\n") == "'pairs.csv' holds no pairs");
  CHECK(refusal(files, head + "\nA,CC(,P1,MKL,1\n") ==
        "'pairs.csv', row 2, compound 'A': the SMILES 'CC(' cannot be read at letter 4: a branch is not closed");
  CHECK(refusal(files, head + "\nA,CC,P1,M-L,1\n") ==
        "'pairs.csv', row 2, target 'P1': letter 2 of the sequence is '-'; residues are letters");
}

TEST_CASE("tables of pairs in the forms of archives and spreadsheets") {
  Files files;
  const std::vector<std::string> forms{
      head + "\nA,CCO,P1,MKL,5.5\nB,CCN,P2,MKV,6\n",
      "Drug_ID,Drug,Target_ID,Target,Y\nA,CCO,P1,MKL,5.5\nB,CCN,P2,MKV,6\n",
      ",Drug_ID,Drug,Target_ID,Target,Y\n0,A,CCO,P1,MKL,5.5\n1,B,CCN,P2,MKV,6\n",
      "smiles\tsequence\tpKd\tcompound\ttarget\nCCO\tMKL\t5.5\tA\tP1\nCCN\tMKV\t6\tB\tP2\n",
      "\xef\xbb\xbf\"Compound\";\"SMILES\";\"Target\";\"Sequence\";\"pKd\"\r\n\"A\";\"CCO\";\"P1\";\"MKL\";\"5,"
      "5\"\r\nB;CCN;P2;MKV;6,0\r\n",
      "compound_id:token,smiles:token,target_id:token,sequence:token,value:float\nA,CCO,P1,mkl,5.5\nB,CCN,P2,\"mk\nv\","
      "6\n"};
  for (const auto& text : forms) {
    INFO(text);
    const auto table = read_pair_csv(files.text("form.csv", text));
    REQUIRE(table.entries.size() == 2);
    CHECK(table.compounds.id == std::vector<std::string>{"A", "B"});
    CHECK(table.compounds.text == std::vector<std::string>{"CCO", "CCN"});
    CHECK(table.targets.id == std::vector<std::string>{"P1", "P2"});
    CHECK(table.targets.text == std::vector<std::string>{"MKL", "MKV"});
    CHECK(table.entries[0].value == 5.5);
    CHECK(table.entries[1].value == 6.0);
  }
  const auto by_text =
      read_pair_csv(files.text("text.csv", "compound_iso_smiles,target_sequence,affinity\nCCO,MKL,5\n"));
  CHECK(by_text.compounds.id == std::vector<std::string>{"CCO"});
  CHECK(by_text.targets.id == std::vector<std::string>{"MKL"});
  const std::string several = head + ",Ki,source\nA,CCO,P1,MKL,5,7,x\n";
  CHECK(refusal(files, several) ==
        "pairs.csv:1: 'pKd', 'Ki', 'source' may be values; select one by the key 'value'; the line of names is "
        "'compound,smiles,target,sequence,pKd,Ki,source', and it must name compound, smiles, target, sequence and a "
        "value, or Drug_ID, Drug, Target_ID, Target and Y");
  const auto chosen = read_pair_csv(files.text("several.csv", several), {"Ki", {}});
  CHECK(chosen.entries[0].value == 7.0);
  CHECK(chosen.notes.front().ends_with("several.csv': not used of its columns: 'pKd', 'source'"));
  CHECK_THROWS_WITH(read_pair_csv(files.text("none.csv", several), {"pKi", {}}),
                    Catch::Contains("there is no column 'pKi'"));
  CHECK(refusal(files, "compound,target,sequence,pKd\n").find("pairs.csv:1: no column holds SMILES;") == 0);
  CHECK(refusal(files, "compound,smiles,target,sequence\n").find("pairs.csv:1: no column is left for the values;") ==
        0);
  CHECK(refusal(files, head + "\nA,\"CCO,P1,MKL,1\n") ==
        "pairs.csv:2: a quotation mark is not closed; is the file cut short?");
}

TEST_CASE("pairs without a value or with a bound are left out and counted, or refused") {
  Files files;
  const std::string text =
      head +
      "\nA,CCO,P1,MKL,5.5\nB,CCN,P1,MKL,>10000\nC,CCC,P1,MKL,\nD,CCF,P1,MKL,nan\nA,CCO,P2,MKV,<= 3\n"
      "B,CCN,P2,MKV,\u22655.2\nC,CCC,P2,MKV,\u2264 5.2\nD,CCF,P2,MKV,\u2a7e5\nE,CCI,P1,MKL,\u2a7d5\nE,CCI,P2,MKV,6\n";
  const auto table = read_pair_csv(files.text("open.csv", text));
  REQUIRE(table.entries.size() == 2);
  CHECK(table.compounds.id == std::vector<std::string>{"A", "E"});
  REQUIRE(table.warnings.size() == 1);
  CHECK(table.warnings[0].ends_with(
      "open.csv': 8 pairs left out: 2 without a value, 6 of which only a bound is known (> or <), the first in line 3; "
      "incomplete: refuse refuses them"));
  const auto refused = [&](const std::string& line) {
    const auto path = files.text("open.csv", head + "\n" + line + "\n");
    return [path] { read_pair_csv(path, {"", PairTextKeys::Incomplete::refuse}); };
  };
  CHECK_THROWS_WITH(
      refused("B,CCN,P1,MKL,>10000")(),
      Catch::Contains("open.csv:2: '>10000' is a bound, not a value; remove the line, or set incomplete: leave_out"));
  CHECK_THROWS_WITH(refused("B,CCN,P1,MKL,\u22655.2")(), Catch::Contains("open.csv:2: '\u22655.2' is a bound, not"));
  CHECK_THROWS_WITH(
      refused("B,CCN,P1,MKL,NaN")(),
      Catch::Contains(
          "open.csv:2: the pair has no value ('NaN'); give it one, remove the line, or set incomplete: leave_out"));
  CHECK(refusal(files, head + "\nB,CCN,P1,MKL,>10000\n") == "'pairs.csv' holds no pairs with a value");
  CHECK(refusal(files, head + "\nB,CCN,P1,MKL,\"1,000\"\n") == "pairs.csv:2: '1,000' is not a number");
}

TEST_CASE("quotation marks within a name, commas between thousands and two columns of one name") {
  Files files;
  // Without quotation marks around cells, as programs write tables between tabs: 3" is no beginning of a text.
  std::string tabs = head + "\n3\"-OH,CCO,P1,MKL,5.5\nB,CCN,P1,MKL,6\n2',2\"-bi,CCC,P1,MKL,7\n";
  for (char& c : tabs) c = c == ',' ? '\t' : c;
  tabs.replace(tabs.find("2'\t2"), 4, "2',2");
  const auto table = read_pair_csv(files.text("marks.tsv", tabs));
  REQUIRE(table.entries.size() == 3);
  CHECK(table.compounds.id == std::vector<std::string>{"3\"-OH", "B", "2',2\"-bi"});
  const auto with = [&](const std::string& a, const std::string& b) {
    std::string text = head + "\nA,CCO,P1,MKL,x\nB,CCN,P1,MKL,y\n";
    for (char& c : text) c = c == ',' ? ';' : c;
    text.replace(text.find(";x"), 2, ";" + a);
    text.replace(text.find(";y"), 2, ";" + b);
    return text;
  };
  CHECK(refusal(files, with("950", "12,000")) ==
        "'pairs.csv': some values of 'pKd' have a comma before three digits, as 12,000, others have none: it may be a "
        "decimal point or a thousands separator; write decimal points as points, without thousands separators");
  CHECK(refusal(files, with("950.5", "> 1,200")).find("'pairs.csv': some values of 'pKd' have a comma") == 0);
  for (const auto& [a, b] : {std::pair{"12,000", "1,200"}, {"", "6,125"}, {"> 1,200", "12,000"}})
    CHECK(
        refusal(files, with(a, b)) ==
        "'pairs.csv': every value of 'pKd' has a comma before three digits, as 12,000: it may be a decimal point or a "
        "thousands separator; write decimal points as points, without thousands separators");
  CHECK(refusal(files, with("1,234,567", "2,345,678")) == "pairs.csv:2: '1,234,567' is not a number");
  for (const auto& [a, b] : {std::pair{"5,125", "6,25"}, {"5", "6,25"}, {"0,512", "6"}, {"5.125", "6.250"}})
    CHECK(refusal(files, with(a, b)) == "");
  const std::string twice = head + ",smiles\nA,CCO,P1,MKL,1,CCN\n";
  CHECK(refusal(files, twice) ==
        "pairs.csv:1: two columns are called 'smiles', one of which is the SMILES; rename or remove one; the line of "
        "names is '" +
            head +
            ",smiles', and it must name compound, smiles, target, sequence and a value, or Drug_ID, "
            "Drug, Target_ID, Target and Y");
  CHECK_THROWS_WITH(read_pair_csv(files.text("two.csv", head + ",pKd\nA,CCO,P1,MKL,1,2\n"), {"pKd", {}}),
                    Catch::Contains("two columns are called 'pKd', one of which is the value; rename or remove one"));
}

TEST_CASE("a column 'target' of short words may hold names instead of sequences, which is said") {
  Files files;
  const auto names = read_pair_csv(files.text("names.csv", "smiles,target,pKd\nCCO,EGFR,5\nCCN,KIT,6\n"));
  REQUIRE(names.warnings.size() == 1);
  CHECK(names.warnings[0].ends_with(
      "names.csv': 'target' is taken for sequences of residues, the longest of which has 4: are these names? Give the "
      "sequences in a column 'sequence'"));
  const auto tdc = read_pair_csv(files.text("tdc.csv", "Drug_ID,Drug,Target_ID,Target,Y\nA,CCO,P1,MKL,5.5\n"));
  CHECK(tdc.warnings.empty());
  CHECK(read_pair_csv(files.text("long.csv", "smiles,target,pKd\nCCO,MKLVAAGHTR,5\n")).warnings.empty());
}

TEST_CASE("lines of a negative fold are left out, names need letters, two quotes stand for one") {
  Files files;
  const auto table = read_pair_csv(files.text(
      "quoted.csv", head + ",fold\n\"2\"\",3\"\"-AMP\",CCO,P1,MKLV,5.5,0\nB,CCC,P1,MKLV,6,-1\nA,CCO,P1,MKLV,7,1\n"));
  REQUIRE(table.entries.size() == 2);
  CHECK(table.compounds.id.front() == "2\",3\"-AMP");
  CHECK(table.entries[1].value == 7.0);
  CHECK(refusal(files, head + "\n,CCO,P1,MKL,1\n") == "pairs.csv:2: the compound has no name; give it one");
  CHECK(refusal(files, head + "\nA,CCO,,MKL,1\n") == "pairs.csv:2: the target has no name; give it one");
}

namespace {

/// A file of three compounds and two targets, one of whose arrays is another.
std::string pair_h5_refusal(Files& files, const std::string& name, const std::vector<double>& values,
                            const std::vector<std::string>& names = {}) {
  const auto path = files.scratch.file("pairs.h5");
  {
    auto file = io::File::create(path);
    const std::vector<double> affinity{5.0, 6.0, std::nan(""), 4.0, 7.0, 8.0};
    const auto& taken = name == "affinity" ? values : affinity;
    file.write("affinity", io::tensor_of(taken.data(), {3, 2}));
    file.write("drug_smiles", std::vector<std::string>{"CCO", "CCN", "CCC"});
    file.write("target_sequence", std::vector<std::string>{"MKL", "MKV"});
    if (name == "drug_similarity") file.write(name, io::tensor_of(values.data(), {3, 3}));
    if (name == "drug_id") file.write(name, names);
  }
  try {
    const auto table = read_pair_h5(path);
    CHECK(table.entries.size() == 5);
  } catch (const InputError& error) {
    return std::string(error.what()).substr(path.size() + 4);
  }
  return "";
}

}  // namespace

TEST_CASE("arrays of pairs that do not fit each other, or are not finite, are refused") {
  Files files;
  CHECK(pair_h5_refusal(files, "", {}).empty());
  CHECK(pair_h5_refusal(files, "affinity", {5.0, 6.0, std::nan(""), 4.0, INFINITY, 8.0}) ==
        "/affinity is infinite in row 2, column 0; a value that is not known is NaN");
  CHECK(pair_h5_refusal(files, "drug_id", {}, {"a", "b"}) ==
        "/drug_id holds 2 names for 3 of them; give each one, or remove the array");
  CHECK(pair_h5_refusal(files, "drug_id", {}, {"a", "b", "c", "d"}) ==
        "/drug_id holds 4 names for 3 of them; give each one, or remove the array");
  CHECK(pair_h5_refusal(files, "drug_similarity", {1, 0.5, 0.1, 0.5, 1, 0.1, 0.1, 0.1, 1}).empty());
  CHECK(pair_h5_refusal(files, "drug_similarity", {1, 0.5, std::nan(""), 0.5, 1, 0.1, 0.1, 0.1, 1}) ==
        "/drug_similarity holds nan in row 0, column 2; values are finite, and above 0 on the diagonal; fix it, or "
        "remove the array: similarities of texts are used then");
  CHECK(pair_h5_refusal(files, "drug_similarity", {1, 0.5, 0.1, 0.5, 0, 0.1, 0.1, 0.1, 1}) ==
        "/drug_similarity holds 0 in row 1, column 1; values are finite, and above 0 on the diagonal; fix it, or "
        "remove the array: similarities of texts are used then");
}

TEST_CASE("folds of compounds keep their pairs together, and the same seed gives the same folds") {
  MadePairs keys;
  const auto table = make_pairs(keys);
  FoldKeys folds;
  folds.by = FoldKeys::By::compounds;
  folds.fold = 2;
  folds.validation = 3;
  const auto roles = roles_of(table, folds);
  std::set<int> tested, learned;
  for (std::size_t k = 0; k < roles.size(); ++k)
    (roles[k] == Role::test ? tested : learned).insert(table.entries[k].compound);
  for (const int compound : tested) CHECK_FALSE(learned.contains(compound));
  CHECK(tested.size() == 10);
  CHECK(roles_of(table, folds) == roles);
  CHECK(pairs_in_both(table, roles) == 0);
  folds.by = FoldKeys::By::given;
  CHECK_THROWS_WITH(roles_of(table, folds),
                    "synthetic pairs: pairs have no folds; take by: pairs, compounds or targets");
  auto twice = table;
  for (auto& entry : twice.entries) entry.fold = 0;
  auto again = twice.entries.front();
  again.fold = 1;
  twice.entries.push_back(again);
  folds.fold = 1;
  folds.validation = -1;
  CHECK(pairs_in_both(twice, roles_of(twice, folds)) == 1);
  folds.fold = 0;
  folds.validation = 17;
  CHECK_THROWS_WITH(roles_of(twice, folds),
                    "synthetic pairs: fold 17 leaves no pairs for validation; choose another one, or none (-1)");
  folds.validation = -1;
  folds.fold = 7;
  CHECK_THROWS_WITH(roles_of(twice, folds), "synthetic pairs: fold 7 leaves no pairs for tests; choose another fold");
}

TEST_CASE("folds of targets keep their pairs together: a test meets new targets and known compounds") {
  MadePairs keys;
  const auto table = make_pairs(keys);
  FoldKeys folds;
  folds.by = FoldKeys::By::targets;
  folds.folds = 4;
  folds.fold = 2;
  folds.validation = 3;
  const auto roles = roles_of(table, folds);
  std::set<int> of[3], compounds;
  for (std::size_t k = 0; k < roles.size(); ++k) {
    of[static_cast<int>(roles[k])].insert(table.entries[k].target);
    if (roles[k] == Role::training) compounds.insert(table.entries[k].compound);
  }
  const auto &learned = of[static_cast<int>(Role::training)], &looked_at = of[static_cast<int>(Role::validation)],
             &tested = of[static_cast<int>(Role::test)];
  for (const int target : tested) CHECK_FALSE((learned.contains(target) || looked_at.contains(target)));
  for (const int target : looked_at) CHECK_FALSE(learned.contains(target));
  CHECK(tested.size() == 10);
  CHECK(looked_at.size() == 10);
  CHECK(learned.size() == 20);
  CHECK(compounds.size() == 60);
}

TEST_CASE("values of columns become rows by the vocabulary, numbers their logarithm") {
  Files files;
  const auto path = files.scratch.file("clicks.h5");
  {
    auto file = io::File::create(path);
    const std::vector<double> dense{1.0, std::nan(""), -3.0, 7.0};
    const std::vector<std::int64_t> learned{5, 9, 5, 9, 7, 9, 5, 8}, later{7, 9, 1, 9};
    const std::vector<std::int32_t> yes{0, 1, 1, 0}, last{1, 0};
    file.write("train/dense", io::tensor_of(dense.data(), {4, 1}));
    file.write("train/categorical", io::tensor_of(learned.data(), {4, 2}));
    file.write("train/label", yes);
    const std::vector<double> few{0.0, 2.0};
    file.write("test/dense", io::tensor_of(few.data(), {2, 1}));
    file.write("test/categorical", io::tensor_of(later.data(), {2, 2}));
    file.write("test/label", last);
  }
  const auto training = read_clicks({path, "train", "", 2, {}});
  CHECK(training.columns[0].rows == 2);  // 5 three times; 7 once
  CHECK(training.columns[1].rows == 2);  // 9 three times; 8 once
  CHECK(training.bag_of(0, 0)[0] == 1);
  CHECK(training.bag_of(2, 0)[0] == 0);
  CHECK(training.number[0] == Approx(std::log(2.0)));
  CHECK(training.number[3] == 1.0);  // missing
  CHECK(training.number[4] == 0.0);
  const auto test = read_clicks({path, "test", "train", 1, {}});
  CHECK(test.columns[0].rows == 3);  // 5 and 7
  CHECK(test.bag_of(0, 0)[0] == 2);
  CHECK(test.bag_of(1, 0)[0] == 0);
  const auto where = "'" + path + "' train";
  CHECK_THROWS_WITH(read_clicks({path, "train", "", 2, {6, 10}}),
                    where + ", row 2, column C1: 7 is outside its table, which has 6 rows, numbered from 0");
  CHECK_THROWS_WITH(read_clicks({path, "train", "", 2, {6}}),
                    "num_embeddings has 1 values, but " + where + " has 2 columns");
  CHECK_THROWS_WITH(read_clicks({path, "nothing", "", 2, {}}), "'" + path + "' has no group 'nothing'");
}

TEST_CASE("an empty bag and a number that is none are refused") {
  RecordSet records;
  records.source = "'r.h5'";
  records.answer = "y";
  records.columns = {{"drug", 3}};
  records.answers = {1.0};
  records.place = {4};
  records.bag = {{}};
  CHECK_THROWS_WITH(require_sound(records),
                    "'r.h5', row 4, column drug: names no row of its table; every bag needs one");
  records.answers = {std::nan("")};
  CHECK_THROWS_WITH(require_sound(records), "'r.h5', row 4: y is not a finite number");
}

TEST_CASE("records whose rows stand for other values are told from those of the training, also from another file") {
  Files files;
  const auto path = files.scratch.file("training.h5"), more = files.scratch.file("later.h5");
  const std::vector<std::int64_t> learned{5, 5, 9, 9}, later{9, 9, 4, 4};
  const std::vector<double> dense{-2.0, 1.0, std::nan(""), 3.0};
  for (const auto& [file_path, values] : {std::pair{path, learned}, {more, later}}) {
    auto file = io::File::create(file_path);
    file.write("all/categorical", io::tensor_of(values.data(), {4, 1}));
    file.write("all/label", std::vector<std::int32_t>{0, 1, 1, 0});
    file.write("all/dense", io::tensor_of(dense.data(), {4, 1}));
  }
  auto known = read_clicks({path, "all", "", 2, {}});
  const auto other = read_clicks({more, "all", "", 2, {}});
  require_same_rows(known.columns, other, "dlrm");                 // other rows, which are found by their values
  CHECK(with_rows_by(known.columns, other).bag_of(0, 0)[0] == 2);  // 9
  CHECK(with_rows_by(known.columns, other).bag_of(2, 0)[0] == 0);  // 4 was never met
  known.columns[0].vocabulary.reset();                             // a model of earlier versions
  REQUIRE(known.columns[0].rows == other.columns[0].rows);
  CHECK_THROWS_WITH(
      require_same_rows(known.columns, other, "dlrm"),
      "'" + more +
          "' all, column C1: values have other rows than those that dlrm was given, and would be read as "
          "others; give vocabulary (and vocabulary_file) the records of the training, and the same min_count");
  const auto right = read_clicks({more, "all", "all", 2, {}, path});
  require_same_rows(known.columns, right, "dlrm");
  CHECK(right.bag_of(0, 0)[0] == 2);                                                  // 9
  CHECK(right.bag_of(2, 0)[0] == 0);                                                  // 4 was never met
  require_same_rows(known.columns, read_clicks({path, "all", "", 2, {10}}), "dlrm");  // rows as they stand
  CHECK(known.cut == 1);
  const auto plain = read_clicks({path, "all", "", 2, {}, "", false});
  CHECK(plain.cut == 0);
  CHECK(plain.number[0] == -2.0);
  CHECK(plain.number[4] == 0.0);
  CHECK(plain.number[5] == 1.0);  // missing
  require_same_numbers(true, known, "dlrm");
  require_same_numbers(false, plain, "dlrm");
  CHECK_THROWS_WITH(
      require_same_numbers(true, plain, "dlrm"),
      "'" + path +
          "' all: dense values are taken as they are, but dlrm was given them by their logarithm; give the "
          "data set logarithm: true");
  CHECK_THROWS_WITH(
      require_same_numbers(false, known, "training"),
      "'" + path +
          "' all: dense values are taken by their logarithm, but training was given them as they are; give "
          "the data set logarithm: false");
}

TEST_CASE("pairs of a file that numbers its things otherwise are refused") {
  Files files;
  const auto records = [&](const std::string& name, const std::string& lines) {
    const auto table = std::make_shared<const PairTable>(read_pair_csv(files.text(name, head + "\n" + lines)));
    return pair_records(table, std::vector<Role>(table->entries.size(), Role::test), Role::test, {});
  };
  const auto one = records("one.csv", "A,CC,P,MKL,1\nB,CO,P,MKL,2\n"),
             two = records("two.csv", "B,CO,P,MKL,2\nA,CC,P,MKL,1\n");
  require_same_rows(one.columns, records("again.csv", "A,CC,P,MKL,5\nB,CO,P,MKL,6\n"), "affinity");
  CHECK_THROWS_WITH(
      require_same_rows(one.columns, two, "affinity"),
      two.source +
          ": column compound indexes other items than the file that affinity was given, so that rows would be read as "
          "those of others; write all pairs into one file, with a column fold (folds: {by: given})");
  const auto with = [&](const DescriptorKeys& keys) {
    return pair_records(one.pairs, std::vector<Role>(one.pairs->entries.size(), Role::test), Role::test, keys);
  };
  const auto as = [&](const std::string& column) {
    return one.source + ": rows of column " + column +
           " represent other fragments than those that affinity was given; give the data set the radius, fragment_rows "
           "and "
           "kmer_length of the training";
  };
  require_same_rows(one.columns, with({}), "affinity");
  DescriptorKeys radius, pieces, letters;
  radius.radius = 3;
  pieces.pieces = 2048;
  letters.letters = 2;
  CHECK_THROWS_WITH(require_same_rows(one.columns, with(radius), "affinity"), as("compound_pieces"));
  CHECK_THROWS_WITH(require_same_rows(one.columns, with(pieces), "affinity"), as("compound_pieces"));
  CHECK_THROWS_WITH(require_same_rows(one.columns, with(letters), "affinity"), as("target_words"));
}

TEST_CASE("text of a spreadsheet begins with a mark, and folds are whole numbers") {
  Files files;
  CHECK(read_pair_csv(files.text("mark.csv", "\xef\xbb\xbf" + head + "\nA,CC,P,MKL,1\n")).entries.size() == 1);
  CHECK(refusal(files, head + ",fold\nA,CCO,P1,MKL,1,0.5\n") == "pairs.csv:2: the fold '0.5' is not a whole number");
  CHECK(refusal(files, head + ",fold\nA,CCO,P1,MKL,1,nan\n") == "pairs.csv:2: the fold 'nan' is not a whole number");
}
