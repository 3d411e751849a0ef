// Clicks in CSV and TSV: columns, labels, vocabularies, and what is refused.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/relate/datasets/clicks.hpp"
#include "plugins/relate/networks/known_rows.hpp"
#include "plugins/relate/tasks/model_predictions.hpp"
#include "tests/plugins/relate/relate_case.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

struct TextFiles {
  Comm comm{MPI_COMM_SELF};
  SharedScratch scratch{comm};
  std::string text(const std::string& name, const std::string& content) {
    std::ofstream(scratch.file(name), std::ios::binary) << content;
    return scratch.file(name);
  }
  /// A message, with the folder left away.
  std::string plain(std::string said) const {
    for (std::size_t at; (at = said.find(scratch.folder + "/")) != std::string::npos;)
      said.erase(at, scratch.folder.size() + 1);
    return said;
  }
};

/// Keys of a file with the columns click, price, hour, site and user.
ClickFile keys_of(const std::string& path, std::int64_t least = 1) {
  ClickFile keys{path, "", "", least, {}};
  keys.text.dense = {"price", "hour"};
  keys.text.categorical = {"site", "user"};
  return keys;
}

std::string click_refusal(TextFiles& files, const ClickFile& keys) {
  try {
    read_clicks(keys);
  } catch (const InputError& error) {
    return files.plain(error.what());
  }
  return "";
}

const std::string plain_text = "click,price,hour,site,user\n1,2.5,7,news,a\n0,,8,mail,b\n0,0,23,news,\n";

/// Text of a row of a column; "" for row 0.
std::string value_of(const RecordSet& records, std::int64_t record, std::size_t column) {
  const auto row = records.bag_of(record, column)[0];
  return row == 0 ? "(row 0)" : (*records.columns[column].vocabulary)[row - 1];
}

}  // namespace

TEST_CASE("a text of clicks: labels, numbers with missing ones, categories") {
  TextFiles files;
  const auto records = read_clicks(keys_of(files.text("c.csv", plain_text)));
  CHECK(records.answers == std::vector<double>{1, 0, 0});
  CHECK(records.place == std::vector<std::int64_t>{2, 3, 4});
  CHECK(records.numbers == std::vector<std::string>{"price", "price missing", "hour", "hour missing"});
  REQUIRE(records.number.size() == 12);
  CHECK(records.number[0] == Approx(std::log(3.5)));
  CHECK(records.number[4] == 0.0);
  CHECK(records.number[5] == 1.0);
  CHECK(records.number[9] == 0.0);  // 0 is not missing
  CHECK(records.columns[0].name == "site");
  CHECK(*records.columns[0].vocabulary == Vocabulary{"mail", "news"});
  CHECK(*records.columns[1].vocabulary == Vocabulary{"", "a", "b"});  // a missing category is one of its own
  CHECK(value_of(records, 2, 0) == "news");
  CHECK(value_of(records, 2, 1).empty());
  const auto rare = read_clicks(keys_of(files.text("c.csv", plain_text), 2));
  CHECK(*rare.columns[0].vocabulary == Vocabulary{"news"});
  CHECK(rare.columns[1].rows == 1);
  CHECK(value_of(rare, 1, 0) == "(row 0)");
}

TEST_CASE("the same clicks in the spellings of other programs") {
  TextFiles files;
  const auto expected = read_clicks(keys_of(files.text("plain.csv", plain_text)));
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  };
  ClickFile keys = keys_of("");
  const auto same = [&](const std::string& text, const ClickFile& how) {
    INFO(text);
    auto with = how;
    with.file = files.text("spelt", text);
    const auto records = read_clicks(with);
    CHECK(records.answers == expected.answers);
    CHECK(records.number == expected.number);
    REQUIRE(records.columns.size() == 2);
    for (std::int64_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 2; ++c) CHECK(value_of(records, r, c) == value_of(expected, r, c));
  };
  const auto semicolons = replaced(plain_text, ",", ";");
  same("\xef\xbb\xbf" + replaced(plain_text, "\n", "\r\n"), keys);
  same(replaced(plain_text, ",", "\t"), keys);
  same(replaced(semicolons, "2.5", "2,5"), keys);
  same("sep=;\n" + semicolons, keys);
  same("sep=|\n" + replaced(plain_text, ",", "|"), keys);
  same(replaced(replaced(plain_text, "news", "\"news\""), "\n1,", "\n\n\"1\","), keys);
  same(replaced(replaced(plain_text, "\n1,", "\nTrue,"), "\n0,", "\nFalse,"), keys);
  same(replaced(replaced(plain_text, "\n1,", "\n1.0,"), "\n0,", "\n-1,"), keys);
  same(replaced(plain_text, "click", "Clicked"), keys);
  same(replaced(plain_text, ",,8", ",NaN,8"), keys);
  auto given = keys;
  given.text.separator = '|';
  same(replaced(plain_text, ",", "|"), given);
  given = keys;
  given.text.decimal = train::CsvForm::Decimal::comma;
  same(replaced(plain_text, "2.5", "\"2,5\""), given);
  auto numbers = keys;
  numbers.text.label = "0";
  numbers.text.dense = {"1-2"};
  numbers.text.categorical = {"3", "4"};
  same(plain_text, numbers);
  same(plain_text.substr(plain_text.find('\n') + 1), numbers);                  // no header
  same("0,1,2,3,4\n" + plain_text.substr(plain_text.find('\n') + 1), numbers);  // that of pandas
  numbers.text.header = false;
  same(plain_text.substr(plain_text.find('\n') + 1), numbers);
  auto other = keys;
  other.text.label = "y";
  other.text.dense = {"price-hour"};
  same(replaced(plain_text, "click", "y"), other);
}

TEST_CASE("Criteo: tabs, no names, 13 numbers and 26 categories, empty where missing") {
  TextFiles files;
  std::string text;
  for (int r = 0; r < 20; ++r) {
    text += std::to_string(r % 3 == 0);
    for (int k = 0; k < 13; ++k) text += k == r % 13 ? "\t" : fmt::format("\t{}", r * k - 1);
    for (int k = 0; k < 26; ++k) text += k == r % 26 ? "\t" : fmt::format("\t{:08x}", 0x68fd1e64u + (r / 5) * 7u + k);
    text += '\n';
  }
  ClickFile keys{files.text("train.txt", text), "", "", 2, {}};
  keys.text.label = "0";
  keys.text.dense = {"1-13"};
  keys.text.categorical = {"14-39"};
  const auto records = read_clicks(keys);
  CHECK(records.size() == 20);
  CHECK(records.numbers.size() == 26);
  CHECK(records.columns.size() == 26);
  CHECK(records.columns[25].name == "C26");
  CHECK(records.answers[3] == 1.0);
  CHECK(records.number[2 * 0 + 1] == 1.0);  // number 0 of record 0 is missing
  CHECK(records.cut > 0);                   // -1 counts as 0
  CHECK(value_of(records, 6, 0) == "68fd1e6b");
  CHECK(value_of(records, 0, 0) == "(row 0)");  // missing in one record only
}

TEST_CASE("records of a range") {
  TextFiles files;
  auto keys = keys_of(files.text("c.csv", plain_text));
  keys.range = {{1, 3}};
  const auto records = read_clicks(keys);
  CHECK(records.answers == std::vector<double>{0, 0});
  CHECK(*records.columns[1].vocabulary == Vocabulary{"", "b"});
  keys.range = {{1, 4}};
  CHECK(click_refusal(files, keys) == "range [1, 4]: 'c.csv' has 3 records; give 0 <= first < last <= 3");
}

TEST_CASE("columns that are not there, ambiguous or selected twice are refused with their key") {
  TextFiles files;
  auto keys = keys_of(files.text("c.csv", plain_text));
  const auto about = [&](const ClickFile& with) {
    try {
      read_clicks(with);
    } catch (const KeyError& error) {
      return error.id() + " " + error.key() + ": " + files.plain(error.what());
    }
    return std::string();
  };
  const std::string columns = "the columns are: 'click', 'price', 'hour', 'site', 'user'";
  auto with = keys;
  with.text.dense = {"prize"};
  CHECK(about(with) == "clicks.columns dense: c.csv:1: there is no column 'prize'; " + columns);
  with.text.dense = {"hour-price"};
  CHECK(about(with) == "clicks.columns dense: c.csv:1: there is no column 'hour-price'; " + columns);
  with.text.dense = {"5"};
  CHECK(about(with) == "clicks.columns dense: c.csv:1: there is no column '5'; " + columns);
  with.text.dense = {"price-site"};
  CHECK(about(with) ==
        "clicks.columns.shared categorical: c.csv:1: column 'site' is selected by dense and by categorical; remove one "
        "of them");
  with = keys;
  with.text.label = "price-hour";
  with.text.dense = {};
  CHECK(about(with) == "clicks.label label: c.csv:1: 'price-hour' selects 2 columns, expected one");
  with = keys;
  with.text.dense = with.text.categorical = {};
  CHECK(about(with) ==
        "clicks.categorical categorical: c.csv:1: select the columns of a text by the keys dense (numbers) and "
        "categorical; " +
            columns);
  with = keys;
  with.file = files.text("named.csv", "bought,price,hour,site,user\n1,2,3,a,b\n");
  CHECK(about(with) ==
        "clicks.label label: named.csv:1: name the column of the labels by the key label (none: there are no labels); "
        "the columns are: 'bought', 'price', 'hour', 'site', 'user'");
  with.file = files.text("numbers.csv", "1,2,3,a,b\n");
  with.text.dense = {"1"};
  CHECK(
      about(with) ==
      "clicks.label label: numbers.csv:1: name the column of the labels by the key label (none: there are no labels); "
      "the columns are numbered 0 to 4");
  with = keys;
  with.file = files.text("twice.csv", "click,price,price,site,user\n1,2,3,a,b\n");
  with.text.dense = {"price"};
  CHECK(
      about(with) ==
      "clicks.columns.twice dense: twice.csv:1: 2 columns are called 'price'; rename them, or give their numbers, from "
      "0");
  with.text.dense = {"1", "2"};
  CHECK(about(with).empty());
  with = keys;
  with.text.label = "0";
  with.text.dense = {"1"};
  with.text.categorical = {"2"};
  with.file = files.text("few.csv", "0,1,2\n1,5,2\n");
  CHECK(
      about(with) ==
      "clicks.header header: few.csv:1: the first line '0', '1', '2' may name the columns or be a record; set header: "
      "true or header: false");
  with.text.header = false;
  CHECK(read_clicks(with).size() == 2);
  with.text.header = true;
  CHECK(read_clicks(with).size() == 1);
}

TEST_CASE("odd texts of clicks are refused with file and line") {
  TextFiles files;
  const auto said = [&](const std::string& text) { return click_refusal(files, keys_of(files.text("c.csv", text))); };
  const std::string head = "click,price,hour,site,user\n";
  CHECK(said("") == "'c.csv' has no records");
  CHECK(said(head) == "'c.csv' has no records");
  const std::string cells =
      "cells were expected, as in the first line, but the line has {}; is the file cut short, or does a cell hold the "
      "separator ',' without quotation marks?";
  CHECK(said(head + "1,2,3,a,b\n0,1,2,a\n") == "c.csv:3: 5 " + fmt::format(fmt::runtime(cells), 4));
  CHECK(said(head + "1,2,3,a,b,c\n") == "c.csv:2: 5 " + fmt::format(fmt::runtime(cells), 6));
  CHECK(said(head + "1,2,3,a,b\n,1,2,a,b\n") ==
        "c.csv:3: the record has no label (''); give it one, or remove the line");
  CHECK(said(head + "nan,1,2,a,b\n") == "c.csv:2: the record has no label ('nan'); give it one, or remove the line");
  CHECK(said(head + "yes,1,2,a,b\n") ==
        "c.csv:2: the label 'yes' in column 'click' is not a number; labels are 0 and 1, or -1 and 1");
  CHECK(said(head + "2,1,2,a,b\n") == "'c.csv', row 2: a label is 0 or 1, not 2");
  CHECK(said(head + "1,1,2,a,b\n-1,1,2,a,b\n0,1,2,a,b\n") ==
        "'c.csv', row 4: labels of 0 and of -1; labels are 0 and 1, or -1 and 1: correct them");
  CHECK(said(head + "1,cheap,2,a,b\n") ==
        "c.csv:2: 'cheap' in column 'price' is not a number; select the column by categorical if it holds names");
  CHECK(said(head + "1,inf,2,a,b\n") ==
        "c.csv:2: 'inf' in column 'price' is not a number; select the column by categorical if it holds names");
  CHECK(said(head + "1,2,3,\"a,b\n") == "c.csv:2: a quotation mark is not closed; is the file cut short?");
  std::string many = head + "1;12,000;3;a;b\n0;950;3;a;b\n";
  std::replace(many.begin(), many.begin() + static_cast<std::ptrdiff_t>(head.size()), ',', ';');
  CHECK(said(many) ==
        "'c.csv': some numbers in column 'price' have a comma before three digits, as 12,000, others have none: it may "
        "be a decimal or a thousands separator; set decimal: ',' if it is the decimal point, else remove it");
  many = head + "1;12,000;3;a;b\n0;13,500;3;a;b\n";
  std::replace(many.begin(), many.begin() + static_cast<std::ptrdiff_t>(head.size()), ',', ';');
  CHECK(said(many) ==
        "'c.csv': every number in column 'price' has a comma before three digits, as 12,000: it may be a decimal or a "
        "thousands separator; set decimal: ',' if it is the decimal point, else remove it");
  many = head + "1;1.250;0,5;a;b\n0;2.500;0,7;a;b\n";
  std::replace(many.begin(), many.begin() + static_cast<std::ptrdiff_t>(head.size()), ',', ';');
  CHECK(said(many) ==
        "c.csv:2: '1.250' in column 'price' has a point, but other numbers have commas: one of the two may be a "
        "thousands separator; write decimal points as points, and no thousands separators");
  auto keys = keys_of(files.text("c.csv", head + "1,2.5,3,a,b\n"));
  keys.text.decimal = train::CsvForm::Decimal::comma;
  CHECK(click_refusal(files, keys) ==
        "c.csv:2: '2.5' in column 'price' is not a number with a decimal comma; select the column by categorical if it "
        "holds names");
  keys = keys_of(files.text("c.csv", plain_text));
  keys.group = "raw_train";
  CHECK(click_refusal(files, keys) ==
        "'c.csv' is a text, which has no groups; remove group and vocabulary, or name an HDF5 file");
  keys = keys_of(files.text("c.csv", plain_text));
  keys.rows = {5, 5};
  CHECK(click_refusal(files, keys) ==
        "'c.csv', column site: 'mail' is not a row index, which num_embeddings expects; remove num_embeddings");
  keys.file = files.text("c.csv", head + "1,2,3,4,0\n0,2,3,1,2\n");
  CHECK(read_clicks(keys).bag_of(1, 1)[0] == 2);
}

TEST_CASE("categories in HDF5 as text, and what belongs to text only") {
  TextFiles files;
  const auto path = files.scratch.file("text.h5");
  {
    auto file = io::File::create(path);
    file.write("label", std::vector<std::int32_t>{1, -1, -1});
    file.write("categorical", std::vector<std::string>{"news", "mail", "news"});
  }
  CHECK(click_refusal(files, {path, "", "", 1, {}}) == "'text.h5': /categorical must be records x columns");
  auto keys = keys_of(path);
  CHECK(click_refusal(files, keys) ==
        "'text.h5' is an HDF5 file, whose arrays are label, categorical and dense; the keys label, dense, categorical, "
        "header, delimiter and decimal belong to text");
}

TEST_CASE("the vocabulary of a network is that of its training samples, whatever else the file holds") {
  TextFiles files;
  std::string text = "click,price,hour,site,user\n";
  for (int r = 0; r < 8; ++r) text += fmt::format("{},1,2,{},u{}\n", r % 2, r < 6 ? "known" : "late", r / 2);
  const auto path = files.text("c.csv", text);
  auto records = share(read_clicks(keys_of(path, 2)));
  TrainingCategories categories;
  for (int r = 0; r < 5; ++r) categories.add(*records, r);
  const auto columns = categories.columns();
  CHECK(*columns[0].vocabulary == Vocabulary{"known"});
  CHECK(*columns[1].vocabulary == Vocabulary{"u0", "u1"});  // u2 occurs once
  CHECK(
      categories.text() ==
      "  vocabulary of the training part: 3 values in 2 columns occur at least 2 times; the rarer ones, 10.0 % of its "
      "cells, have row 0");
  REQUIRE(needs_rows_by(columns, *records));
  const auto rows = rows_by(columns, *records);
  CHECK(rows == std::vector<std::int32_t>{1, 1, 1, 1, 1, 2, 1, 2, 1, 0, 1, 0, 0, 0, 0, 0});
  CHECK(
      files.plain(text_of_unknown(columns, *records, rows)) ==
      "'c.csv': 37.5 % of the categories (6 of 16) are rare or unseen in training and have row 0, most of them in user "
      "(50.0 %)");
  // A given vocabulary stays.
  auto keys = keys_of(path, 2);
  keys.vocabulary_file = path;
  const auto given = read_clicks(keys);
  TrainingCategories of_given;
  for (int r = 0; r < 5; ++r) of_given.add(given, r);
  CHECK(*of_given.columns()[0].vocabulary == Vocabulary{"known", "late"});
  CHECK(of_given.text().empty());
}

namespace {

/// Lines of made-up clicks, whose label depends on site and price.
std::vector<std::string> made_lines(int first, int count, int sites) {
  std::vector<std::string> out;
  for (int r = first; r < first + count; ++r) {
    const Random4 draw(5, Stream::test, static_cast<std::uint64_t>(r), 0);
    const int site = static_cast<int>(draw.uniform(0) * sites), user = static_cast<int>(draw.uniform(1) * 30);
    const double price = 10.0 * draw.uniform(2);
    const bool yes = draw.uniform(3) < (site % 3 == 0 ? 0.8 : 0.2);
    out.push_back(fmt::format("{},{:.2f},{},site \"{}\" \xc3\xa9,{:x}", yes ? 1 : 0, price, r % 24, site, user));
  }
  return out;
}

std::string table_of(const std::vector<std::string>& lines) {
  return fmt::format("click,price,hour,site,user\n{}\n", fmt::join(lines, "\n"));
}

}  // namespace

TEST_CASE("a model maps the same text to the same rows in any file") {
  TextFiles files;
  const auto learned = made_lines(0, 300, 12), later = made_lines(1000, 60, 20);
  const std::string columns = ", dense: [price, hour], categorical: [site, user]";
  const auto data = [&](const std::string& path) { return "file: " + path + columns + "}"; };
  for (const std::string network : {"dlrm, bottom: [4], top: [4]", "factorization_machine"}) {
    INFO(network);
    Place place(files.comm, files.scratch.file(network.substr(0, 4)));
    place.run("train", "{network: {type: " + network +
                           ", embedding_dim: 4, precision: float64}, dataset: {type: clicks, " +
                           data(files.text("learned.csv", table_of(learned))) +
                           ", hold_out: 0.2, batch: 32, epochs: 3, learning_rate: {type: constant, start: 0.01}, "
                           "tables: {optimizer: adagrad, learning_rate_scale: 10}}");
    const auto predicted = [&](const std::vector<std::string>& lines) {
      const auto set = place.registry.make<train::Dataset>(
          "clicks", deck::parse("{" + data(files.text("new.csv", table_of(lines))), "test"), place.context);
      set->open(place.context);
      const auto values = predictions_of(place.context.run_directory + "/model.h5", *set, place.context).value;
      std::map<std::string, double> out;
      for (std::size_t k = 0; k < lines.size(); ++k) out[lines[k]] = values[k];
      return out;
    };
    const auto straight = predicted(later);
    // Alike up to rounding: products of matrices depend on the number of rows.
    const auto agree = [&](const std::map<std::string, double>& found) {
      double worst = 0.0;
      for (const auto& [line, value] : found)
        if (straight.contains(line)) worst = std::max(worst, std::abs(value - straight.at(line)));
      return worst < 1e-12;
    };
    auto lines = later;
    std::reverse(lines.begin(), lines.end());
    std::rotate(lines.begin(), lines.begin() + 17, lines.end());
    CHECK(agree(predicted(lines)));
    for (const auto& line : {later[0], later[31]}) CHECK(agree(predicted({line})));
    auto all = learned;
    all.insert(all.end(), later.begin(), later.end());
    CHECK(agree(predicted(all)));
    std::set<double> different;
    for (const auto& [line, value] : straight) different.insert(value);
    CHECK(different.size() > 40);
  }
}

TEST_CASE("labels may be absent where a model predicts, and not where it learns") {
  TextFiles files;
  Place place(files.comm, files.scratch.file("run"));
  const auto path = files.text("c.csv", table_of(made_lines(0, 50, 6)));
  const std::string data = "file: " + path + ", dense: [price], categorical: [site, user]";
  const std::string train =
      "{network: {type: dlrm, embedding_dim: 4, bottom: [4], top: [4]}, dataset: {type: clicks, " + data;
  const std::string more = "}, batch: 10, steps: 5, learning_rate: {type: constant, start: 0.01}}";
  place.run("train", train + more);
  const auto values = [&](const std::string& label) {
    const auto set =
        place.registry.make<train::Dataset>("clicks", deck::parse("{" + data + label + "}", "test"), place.context);
    set->open(place.context);
    return predictions_of(place.context.run_directory + "/model.h5", *set, place.context).value;
  };
  CHECK(values(", label: none") == values(""));
  const auto turned = place.registry.make<train::Dataset>(
      "clicks", deck::parse("{file: " + path + ", categorical: [user, site], dense: [price]}", "test"), place.context);
  turned->open(place.context);
  CHECK_THROWS_WITH(
      predictions_of(place.context.run_directory + "/model.h5", *turned, place.context),
      Catch::Contains("categorical column 1 is 'user', but") &&
          Catch::Contains("was given 'site' there, and 'user' at another position; give the columns in the "
                          "order of the training: site, user"));
  const auto two = [&](const std::string& dense) {
    return "{type: clicks, file: " + path + ", dense: " + dense + ", categorical: [site, user]}";
  };
  const auto judged = place.registry.make<Task>(
      "evaluate_clicks",
      deck::parse("{models: [], training: " + two("[price, hour]") + ", dataset: " + two("[hour, price]") + "}",
                  "test"),
      place.context);
  CHECK_THROWS_WITH(judged->run(place.context),
                    Catch::Contains("dense column 1 is 'hour', but training was given 'price' there, and 'hour' at "
                                    "another position; give the columns in the order of the training: price, hour"));
  // Records of the training are counted and warned of; the others of a file are none.
  const auto part = [&](const std::string& range) { return "{type: clicks, " + data + ", range: [" + range + "]}"; };
  const auto heading = [&](const std::string& learned, const std::string& ranked) {
    return place.run("evaluate_clicks", "{models: [], training: " + part(learned) + ", dataset: " + part(ranked) + "}")
        ->lines()
        .front();
  };
  const auto warnings = [&] {
    std::vector<std::string> out;
    for (const auto& warning : place.log.warnings())
      if (warning.text.find(" are also those of training") != std::string::npos) out.push_back(warning.text);
    return out;
  };
  CHECK(heading("0, 30", "30, 50").starts_with("20 records never seen "));
  CHECK(warnings().empty());
  CHECK(heading("0, 30", "28, 50").starts_with("22 records, 2 of them in training "));
  REQUIRE(warnings().size() == 1);
  CHECK(warnings()[0].find(": 2 of 22 records") != std::string::npos);
  const auto without =
      place.registry.make<Task>("train", deck::parse(train + ", label: none" + more, "test"), place.context);
  CHECK_THROWS_WITH(
      without->run(place.context),
      Catch::Contains("c.csv': the records have no labels, which training and evaluation need; name their "
                      "column by the key 'label'"));
}
