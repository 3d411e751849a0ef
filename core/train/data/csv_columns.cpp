#include "core/train/data/csv_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/commas.hpp"
#include "core/io/table_lines.hpp"
#include "core/io/utf8.hpp"

namespace cambium::train {

namespace {

/// "flux [W/m^2]" as "flux" and "W/m^2".
struct ColumnHeading {
  std::string whole, name, unit;
  explicit ColumnHeading(const std::string& text) : whole(text), name(text) {
    const auto open = text.rfind(" [");
    if (open == std::string::npos || text.back() != ']') return;
    name = std::string(trim(std::string_view(text).substr(0, open)));
    unit = std::string(trim(std::string_view(text).substr(open + 2, text.size() - open - 3)));
  }
};

std::string in_small_letters(std::string_view cell) {
  std::string out(cell);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// "True" and "False", as pandas, R and spreadsheets write them, as 1 and 0.
std::string_view as_number(std::string_view cell) {
  if (cell.size() != 4 && cell.size() != 5) return cell;
  const auto word = in_small_letters(cell);
  return word == "true" ? "1" : word == "false" ? "0" : cell;
}

std::optional<std::int64_t> whole_number(std::string_view cell) {
  if (cell.size() > 1 && cell.front() == '+' && cell[1] != '-') cell.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return {};
  return value;
}

bool is_digits(std::string_view cell) {
  if (!cell.empty() && (cell.front() == '-' || cell.front() == '+')) cell.remove_prefix(1);
  return !cell.empty() && std::all_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// True for a number with separators of thousands, as 1.234,56 and 1,234,567: between its first and its last point or
/// comma it has groups of three digits. A date such as 31.01.2020 has others.
bool has_thousands(std::string_view cell) {
  if (!cell.empty() && (cell.front() == '-' || cell.front() == '+')) cell.remove_prefix(1);
  if (cell.find_first_not_of("0123456789.,") != std::string_view::npos) return false;
  auto first = cell.find_first_of(".,");
  const auto last = cell.find_last_of(".,");
  if (first == std::string_view::npos || first == 0 || first == last) return false;
  for (; first != last; first += 4)
    if (cell.find_first_of(".,", first + 1) != first + 4) return false;
  return true;
}

class CsvReader {
 public:
  CsvReader(const std::string& path, std::span<const WantedColumns> fields, bool leave_out, const CsvForm& form)
      : lines_(path, form.separator), path_(path), fields_(fields), leave_out_(leave_out), decimal_(form.decimal) {
    for (const auto& field : fields) {
      auto& indices = categories_.emplace_back();
      for (const auto& text : field.categories) indices.emplace(text, std::ssize(indices));
    }
  }

  CsvNumbers read() {
    bool first_is_row = false;
    take_names(first_is_row);
    find_columns();
    if (first_is_row) add();
    while (lines_.next()) add();
    if (decimal_ == Decimal::found) require_clear_commas();
    return std::move(out_);
  }

  std::vector<CsvColumn> survey() {
    std::vector<char> pointed;  // by column: some cell has a point
    each_line([&] {
      look_for_commas();
      pointed.resize(survey_.size());
      for (std::size_t k = 0; k < survey_.size(); ++k) {
        const auto& cell = lines_.cells()[k];
        auto& column = survey_[k];
        column.numeric = column.numeric && !io::is_missing_cell(cell) && number(cell) && !too_long(cell);
        pointed[k] = pointed[k] || cell.find('.') != std::string::npos;
        if (lines_.separator() != ',') commas_[k].add(cell);
      }
    });
    const bool doubtful = decimal_ == Decimal::found;
    const bool decimals = std::any_of(commas_.begin(), commas_.end(), [](const auto& c) { return c.decimals(); });
    for (std::size_t k = 0; k < survey_.size(); ++k)
      if (doubtful && (commas_[k].may_be_thousands() || (!decimals && commas_[k].is_ambiguous()) ||
                       (has_comma_ && !pointed.empty() && pointed[k])))
        survey_[k].numeric = false;
    return std::move(survey_);
  }

  std::vector<std::string> texts(const std::string& heading) {
    std::vector<std::string> out;
    std::unordered_set<std::string> known;
    std::optional<std::size_t> place;
    each_line([&] {
      if (!place) place = place_of(heading);
      const auto text = io::utf8(lines_.cells()[*place]);
      if (known.insert(text).second) out.push_back(text);
    });
    return out;
  }

 private:
  using Decimal = CsvForm::Decimal;

  /// Calls `look` at each line of cells, once the columns are known.
  template <class Look>
  void each_line(const Look& look) {
    bool first_is_row = false;
    take_names(first_is_row);
    for (const auto& heading : headings_) survey_.push_back({heading.whole, column_of(heading)});
    commas_.resize(headings_.size());
    const auto next = [&] {
      require_width();
      look();
    };
    if (first_is_row) next();
    while (lines_.next()) next();
  }

  static TableColumn column_of(const ColumnHeading& heading) {
    return {heading.name, heading.unit == "1" ? "" : heading.unit};
  }

  /// True for digits of more than 64 bits.
  static bool too_long(std::string_view cell) { return is_digits(cell) && !whole_number(cell); }

  void require_clear_commas() const {
    for (std::size_t k = 0; k < commas_.size(); ++k)
      if (commas_[k].may_be_thousands())
        throw InputError(fmt::format(
            "'{}': some values of '{}' have a comma before three digits, as 12,000, others have none: it may be a "
            "decimal or a thousands separator; set decimal: ',' if it is the decimal point, else remove it",
            path_, headings_[places_[k]].whole));
    const bool decimals = std::any_of(commas_.begin(), commas_.end(), [](const auto& c) { return c.decimals(); });
    for (std::size_t k = 0; decimal_ == Decimal::found && !decimals && k < commas_.size(); ++k)
      if (commas_[k].is_ambiguous())
        throw InputError(fmt::format(
            "'{}': every value of '{}' has a comma before three digits, as 12,000: it may be a decimal or a thousands "
            "separator; set decimal: ',' if it is the decimal point, else remove it",
            path_, headings_[places_[k]].whole));
    if (has_comma_ && !with_point_.empty())
      throw InputError(
          fmt::format("{}, but other numbers of the table have commas: one of the two may be a thousands separator; "
                      "write decimal points as points, and no thousands separators",
                      with_point_));
  }

  void take_names(bool& first_is_row) {
    std::optional<std::vector<std::string>> remark;
    for (;;) {
      if (!lines_.next()) throw InputError(fmt::format("'{}' holds no table: it has no line of names", path_));
      if (!lines_.cells().front().starts_with('#')) break;
      remark = lines_.cells();
      auto& first = remark->front();
      first = std::string(trim(std::string_view(first).substr(std::min(first.find_first_not_of('#'), first.size()))));
      lines_.begin_again();
    }
    const auto& cells = lines_.cells();
    const bool names = std::any_of(cells.begin(), cells.end(), [&](const std::string& c) { return !number(c); });
    if (!names && (!remark || remark->size() != cells.size()))
      throw InputError(
          fmt::format("{}: the first line holds numbers, expected names of the columns; write such a line before it",
                      lines_.where()));
    first_is_row = !names;
    for (const auto& name : names ? cells : *remark) headings_.emplace_back(io::utf8(name));
  }

  /// By the full heading, else by the name without the unit.
  std::size_t place_of(const std::string& column) const {
    for (const auto part : {&ColumnHeading::whole, &ColumnHeading::name}) {
      const auto count =
          std::count_if(headings_.begin(), headings_.end(), [&](const auto& h) { return h.*part == column; });
      if (count > 1)
        throw InputError(fmt::format("'{}': {} columns are called '{}'; rename them", path_, count, column));
      for (std::size_t k = 0; k < headings_.size(); ++k)
        if (headings_[k].*part == column) return k;
    }
    std::vector<std::string> names;
    for (const auto& heading : headings_) names.push_back(heading.whole);
    const bool blanks = names.size() == 1 && names.front().find(' ') != std::string::npos;
    throw InputError(fmt::format("'{}' has no column '{}'; it has: '{}'{}", path_, column, fmt::join(names, "', '"),
                                 blanks ? "; cells are separated by commas, semicolons or tabs, not by blanks" : ""));
  }

  void find_columns() {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      auto& columns = out_.columns.emplace_back();
      for (const auto& column : fields_[f].columns) {
        places_.push_back(place_of(column));
        field_of_.push_back(f);
        columns.push_back(column_of(headings_[places_.back()]));
      }
      const auto& unit = columns.front().unit;
      const bool one = std::all_of(columns.begin(), columns.end(), [&](const auto& c) { return c.unit == unit; });
      out_.units.push_back(one ? unit : "");
    }
    out_.is_whole.assign(fields_.size(), true);
    commas_.resize(places_.size());
  }

  std::optional<double> number(std::string_view text) const {
    std::string cell(as_number(text));
    if (decimal_ == Decimal::comma && cell.find('.') != std::string::npos) return {};
    if (has_decimal_comma()) std::replace(cell.begin(), cell.end(), ',', '.');
    return parse_number(cell);
  }

  bool has_decimal_comma() const {
    return decimal_ == Decimal::comma || (decimal_ == Decimal::found && lines_.separator() != ',');
  }

  /// Looks for decimal commas in all columns: in such a table a point separates thousands.
  void look_for_commas() {
    if (has_comma_ || decimal_ != Decimal::found || lines_.separator() == ',') return;
    const auto& cells = lines_.cells();
    has_comma_ = std::any_of(cells.begin(), cells.end(), [&](const std::string& cell) {
      return cell.find(',') != std::string::npos && number(cell);
    });
  }

  void require_width() const {
    if (lines_.cells().size() != headings_.size())
      throw InputError(fmt::format("{}: {} cells were expected, but the line has {}; is the file cut short?",
                                   lines_.where(), headings_.size(), lines_.cells().size()));
  }

  /// Adds one line, unless a value is missing and such lines are skipped.
  void add() {
    const auto& cells = lines_.cells();
    require_width();
    look_for_commas();
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (io::is_missing_cell(cells[places_[k]]) && !category(k)) return miss(places_[k]);
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const auto& cell = cells[places_[k]];
      if (!fields_[field_of_[k]].categories.empty()) {
        const auto index = category(k);
        if (!index) refuse_category(k);
        out_.real.push_back(static_cast<double>(*index));
        out_.whole.push_back(*index);
        continue;
      }
      const auto value = number(cell);
      if (!value) refuse(cell, places_[k]);
      const auto whole = whole_number(as_number(cell));
      if (too_long(cell))
        throw InputError(fmt::format("{}: '{}' in column '{}' needs more than 64 bits", lines_.where(), cell,
                                     headings_[places_[k]].whole));
      if (lines_.separator() != ',') commas_[k].add(cell);
      if (with_point_.empty() && cell.find('.') != std::string::npos)
        with_point_ =
            fmt::format("{}: '{}' in column '{}' has a point", lines_.where(), cell, headings_[places_[k]].whole);
      out_.real.push_back(*value);
      out_.whole.push_back(whole.value_or(0));
      if (!whole) out_.is_whole[field_of_[k]] = false;
    }
    ++out_.lines;
  }

  /// Index of the text of a value among the categories of its field, if it has any.
  std::optional<std::int64_t> category(std::size_t k) const {
    const auto& all = categories_[field_of_[k]];
    if (all.empty()) return {};
    const auto found = all.find(io::utf8(lines_.cells()[places_[k]]));
    if (found == all.end()) return {};
    return found->second;
  }

  [[noreturn]] void refuse_category(std::size_t k) const {
    throw InputError(fmt::format("{}: '{}' in column '{}' is none of the categories {}; add it to them, or correct it",
                                 lines_.where(), lines_.cells()[places_[k]], headings_[places_[k]].whole,
                                 fmt::join(fields_[field_of_[k]].categories, ", ")));
  }

  void miss(std::size_t place) {
    if (!leave_out_)
      throw InputError(
          fmt::format("{}: column '{}' has no number ('{}'); give one, remove the line, or set missing: leave_out",
                      lines_.where(), headings_[place].whole, lines_.cells()[place]));
    if (out_.left_out++ == 0) out_.first_left_out = lines_.where();
  }

  [[noreturn]] void refuse(const std::string& cell, std::size_t place) const {
    const auto& name = headings_[place].whole;
    if (has_thousands(cell))
      throw InputError(fmt::format("{}: '{}' in column '{}' separates thousands; remove these separators",
                                   lines_.where(), cell, name));
    std::string other = cell;
    std::replace(other.begin(), other.end(), ',', '.');
    if (decimal_ == Decimal::comma && cell.find('.') != std::string::npos && parse_number(other))
      throw InputError(
          fmt::format("{}: '{}' in column '{}' has a point, but decimal is ','; remove the point if it "
                      "separates thousands, or set decimal: '.'",
                      lines_.where(), cell, name));
    if (cell.find(',') != std::string::npos && parse_number(other))
      throw InputError(
          fmt::format("{}: '{}' in column '{}' has a comma; set decimal: ',' if it is the decimal point, "
                      "or remove it if it separates thousands",
                      lines_.where(), cell, name));
    const bool again = cell == name;
    throw InputError(fmt::format("{}: '{}' in column '{}' is not a number; {}", lines_.where(), cell, name,
                                 again ? "the line of names occurs twice: remove it"
                                       : "give the texts of classes as categories: [FIRST, SECOND] of the field; "
                                         "number dates first, as pandas.to_datetime does"));
  }

  io::TableLines lines_;
  std::string path_;
  std::span<const WantedColumns> fields_;
  bool leave_out_;
  Decimal decimal_;
  std::vector<std::unordered_map<std::string, std::int64_t>> categories_;  ///< by field: index of each text
  std::vector<ColumnHeading> headings_;
  std::vector<std::size_t> places_, field_of_;  ///< for each value of a line: its column and its field
  std::vector<io::Commas> commas_;
  bool has_comma_ = false;  ///< some number of the table has a comma for a point
  std::string with_point_;  ///< about the first number with a point; empty if there is none
  CsvNumbers out_;
  std::vector<CsvColumn> survey_;
};

}  // namespace

CsvNumbers read_csv_columns(const std::string& path, std::span<const WantedColumns> fields, bool leave_out,
                            const CsvForm& form) {
  return CsvReader(path, fields, leave_out, form).read();
}

std::vector<CsvColumn> survey_csv(const std::string& path, const CsvForm& form) {
  return CsvReader(path, {}, false, form).survey();
}

std::vector<std::string> texts_in_csv(const std::string& path, const std::string& heading, const CsvForm& form) {
  return CsvReader(path, {}, false, form).texts(heading);
}

}  // namespace cambium::train
