#include "plugins/relate/datasets/click_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::relate {

namespace {

/// A two-dimensional array of a group.
template <class T>
struct Array2 {
  std::vector<T> values;
  std::int64_t rows = 0, columns = 0;
  T at(std::int64_t row, std::int64_t column) const { return values[row * columns + column]; }
};

template <class T>
Array2<T> read_2d(const io::Group& group, const std::string& name) {
  const auto array = group.dataset(name);
  const auto shape = array.shape();
  if (shape.size() != 2)
    throw InputError(fmt::format("'{}': {} must be records x columns", group.file(), array.path()));
  return {array.read<std::vector<T>>(), shape[0], shape[1]};
}

Array2<std::int64_t> read_values(const io::File& file, const std::string& group) {
  if (!group.empty() && !file.is_group(group))
    throw InputError(fmt::format("'{}' has no group '{}'", file.file(), group));
  const io::Group place = group.empty() ? static_cast<const io::Group&>(file) : file.group(group);
  for (const char* name : {"categorical", "code"})
    if (place.exists(name)) return read_2d<std::int64_t>(place, name);
  throw InputError(fmt::format("'{}' has neither categorical nor code in '{}': is it a file of clicks?", file.file(),
                               group.empty() ? "/" : group));
}

/// Row index of each value of one column.
std::map<std::int64_t, std::int32_t> numbered(const Array2<std::int64_t>& values, std::int64_t column,
                                              std::int64_t least) {
  std::map<std::int64_t, std::int32_t> out;
  for (std::int64_t r = 0; r < values.rows; ++r) ++out[values.at(r, column)];
  std::erase_if(out, [&](const auto& entry) { return entry.second < least; });
  std::int32_t next = 1;
  for (auto& [value, row] : out) row = next++;
  return out;
}

Array2<std::int64_t> read_vocabulary(const io::File& file, const ClickFile& keys) {
  if (!keys.vocabulary_file.empty()) return read_values(io::File::open(keys.vocabulary_file), keys.vocabulary);
  return read_values(file, keys.vocabulary.empty() ? keys.group : keys.vocabulary);
}

/// Hash of a vocabulary.
std::uint64_t meaning_of_rows(const std::map<std::int64_t, std::int32_t>& rows) {
  std::string text;
  for (const auto& [value, row] : rows) text += fmt::format("{} ", value);
  return meaning_of(text);
}

void add_numbers(const Array2<double>& dense, bool logarithm, RecordSet& out) {
  out.logarithm = logarithm;
  for (std::int64_t k = 0; k < dense.columns; ++k) {
    out.numbers.push_back(fmt::format("number {}", k + 1));
    out.numbers.push_back(fmt::format("number {} missing", k + 1));
  }
  for (const double x : dense.values) {
    const double taken = logarithm ? std::log1p(std::max(x, 0.0)) : x;
    out.number.push_back(std::isnan(x) ? 0.0 : taken);
    out.number.push_back(std::isnan(x));
    out.cut += logarithm && x < 0.0;
  }
}

}  // namespace

RecordSet read_clicks(const ClickFile& keys) {
  const auto file = io::File::open(keys.file);
  const auto values = read_values(file, keys.group);
  RecordSet out;
  out.source = fmt::format("'{}'{}", keys.file, keys.group.empty() ? "" : " " + keys.group);
  out.answer = "clicked";
  const io::Group place = keys.group.empty() ? static_cast<const io::Group&>(file) : file.group(keys.group);
  out.answers = place.read<std::vector<double>>("label");
  if (values.rows == 0) throw InputError(fmt::format("{} has no records", out.source));
  if (std::ssize(out.answers) != values.rows)
    throw InputError(
        fmt::format("{}: {} labels for {} records; the file is cut short, or its parts belong to different "
                    "data",
                    out.source, out.answers.size(), values.rows));
  if (place.exists("dense")) add_numbers(read_2d<double>(place, "dense"), keys.logarithm, out);
  if (std::ssize(out.number) != values.rows * std::ssize(out.numbers))
    throw InputError(fmt::format("{}: dense has another number of records than label", out.source));
  const bool as_they_are = !keys.rows.empty();
  if (as_they_are && std::ssize(keys.rows) != values.columns)
    throw KeyError("clicks.rows", "num_embeddings",
                   fmt::format("num_embeddings has {} values, but {} has {} columns", keys.rows.size(), out.source,
                               values.columns));
  const auto known = as_they_are ? values : read_vocabulary(file, keys);
  if (known.columns != values.columns)
    throw InputError(
        fmt::format("{}: the vocabulary has {} columns, not {}", out.source, known.columns, values.columns));
  auto ids = std::make_shared<std::vector<std::int32_t>>(values.values.size(), 0);
  for (std::int64_t c = 0; c < values.columns; ++c) {
    const auto rows = as_they_are ? std::map<std::int64_t, std::int32_t>{} : numbered(known, c, keys.least);
    const auto name = fmt::format("C{}", c + 1);
    out.columns.push_back(as_they_are ? RowColumn{name, keys.rows[c]}
                                      : RowColumn{name, std::ssize(rows) + 1, meaning_of_rows(rows)});
    for (std::int64_t r = 0; r < values.rows; ++r) {
      auto& id = (*ids)[r * values.columns + c];
      const auto value = values.at(r, c);
      if (as_they_are)
        id = static_cast<std::int32_t>(std::clamp<std::int64_t>(value, -1, 2'147'483'647));
      else if (const auto found = rows.find(value); found != rows.end())
        id = found->second;
    }
  }
  out.stored.push_back(ids);
  for (std::int64_t r = 0; r < values.rows; ++r) {
    if (const double y = out.answers[r]; y != 0.0 && y != 1.0)
      throw InputError(fmt::format("{}, row {}: a label is 0 or 1, not {:g}", out.source, r, y));
    out.place.push_back(r);
    for (std::int64_t c = 0; c < values.columns; ++c)
      out.bag.push_back(std::span<const std::int32_t>(*ids).subspan(r * values.columns + c, 1));
  }
  require_sound(out);
  return out;
}

}  // namespace cambium::relate
