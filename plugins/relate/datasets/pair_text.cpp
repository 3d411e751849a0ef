// Pairs from text tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/commas.hpp"
#include "core/io/table_lines.hpp"
#include "plugins/relate/datasets/pair_columns.hpp"
#include "plugins/relate/datasets/pair_table.hpp"

namespace cambium::relate {

namespace {

/// Compounds or targets by name, in order of appearance.
class Things {
 public:
  explicit Things(Side& side) : side_(side) {}
  std::int32_t number(const std::string& id, const std::string& text, const std::string& where, const char* kind) {
    const auto [found, fresh] = known_.try_emplace(id, static_cast<std::int32_t>(side_.id.size()));
    if (fresh) {
      side_.id.push_back(id);
      side_.text.push_back(text);
    } else if (side_.text[found->second] != text) {
      throw InputError(fmt::format("{}: '{}' had another {} before; give things of different {} different names", where,
                                   id, kind, kind));
    }
    return found->second;
  }

 private:
  Side& side_;
  std::map<std::string, std::int32_t> known_;
};

std::string lower_case(const std::string& text) {
  std::string out = text;
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// A sequence in upper case, without blanks and line breaks.
std::string plain_sequence(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

/// Placeholder of a missing value.
bool is_missing(const std::string& text) {
  static const std::vector<std::string> words{"", "nan", "na", "n/a", "none", "null", "-", "nd", "n.d.", "?"};
  return std::find(words.begin(), words.end(), lower_case(text)) != words.end();
}

/// A value with "≥" and "≤" at its beginning, as publications write them, as ">=" and "<=".
std::string plain_signs(const std::string& text) {
  for (const auto& [sign, plain] :
       {std::pair<std::string, const char*>{"\u2265", ">="}, {"\u2264", "<="}, {"\u2a7e", ">="}, {"\u2a7d", "<="}})
    if (text.starts_with(sign)) return plain + text.substr(sign.size());
  return text;
}

/// A bound: a number after > or <.
bool is_bound(const std::string& text) {
  const auto first = text.find_first_not_of("<>=~ ");
  return !text.empty() && std::string_view("<>~").find(text.front()) != std::string_view::npos &&
         first != std::string::npos && parse_number(text.substr(first)).has_value();
}

class PairReader {
 public:
  PairReader(const std::string& path, const PairTextKeys& keys)
      : lines_(path), keys_(keys), compounds_(out_.compounds), targets_(out_.targets) {
    out_.source = "'" + path + "'";
  }

  PairTable read() {
    if (lines_.next()) {
      names_ = lines_.cells();
      columns_ = pair_columns(names_, keys_.value, lines_.where());
      out_.answer = names_[columns_.value];
      while (lines_.next()) add();
    }
    require_clear_commas();
    if (!columns_.unused.empty())
      out_.notes.push_back(
          fmt::format("{}: not used of its columns: '{}'", out_.source, fmt::join(columns_.unused, "', '")));
    if (missing_ + bounds_ > 0)
      out_.warnings.push_back(fmt::format(
          "{}: {} pairs left out: {} without a value, {} of which only a bound is known (> or <), the first in line "
          "{}; incomplete: refuse refuses them",
          out_.source, missing_ + bounds_, missing_, bounds_, first_));
    say_short_sequences();
    if (out_.entries.empty())
      throw InputError(fmt::format("{} holds no pairs{}", out_.source, missing_ + bounds_ > 0 ? " with a value" : ""));
    return std::move(out_);
  }

 private:
  void require_clear_commas() const {
    if (commas_.may_be_thousands())
      throw InputError(fmt::format(
          "{}: some values of '{}' have a comma before three digits, as 12,000, others have none: it may be a decimal "
          "point or a thousands separator; write decimal points as points, without thousands separators",
          out_.source, out_.answer));
    if (commas_.is_ambiguous())
      throw InputError(fmt::format(
          "{}: every value of '{}' has a comma before three digits, as 12,000: it may be a decimal point or a "
          "thousands separator; write decimal points as points, without thousands separators",
          out_.source, out_.answer));
  }

  const std::string& cell(std::size_t k) const { return lines_.cells()[k]; }

  /// Warns if a column 'target', read as sequences, may hold names, some of which consist of letters only: EGFR, KIT.
  void say_short_sequences() {
    const auto name = lower_case(names_.empty() ? std::string() : names_[columns_.sequence]);
    std::size_t longest = 0;
    for (const auto& text : out_.targets.text) longest = std::max(longest, text.size());
    constexpr std::size_t few = 10;
    if (columns_.target || longest >= few || (name != "target" && name != "protein")) return;
    out_.warnings.push_back(
        fmt::format("{}: '{}' is taken for sequences of residues, the longest of which has {}: are these names? Give "
                    "the sequences in a column 'sequence'",
                    out_.source, names_[columns_.sequence], longest));
  }

  std::string name(std::optional<std::size_t> column, const std::string& text, const char* thing) const {
    const std::string& out = column ? cell(*column) : text;
    if (out.empty()) throw InputError(fmt::format("{}: the {} has no name; give it one", lines_.where(), thing));
    return out;
  }

  /// None if the pair is omitted.
  std::optional<double> value() {
    const std::string& given = cell(columns_.value);
    std::string text = plain_signs(given);
    if (!is_missing(text) && lines_.separator() != ',')
      commas_.add(std::string_view(text).substr(std::min(text.find_first_not_of("<>=~ "), text.size())));
    if (lines_.separator() != ',') std::replace(text.begin(), text.end(), ',', '.');
    if (const auto found = parse_number(text)) return found;
    const bool missing = is_missing(text), bound = is_bound(text);
    if (!missing && !bound) throw InputError(fmt::format("{}: '{}' is not a number", lines_.where(), given));
    if (keys_.incomplete == PairTextKeys::Incomplete::refuse)
      throw InputError(
          missing ? fmt::format(
                        "{}: the pair has no value ('{}'); give it one, remove the line, or set incomplete: leave_out",
                        lines_.where(), given)
                  : fmt::format("{}: '{}' is a bound, not a value; remove the line, or set incomplete: leave_out",
                                lines_.where(), given));
    if (missing_ + bounds_ == 0) first_ = lines_.line();
    ++(missing ? missing_ : bounds_);
    return {};
  }

  void add() {
    if (lines_.cells().size() != names_.size())
      throw InputError(fmt::format("{}: {} columns were expected, but the line has {}; is the file cut short?",
                                   lines_.where(), names_.size(), lines_.cells().size()));
    const auto number = value();
    if (!number) return;
    const auto fold = columns_.fold ? parse_number(cell(*columns_.fold)) : std::optional<double>(-1.0);
    if (!fold || !(std::abs(*fold) < 1e9) || *fold != std::floor(*fold))
      throw InputError(fmt::format("{}: the fold '{}' is not a whole number", lines_.where(), cell(*columns_.fold)));
    const std::string& smiles = cell(columns_.smiles);
    const std::string sequence = plain_sequence(cell(columns_.sequence));
    const PairTable::Entry entry{
        compounds_.number(name(columns_.compound, smiles, "compound"), smiles, lines_.where(), "SMILES"),
        targets_.number(name(columns_.target, sequence, "target"), sequence, lines_.where(), "sequence"), *number,
        static_cast<int>(*fold), lines_.line()};
    if (!columns_.fold || entry.fold >= 0) out_.entries.push_back(entry);
  }

  io::TableLines lines_;
  const PairTextKeys& keys_;
  PairTable out_;
  Things compounds_, targets_;
  std::vector<std::string> names_;
  PairColumns columns_;
  io::Commas commas_;  ///< of values
  std::int64_t missing_ = 0, bounds_ = 0, first_ = 0;
};

}  // namespace

PairTable read_pair_csv(const std::string& path, const PairTextKeys& keys) { return PairReader(path, keys).read(); }

}  // namespace cambium::relate
