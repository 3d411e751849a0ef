// Five hundred ways to write one table of pairs.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "plugins/relate/datasets/pair_table.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

struct PairRow {
  std::string compound, smiles, target, sequence;
  double value;
};

const std::vector<PairRow> pair_rows{{"A", "CC(=O)O", "P1", "MKLVAA", 5.25},
                                     {"B, salt", "CCN", "P1", "MKLVAA", -0.5},
                                     {"A", "CC(=O)O", "P2", "MSTNPK", 1e-3},
                                     {"C \"x\"", "[Na+].[Cl-]", "P2", "MSTNPK", 12}};

/// Draws one of the ways at every choice.
class TableSpeller {
 public:
  explicit TableSpeller(unsigned seed) : draw_(seed) {}

  std::string spelled() {
    separator_ = pick({",", ";", "\t"});
    end_ = pick({"\n", "\r\n"});
    names_ = pick({"own", "tdc", "typed"});
    const std::size_t columns = 5;
    for (std::size_t k = 0; k < columns; ++k) order_.push_back(k);
    if (yes()) std::shuffle(order_.begin(), order_.end(), draw_);
    index_ = yes(4);
    std::string out = yes(4) ? "\xef\xbb\xbf" : "";
    out += line(header(), pick({"", "index", "Unnamed: 0"}));
    for (std::size_t k = 0; k < pair_rows.size(); ++k) {
      if (yes(6)) out += end_;
      if (yes(5)) out += line({"Z", "CCC", "P1", "MKLVAA", pick({"", "nan", "NA", ">10000", "< 1"})}, "99");
      const auto& row = pair_rows[k];
      out +=
          line({row.compound, row.smiles, row.target, sequence(row.sequence), number(row.value)}, fmt::format("{}", k));
    }
    if (yes(4)) out.resize(out.size() - end_.size());
    return out;
  }

 private:
  using Cells = std::vector<std::string>;
  bool yes(int of = 2) { return std::uniform_int_distribution<int>(1, of)(draw_) == 1; }
  std::string pick(const Cells& ways) {
    return ways[std::uniform_int_distribution<std::size_t>(0, ways.size() - 1)(draw_)];
  }
  Cells header() {
    if (names_ == "tdc") return {"Drug_ID", "Drug", "Target_ID", "Target", "Y"};
    if (names_ == "typed") return {"compound:token", "smiles:token", "target:token", "sequence:token", "Y:float"};
    return {pick({"compound", "Compound", "COMPOUND"}), pick({"smiles", "SMILES"}), "target",
            pick({"sequence", "Sequence"}), "pKd"};
  }
  std::string sequence(std::string text) {
    if (yes(3))
      for (char& c : text) c = static_cast<char>(c + 32);
    if (yes(6)) text.insert(3, pick({"\n", "\r\n", " "}));
    return text;
  }
  std::string number(double value) {
    auto out = pick({fmt::format("{}", value), fmt::format("{:e}", value), fmt::format("{:.6f}", value)});
    if (separator_ != "," && yes()) std::replace(out.begin(), out.end(), '.', ',');
    return out;
  }
  std::string cell(const std::string& text) {
    if (text.find_first_of(separator_ + "\"\n\r") == std::string::npos && yes()) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  }
  std::string line(const Cells& cells, const std::string& index) {
    std::string out = index_ ? index : "";
    for (std::size_t k = 0; k < order_.size(); ++k) out += (k || index_ ? separator_ : "") + cell(cells[order_[k]]);
    return out + end_;
  }

  std::mt19937 draw_;
  std::string separator_, end_, names_;
  std::vector<std::size_t> order_;
  bool index_ = false;
};

}  // namespace

TEST_CASE("five hundred ways to write a table of pairs are one table") {
  const Scratch scratch("tables");
  for (unsigned seed = 0; seed < 500; ++seed) {
    const auto text = TableSpeller(seed).spelled();
    std::ofstream(scratch.file("pairs.csv"), std::ios::binary) << text;
    INFO("seed " << seed << "\n" << text);
    const auto table = read_pair_csv(scratch.file("pairs.csv"));
    REQUIRE(table.entries.size() == pair_rows.size());
    for (std::size_t k = 0; k < pair_rows.size(); ++k) {
      const auto& entry = table.entries[k];
      REQUIRE(table.compounds.id[entry.compound] == pair_rows[k].compound);
      REQUIRE(table.compounds.text[entry.compound] == pair_rows[k].smiles);
      REQUIRE(table.targets.id[entry.target] == pair_rows[k].target);
      REQUIRE(table.targets.text[entry.target] == pair_rows[k].sequence);
      REQUIRE(entry.value == Approx(pair_rows[k].value).epsilon(1e-12));
    }
  }
}
