// Clicks from text tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/commas.hpp"
#include "core/io/table_lines.hpp"
#include "plugins/relate/datasets/click_table.hpp"

namespace cambium::relate {

namespace {

using Decimal = train::CsvForm::Decimal;

class ClickReader {
 public:
  ClickReader(const std::string& path, const ClickTextKeys& keys, const RecordRange& range)
      : lines_(path, keys.separator), keys_(keys), range_(range) {
    out_.source = "'" + path + "'";
  }

  ClickTable read() {
    if (!lines_.next()) throw InputError(fmt::format("{} has no records", out_.source));
    columns_ = click_columns(lines_.cells(), keys_, lines_.where());
    categories_.emplace(std::max<std::size_t>(1, columns_.categorical.size()));
    commas_.resize(columns_.dense.size());
    bool more = !columns_.header || lines_.next();
    for (; more && records_ < last(); more = lines_.next()) {
      require_cells();
      if (records_++ >= first()) add();
    }
    if (records_ == 0) throw InputError(fmt::format("{} has no records", out_.source));
    require_within(range_, records_, out_.source);
    require_clear_commas();
    name_columns();
    out_.categories = categories_->take();
    if (columns_.categorical.empty()) out_.categories = {};
    return std::move(out_);
  }

 private:
  std::int64_t first() const { return range_ ? (*range_)[0] : 0; }
  std::int64_t last() const { return range_ ? (*range_)[1] : std::numeric_limits<std::int64_t>::max(); }

  void require_cells() const {
    if (lines_.cells().size() != columns_.names.size())
      throw InputError(fmt::format(
          "{}: {} cells were expected, as in the first line, but the line has {}; is the file cut short, or "
          "does a cell hold the separator '{}' without quotation marks?",
          lines_.where(), columns_.names.size(), lines_.cells().size(),
          lines_.separator() == '\t' ? "\\t" : std::string(1, lines_.separator())));
  }

  void add() {
    const auto& cells = lines_.cells();
    if (columns_.label) out_.labels.push_back(label(cells[*columns_.label]));
    for (std::size_t k = 0; k < columns_.dense.size(); ++k) out_.number.push_back(number(k));
    for (const auto column : columns_.categorical) categories_->add(cells[column]);
    out_.place.push_back(lines_.line());
  }

  double label(const std::string& cell) const {
    if (io::is_missing_cell(cell))
      throw InputError(
          fmt::format("{}: the record has no label ('{}'); give it one, or remove the line", lines_.where(), cell));
    const auto value = label_of(cell);
    if (!value)
      throw InputError(fmt::format("{}: the label '{}' in column '{}' is not a number; labels are 0 and 1, or -1 and 1",
                                   lines_.where(), cell, columns_.names[*columns_.label]));
    return *value;
  }

  double number(std::size_t k) {
    const auto& cell = lines_.cells()[columns_.dense[k]];
    if (io::is_missing_cell(cell)) return std::numeric_limits<double>::quiet_NaN();
    const bool comma =
        keys_.decimal == Decimal::comma || (keys_.decimal == Decimal::found && lines_.separator() != ',');
    std::string text = cell;
    if (comma) std::replace(text.begin(), text.end(), ',', '.');
    const bool other_point = keys_.decimal == Decimal::comma && cell.find('.') != std::string::npos;
    const auto value = label_of(text);
    if (!value || other_point)
      throw InputError(fmt::format(
          "{}: '{}' in column '{}' is not a number{}; select the column by categorical if it "
          "holds names",
          lines_.where(), cell, columns_.names[columns_.dense[k]], other_point ? " with a decimal comma" : ""));
    if (comma) commas_[k].add(cell);
    comma_ = comma_ || (comma && cell.find(',') != std::string::npos);
    if (with_point_.empty() && cell.find('.') != std::string::npos)
      with_point_ =
          fmt::format("{}: '{}' in column '{}' has a point", lines_.where(), cell, columns_.names[columns_.dense[k]]);
    return *value;
  }

  void require_clear_commas() const {
    for (std::size_t k = 0; keys_.decimal == Decimal::found && k < commas_.size(); ++k)
      if (commas_[k].may_be_thousands())
        throw InputError(fmt::format(
            "{}: some numbers in column '{}' have a comma before three digits, as 12,000, others have none: "
            "it may be a decimal or a thousands separator; set decimal: ',' if it is the decimal point, else "
            "remove it",
            out_.source, columns_.names[columns_.dense[k]]));
    const bool decimals = std::any_of(commas_.begin(), commas_.end(), [](const auto& c) { return c.decimals(); });
    for (std::size_t k = 0; keys_.decimal == Decimal::found && !decimals && k < commas_.size(); ++k)
      if (commas_[k].is_ambiguous())
        throw InputError(fmt::format(
            "{}: every number in column '{}' has a comma before three digits, as 12,000: it may be a decimal or a "
            "thousands separator; set decimal: ',' if it is the decimal point, else remove it",
            out_.source, columns_.names[columns_.dense[k]]));
    if (keys_.decimal == Decimal::found && comma_ && !with_point_.empty())
      throw InputError(
          fmt::format("{}, but other numbers have commas: one of the two may be a thousands separator; write decimal "
                      "points as points, and no thousands separators",
                      with_point_));
  }

  void name_columns() {
    for (const auto column : columns_.dense)
      out_.dense.push_back(columns_.header ? columns_.names[column] : fmt::format("column {}", column));
    out_.tables = columns_.tables;
    if (!columns_.unused.empty())
      out_.notes.push_back(
          fmt::format("{}: not used of its columns: '{}'", out_.source, fmt::join(columns_.unused, "', '")));
  }

  io::TableLines lines_;
  const ClickTextKeys& keys_;
  const RecordRange& range_;
  ClickColumns columns_;
  ClickTable out_;
  std::optional<CategoryReader> categories_;
  std::vector<io::Commas> commas_;  ///< of each dense column
  std::string with_point_;          ///< place of the first number with a point
  bool comma_ = false;              ///< a number has a comma
  std::int64_t records_ = 0;
};

}  // namespace

void require_within(const RecordRange& range, std::int64_t records, const std::string& source) {
  if (!range || ((*range)[0] >= 0 && (*range)[0] < (*range)[1] && (*range)[1] <= records)) return;
  throw KeyError("clicks.range", "range",
                 fmt::format("range [{}, {}]: {} has {} records; give 0 <= first < last <= {}", (*range)[0],
                             (*range)[1], source, records, records));
}

ClickTable read_click_text(const std::string& path, const ClickTextKeys& keys, const RecordRange& range) {
  return ClickReader(path, keys, range).read();
}

}  // namespace cambium::relate
