// Tables before any field names their columns.
#include "core/io/hdf5/atomic_file.hpp"
#include "core/train/data/csv_columns.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Names of the columns that hold only numbers, each followed by a blank.
std::string numeric_columns(const std::string& path, const CsvForm& form = {}) {
  std::string out;
  for (const auto& column : survey_csv(path, form))
    if (column.numeric) out += column.heading + " ";
  return out;
}

}  // namespace

TEST_CASE("a survey tells columns of numbers from others, with the decimal point of the table") {
  const Scratch scratch("survey");
  const auto table = [&](const std::string& text) {
    const auto path = scratch.file("t.csv");
    io::write_file_atomically(path, text);
    return path;
  };
  const auto path = table("a,b [K],c,d,e\n1,2.5,x,,True\n-2,1e3,3,4,False\n");
  const auto columns = survey_csv(path);
  REQUIRE(columns.size() == 5);
  CHECK(columns[1].heading == "b [K]");
  CHECK(columns[1].parts == TableColumn{"b", "K"});
  CHECK(numeric_columns(path) == "a b [K] e ");
  CHECK(numeric_columns(table("# a,b\n1,99999999999999999999\n2,3\n")) == "a ");
  // Commas for points: a column with points then holds something else; one of thousands may not be read as numbers.
  CHECK(numeric_columns(table("a;b;c\n1,5;1.2;7\n2,25;1.3;8\n")) == "a c ");
  CHECK(numeric_columns(table("a;b\n1;12,000\n2;950\n")) == "a ");
  CHECK(numeric_columns(table("a;b\n1,5;12,000\n2,5;950\n"), {'\0', CsvForm::Decimal::comma}) == "a b ");
  CHECK(message([&] {
          survey_csv(table("a,b\n1,2\n3\n"));
        }).ends_with("t.csv:3: 2 cells were expected, but the line has 1; is the file cut short?"));
}

TEST_CASE("texts of a column come in the order of their first cells, those of missing values too") {
  const Scratch scratch("texts");
  const auto path = scratch.file("t.csv");
  io::write_file_atomically(path, "n,kind\n1,cat\n2,\n3,\"a, b\"\n4,cat\n5,NA\n");
  CHECK(texts_in_csv(path, "kind") == std::vector<std::string>{"cat", "", "a, b", "NA"});
  const WantedColumns wanted{"kind", {"kind"}, texts_in_csv(path, "kind")};
  const auto numbers = read_csv_columns(path, std::span(&wanted, 1), false);
  CHECK(numbers.whole == std::vector<std::int64_t>{0, 1, 2, 0, 3});
  CHECK(numbers.columns == std::vector<std::vector<TableColumn>>{{{"kind", ""}}});
}
