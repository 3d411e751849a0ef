#include "core/io/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "core/io/hdf5/labels.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::io {

TableFile::TableFile(const Context& context, std::string name, std::vector<Column> columns,
                     std::optional<std::int64_t> resumed_at, std::optional<TableMark> mark)
    : comm_(context.comm), name_(std::move(name)), columns_(std::move(columns)) {
  on_root(comm_, [&] {
    const std::filesystem::path folder = context.run_directory;
    csv_ = std::make_unique<CsvFile>((folder / (name_ + ".csv")).string(), columns_, resumed_at, mark);
    if (mark && mark->rows > 0 && csv_->kept().empty())
      context.log.warn(fmt::format("{}.csv is gone, with its {} rows up to step {}: a new table begins there", name_,
                                   mark->rows, *resumed_at));
    make_series(context, (folder / (name_ + ".h5")).string());
  });
}

namespace {

/// "/thermo/"; the top of the file if a column has the table's name, which a group cannot have then.
std::string group_of(const std::string& table, const std::vector<Column>& columns) {
  for (const auto& column : columns)
    if (column.name == table) return "/";
  return "/" + table + "/";
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// The dimension of the rows is time if there is one, else the step.
void name_rows(File& file, const std::string& group, const std::vector<Column>& columns) {
  const bool timed = !columns.empty() && columns.front().name == "time";
  const std::string rows = group + (timed ? "time" : "step");
  auto name = [&](const std::string& column) {
    if (group + column != rows) file.attach_scales(group + column, {rows});
    if (timed && group + column != rows && column != "step") set_coordinates(file.dataset(group + column), "step");
    show_at_top(file, group + column, column);
  };
  name("step");
  for (const auto& column : columns) name(column.name);
  follow_cf(file);
}

}  // namespace

/// The text is the master copy: a killed program may leave an HDF5 file that cannot be opened, so it is written again.
void TableFile::make_series(const Context& context, const std::string& path) {
  file_ = std::make_unique<File>(File::create(path));
  write_provenance(*file_, provenance_of(context));
  const std::string group = group_of(name_, columns_);
  auto add = [&](const Column& column, DType type) {
    series_.push_back(labelled(file_->create_series(group + column.name, type, {}), column.unit,
                               column.doc.empty() ? spaced(column.name) : column.doc));
  };
  add({"step", "", "step"}, DType::i64);
  for (const auto& column : columns_) add(column, DType::f64);
  name_rows(*file_, group, columns_);
  const auto& rows = csv_->kept();
  const std::int64_t start[1] = {0};
  std::vector<double> values(rows.size());
  for (std::size_t k = 0; k < series_.size(); ++k) {
    for (std::size_t row = 0; row < rows.size(); ++row) values[row] = rows[row].at(k);
    series_[k].resize(std::ssize(rows));
    series_[k].write_block(start, tensor_of(values));
  }
  file_->flush();
}

void TableFile::append(std::int64_t step, std::span<const double> values) {
  on_root(comm_, [&] {
    csv_->append(step, values);
    series_.front().append(tensor_of(&step, {}));
    for (std::size_t k = 0; k < values.size(); ++k) series_.at(k + 1).append(tensor_of(&values[k], {}));
    file_->flush();
  });
}

void TableFile::save_mark(Group& group) const {
  TableMark mark;
  on_root(comm_, [&] { mark = csv_->mark(); });
  Group own = group.create_group("tables/" + name_);
  own.set_attribute("rows", mark.rows);
  own.set_attribute("checksum", std::bit_cast<std::int64_t>(mark.checksum));
}

std::optional<TableMark> table_mark(const Group& group, const std::string& name) {
  const std::string path = "tables/" + name;
  if (!group.is_group(path)) return {};
  const Group own = group.group(path);
  return TableMark{own.attribute<std::int64_t>("rows"),
                   std::bit_cast<std::uint64_t>(own.attribute<std::int64_t>("checksum"))};
}

}  // namespace cambium::io
