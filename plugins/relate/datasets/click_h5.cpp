// Clicks from HDF5.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/relate/datasets/click_table.hpp"

namespace cambium::relate {

namespace {

/// A dataset of a group with records x columns.
struct Array2 {
  io::Dataset array;
  std::int64_t rows = 0, columns = 0;

  Array2(const io::Group& group, const std::string& name) : array(group.dataset(name)) {
    const auto shape = array.shape();
    if (shape.size() != 2)
      throw InputError(fmt::format("'{}': {} must be records x columns", group.file(), array.path()));
    rows = shape[0];
    columns = shape[1];
  }
  /// Values of the records [first, last).
  template <class T>
  std::vector<T> values(std::int64_t first, std::int64_t last) const {
    auto out = array.read<std::vector<T>>();
    out.erase(out.begin() + last * columns, out.end());
    out.erase(out.begin(), out.begin() + first * columns);
    return out;
  }
};

Array2 array_of_values(const io::File& file, const io::Group& place, const std::string& group) {
  for (const char* name : {"categorical", "code"})
    if (place.exists(name)) return {place, name};
  throw InputError(fmt::format("'{}' has neither categorical nor code in '{}': is it a file of clicks?", file.file(),
                               group.empty() ? "/" : group));
}

Categories categories_in(const Array2& array, std::int64_t first, std::int64_t last) {
  if (!array.array.is_text())
    return categories_of(array.values<std::int64_t>(first, last), static_cast<std::size_t>(array.columns));
  CategoryReader out(static_cast<std::size_t>(array.columns));
  for (const auto& text : array.values<std::string>(first, last)) out.add(text);
  return out.take();
}

io::Group place_in(const io::File& file, const std::string& group) {
  if (!group.empty() && !file.is_group(group))
    throw InputError(fmt::format("'{}' has no group '{}'", file.file(), group));
  return group.empty() ? static_cast<const io::Group&>(file) : file.group(group);
}

}  // namespace

Categories read_click_categories(const std::string& path, const std::string& group) {
  const auto file = io::File::open(path);
  const auto values = array_of_values(file, place_in(file, group), group);
  return categories_in(values, 0, values.rows);
}

ClickTable read_click_h5(const std::string& path, const std::string& group, const RecordRange& range) {
  const auto file = io::File::open(path);
  const auto place = place_in(file, group);
  const auto values = array_of_values(file, place, group);
  ClickTable out;
  out.source = fmt::format("'{}'{}", path, group.empty() ? "" : " " + group);
  out.labels = place.read<std::vector<double>>("label");
  if (values.rows == 0) throw InputError(fmt::format("{} has no records", out.source));
  if (std::ssize(out.labels) != values.rows)
    throw InputError(
        fmt::format("{}: {} labels for {} records; the file is cut short, or its parts belong to different "
                    "data",
                    out.source, out.labels.size(), values.rows));
  require_within(range, values.rows, out.source);
  const std::int64_t first = range ? (*range)[0] : 0, last = range ? (*range)[1] : values.rows;
  if (place.exists("dense")) {
    const Array2 dense(place, "dense");
    if (dense.rows != values.rows)
      throw InputError(fmt::format("{}: dense has another number of records than label", out.source));
    for (std::int64_t k = 0; k < dense.columns; ++k) out.dense.push_back(fmt::format("number {}", k + 1));
    out.number = dense.values<double>(first, last);
  }
  for (std::int64_t c = 0; c < values.columns; ++c) out.tables.push_back(fmt::format("C{}", c + 1));
  out.categories = categories_in(values, first, last);
  out.labels = {out.labels.begin() + first, out.labels.begin() + last};
  for (std::int64_t r = first; r < last; ++r) out.place.push_back(r);
  return out;
}

}  // namespace cambium::relate
