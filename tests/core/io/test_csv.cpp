#include <fstream>
#include <iterator>

#include "core/run/thermo_file.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

namespace {
std::string text_of(const std::string& name) {
  std::ifstream in(name);
  return {std::istreambuf_iterator<char>(in), {}};
}
const std::vector<io::Column> columns{{"time", "ps", ""}, {"temperature", "K", ""}};
void row(io::CsvFile& file, std::int64_t step, double a, double b) { file.append(step, std::vector<double>{a, b}); }
}  // namespace

TEST_CASE("a table is readable after every row") {
  Scratch scratch("csv");
  const std::string name = scratch.file("thermo.csv");
  io::CsvFile file(name, columns);
  row(file, 0, 0.0, 300.0);
  CHECK(text_of(name) == "step,time [ps],temperature [K]\n0,0,300\n");
  row(file, 100, 0.1, 1.0 / 3.0);
  CHECK(text_of(name) == "step,time [ps],temperature [K]\n0,0,300\n100,0.1,0.3333333333333333\n");
}

TEST_CASE("a spreadsheet runs no text of a table as a formula") {
  CHECK(io::csv_cell("=HYPERLINK(\"http://x\")") == "\"'=HYPERLINK(\"\"http://x\"\")\"");
  for (const std::string text : {"+1+1", "-2+3", "@SUM(A1)", "=1", "\tx", "-1.5 K", "--"})
    CHECK(io::csv_cell(text) == "\"'" + text + "\"");
  for (const std::string text :
       {"-1.5", "+2", "-1e-300", "-inf", "-nan", "-", "", "C-C=O", "a=b", "1-2", "train/set.000"})
    CHECK(io::csv_cell(text) == text);
  CHECK(io::csv_cell("a,\"b\"") == "\"a,\"\"b\"\"\"");
  CHECK(io::csv_cell("two\nlines") == "\"two\nlines\"");
}

TEST_CASE("names with a comma stand between quotation marks") {
  Scratch scratch("csv");
  const std::string name = scratch.file("scores.csv");
  io::write_csv(name, {{"mean", "", ""}, {"batch=8, \"seed\"=1", "K", ""}}, {{1.0, 2.0}, {3.0, 4.0}});
  CHECK(text_of(name) == "mean,\"batch=8, \"\"seed\"\"=1 [K]\"\n1,3\n2,4\n");
}

TEST_CASE("a resumed table drops later and broken rows") {
  Scratch scratch("csv");
  const std::string name = scratch.file("thermo.csv");
  {
    io::CsvFile file(name, columns);
    for (int k = 0; k < 5; ++k) row(file, 100 * k, 0.1 * k, 300.0 + k);
  }
  std::ofstream(name, std::ios::app) << "500,0.5,30";  // the program was killed here
  io::CsvFile file(name, columns, 200);
  REQUIRE(file.kept().size() == 3);
  CHECK(file.kept()[2] == std::vector<double>{200, 0.2, 302});
  row(file, 300, 0.3, 1.0);
  CHECK(text_of(name) == "step,time [ps],temperature [K]\n0,0,300\n100,0.1,301\n200,0.2,302\n300,0.3,1\n");
  const io::CsvFile whole(name, columns, 10000);
  CHECK(whole.kept().size() == 4);
  CHECK(message([&] {
          io::CsvFile(name, {{"time", "ps", ""}}, 100);
        }) == "'" + name +
                  "' has the columns 'step,time [ps],temperature [K]' but this deck writes 'step,time [ps]': resume "
                  "with the deck that wrote it, or move the file away");
}

TEST_CASE("a table that lost rows since its checkpoint is refused, one that is gone begins anew") {
  Scratch scratch("csv");
  const std::string name = scratch.file("thermo.csv");
  io::TableMark mark;
  {
    io::CsvFile file(name, columns);
    for (int k = 0; k < 3; ++k) row(file, k, 0.1 * k, 300.0 + k);
    mark = file.mark();
    row(file, 3, 0.3, 303.0);
  }
  CHECK(mark.rows == 3);
  const std::string whole = text_of(name);
  const auto resumed = [&](const std::string& text) {
    std::ofstream(name) << text;
    return message([&] { io::CsvFile file(name, columns, 10, mark); });
  };
  CHECK(resumed(whole) == "no error");
  const std::string begin = "'" + name + "' holds ",
                    rest = " rows up to step 10, but 3 when the checkpoint was written",
                    remedy =
                        ": it was truncated or changed; put back a copy of it, or move it away and a new table begins";
  CHECK(resumed("") == begin + "0" + rest + remedy);
  CHECK(resumed(whole.substr(0, whole.find("1,"))) == begin + "1" + rest + remedy);
  std::string other = whole;
  other.replace(other.find("301"), 3, "302");
  CHECK(resumed(other) == begin + "3" + rest + ", with other values" + remedy);
  other = whole;
  other.replace(other.find("\n1,"), 3, "\nx,");
  CHECK(resumed(other) ==
        name +
            ":3: this is not a row of 3 values: the file is damaged; put back a copy of it, or move it "
            "away and a new table begins");
  std::filesystem::remove(name);
  CHECK(io::CsvFile(name, columns, 10, mark).kept().empty());
}

TEST_CASE("a table on a full disk says so") {
  Scratch scratch("csv");
  const std::string name = scratch.file("thermo.csv");
  io::CsvFile file(name, columns);
  const FullDisk disk(100);
  CHECK(message([&] {
          for (int k = 0; k < 100; ++k) row(file, k, 0.0, 0.0);
        }) == "cannot write '" + name +
                  "': File too large; raise the limit that this shell or job sets for the size of a file (ulimit -f), "
                  "then resume");
}

TEST_CASE("thermo output keeps both forms alike over a restart") {
  Scratch scratch("csv");
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  context.run_directory = scratch.folder.string();
  context.resolved_deck = "run: {}\n";
  const std::vector<Observable> observables{{"temperature", "K", "of the particles"}, {"pressure", "bar", ""}};
  {
    ThermoFile file(context, observables, "ps");
    for (int k = 0; k < 4; ++k) file.append(10 * k, 0.01 * k, std::vector<double>{300.0 + k, -1.5 * k});
  }
  std::ofstream(scratch.file("thermo.h5")) << "left broken by a killed program";
  {
    ThermoFile file(context, observables, "ps", 20);
    file.append(30, 0.03, std::vector<double>{7.0, 8.0});
  }
  const auto file = io::File::open(scratch.file("thermo.h5"));
  CHECK(file.read<std::vector<std::int64_t>>("/thermo/step") == std::vector<std::int64_t>{0, 10, 20, 30});
  CHECK(file.read<std::vector<double>>("/thermo/temperature") == std::vector<double>{300, 301, 302, 7});
  CHECK(file.dataset("/thermo/pressure").attribute<std::string>("units") == "bar");
  CHECK(file.group("/cambium").attribute<std::string>("deck") == "run: {}\n");
  CHECK(text_of(scratch.file("thermo.csv")) ==
        "step,time [ps],temperature [K],pressure [bar]\n0,0,300,-0\n10,0.01,301,-1.5\n20,0.02,302,-3\n30,0.03,7,8\n");
}
