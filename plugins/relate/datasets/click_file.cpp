#include "plugins/relate/datasets/click_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/key_error.hpp"

namespace cambium::relate {

namespace {

/// By the extension, else by the first bytes, or those after a user block. A file that cannot be read is left to the
/// reader of HDF5.
bool is_text_table(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path) || path.ends_with(".h5") || path.ends_with(".hdf5")) return false;
  for (const std::streamoff offset : {0, 512, 1024, 2048}) {
    char start[4] = {};
    file.clear();
    file.seekg(offset);
    if (file.read(start, 4) && std::string_view(start, 4) == "\x89HDF") return false;
  }
  return true;
}

ClickTable read_table(const ClickFile& keys, const std::string& file, const std::string& group,
                      const RecordRange& range) {
  if (!is_text_table(file)) {
    const auto& text = keys.text;
    if (!text.label.empty() || !text.dense.empty() || !text.categorical.empty() || text.header ||
        text.separator != '\0' || text.decimal != train::CsvForm::Decimal::found)
      throw InputError(
          fmt::format("'{}' is an HDF5 file, whose arrays are label, categorical and dense; the keys label, dense, "
                      "categorical, header, delimiter and decimal belong to text",
                      file));
    return read_click_h5(file, group, range);
  }
  if (!group.empty())
    throw InputError(
        fmt::format("'{}' is a text, which has no groups; remove group and vocabulary, or name an HDF5 "
                    "file",
                    file));
  return read_click_text(file, keys.text, range);
}

void add_numbers(const ClickTable& table, bool logarithm, RecordSet& out) {
  out.logarithm = logarithm;
  for (const auto& name : table.dense) {
    out.numbers.push_back(name);
    out.numbers.push_back(name + " missing");
  }
  for (const double x : table.number) {
    const double taken = logarithm ? std::log1p(std::max(x, 0.0)) : x;
    out.number.push_back(std::isnan(x) ? 0.0 : taken);
    out.number.push_back(std::isnan(x));
    out.cut += logarithm && x < 0.0;
  }
}

/// Values of a column as row indices, of which one out of range is -1 or the largest.
std::vector<std::int32_t> as_rows(const ClickTable& table, std::size_t column) {
  std::vector<std::int32_t> out;
  for (const auto& value : table.categories.values[column]) {
    std::int64_t row = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), row);
    if (error != std::errc() || end != value.data() + value.size())
      throw KeyError("clicks.rows.text", "num_embeddings",
                     fmt::format("{}, column {}: '{}' is not a row index, which num_embeddings expects; remove "
                                 "num_embeddings",
                                 table.source, table.tables[column], value));
    out.push_back(
        static_cast<std::int32_t>(std::clamp<std::int64_t>(row, -1, std::numeric_limits<std::int32_t>::max())));
  }
  return out;
}

/// Categories of other records, which give the vocabulary; none if these records do.
std::optional<Categories> vocabulary_of(const ClickFile& keys) {
  if (keys.vocabulary_file.empty() && keys.vocabulary.empty()) return {};
  const auto& file = keys.vocabulary_file.empty() ? keys.file : keys.vocabulary_file;
  if (!is_text_table(file)) return read_click_categories(file, keys.vocabulary);
  return read_table(keys, file, keys.vocabulary, {}).categories;
}

void add_columns(const ClickFile& keys, ClickTable& table, RecordSet& out) {
  const auto& categories = table.categories;
  std::vector<std::vector<std::int32_t>> rows;
  if (!keys.rows.empty()) {
    if (keys.rows.size() != categories.columns())
      throw KeyError("clicks.rows", "num_embeddings",
                     fmt::format("num_embeddings has {} values, but {} has {} columns", keys.rows.size(), out.source,
                                 categories.columns()));
    for (std::size_t c = 0; c < categories.columns(); ++c) {
      out.columns.push_back({table.tables[c], keys.rows[c]});
      rows.push_back(as_rows(table, c));
    }
  } else {
    const auto other = vocabulary_of(keys);
    const auto& known = other ? *other : categories;
    if (known.columns() != categories.columns())
      throw InputError(
          fmt::format("{}: the vocabulary has {} columns, not {}", out.source, known.columns(), categories.columns()));
    const auto counts = counts_of(known);
    for (std::size_t c = 0; c < categories.columns(); ++c) {
      out.columns.push_back(column_of(table.tables[c], frequent(known.values[c], counts[c], keys.least)));
      rows.push_back(rows_of(categories.values[c], *out.columns.back().vocabulary));
    }
    out.min_count = keys.least;
    out.given_rows = other.has_value();
  }
  auto ids = std::make_shared<std::vector<std::int32_t>>(categories.of.size());
  for (std::size_t k = 0; k < ids->size(); ++k) (*ids)[k] = rows[k % rows.size()][categories.of[k]];
  for (std::size_t k = 0; k < ids->size(); ++k) out.bag.push_back(std::span<const std::int32_t>(*ids).subspan(k, 1));
  out.stored.push_back(ids);
  if (keys.rows.empty()) out.categories = std::make_shared<const Categories>(std::move(table.categories));
}

/// Labels of -1 and 1 as 0 and 1.
void take_labels(const ClickTable& table, RecordSet& out, Notes* notes) {
  out.labelled = !table.labels.empty();
  out.answers = table.labels;
  if (!out.labelled) return out.answers.assign(table.place.size(), std::numeric_limits<double>::quiet_NaN());
  const bool below = std::find(out.answers.begin(), out.answers.end(), -1.0) != out.answers.end();
  for (std::size_t r = 0; r < out.answers.size(); ++r) {
    double& y = out.answers[r];
    if (y != 0.0 && y != 1.0 && y != -1.0)
      throw InputError(fmt::format("{}, row {}: a label is 0 or 1, not {:g}", out.source, table.place[r], y));
    if (below && y == 0.0)
      throw InputError(fmt::format("{}, row {}: labels of 0 and of -1; labels are 0 and 1, or -1 and 1: correct them",
                                   out.source, table.place[r]));
    y = std::max(y, 0.0);
  }
  if (below && notes) notes->push_back(fmt::format("{}: labels of -1 are read as 0", out.source));
}

}  // namespace

RecordSet read_clicks(const ClickFile& keys, Notes* notes) {
  auto table = read_table(keys, keys.file, keys.group, keys.range);
  RecordSet out;
  out.source = table.source;
  out.answer = "clicked";
  out.place = table.place;
  add_numbers(table, keys.logarithm, out);
  add_columns(keys, table, out);
  take_labels(table, out, notes);
  require_sound(out);
  if (notes) notes->insert(notes->end(), table.notes.begin(), table.notes.end());
  return out;
}

}  // namespace cambium::relate
