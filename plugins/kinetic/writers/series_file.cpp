#include "plugins/kinetic/writers/series_file.hpp"

#include <filesystem>

#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/kinetic/species/distribution_file.hpp"

namespace cambium::kinetic {

std::string SeriesFile::path() const { return (std::filesystem::path(context_.run_directory) / name_).string(); }

void SeriesFile::create(const std::vector<Column>& columns, const std::string& time_unit,
                        const std::function<void(io::File&)>& coordinates, const std::string& beside) {
  columns_ = columns;
  file_.emplace(io::File::create(path()));
  io::write_provenance(*file_, io::provenance_of(context_));
  io::follow_cf(*file_);
  io::labelled(file_->create_series("step", DType::i64, {}), "", "step");
  io::labelled(file_->create_series("time", DType::f64, {}), time_unit, "time");
  coordinates(*file_);
  file_->attach_scales("step", {"time"});
  for (const auto& column : columns_) {
    std::vector<std::int64_t> chunk;
    if (compress_ && !column.along.empty() && column.along.back() == "mode") {
      chunk.assign(column.shape.begin(), column.shape.end());
      chunk.insert(chunk.begin(), 1);
      chunk.back() = 1;
    }
    auto array = io::labelled(io::create_series(*file_, column.name, DType::f64, column.shape, compress_, chunk),
                              column.unit, column.long_name);
    std::vector<std::string> along{"time"};
    for (const auto& name : column.along) along.push_back(name);
    file_->attach_scales(column.name, along);
    io::set_coordinates(array, beside.empty() ? "step" : "step " + beside);
    if (!column.shown.empty()) io::show_at_top(*file_, "/" + column.name, column.shown);
  }
}

void SeriesFile::begin_row(std::int64_t step, double time) {
  file_->dataset("step").append(io::tensor_of(&step, {}));
  file_->dataset("time").append(io::tensor_of(&time, {}));
  row_ = file_->dataset("step").shape()[0] - 1;
  for (const auto& column : columns_)
    if (file_->exists(column.name)) file_->dataset(column.name).resize(row_ + 1);
}

namespace {

/// A complete row of a column as a tensor.
TensorRef row_tensor(const double* values, const std::vector<std::int64_t>& shape) {
  TensorRef row = io::tensor_of(values, {});
  for (auto extent : shape) row.shape[row.rank++] = extent;
  for (std::int64_t stride = 1, d = row.rank - 1; d >= 0; stride *= row.shape[d--]) row.stride[d] = stride;
  return row;
}

}  // namespace

void SeriesFile::write(int column, std::span<const std::int64_t> start, const TensorRef& block) {
  if (!compress_) return write_row(column, start, block);
  row_of_.resize(columns_.size());
  const auto& shape = columns_[column].shape;
  auto& row = row_of_[column];
  row.resize(static_cast<std::size_t>(row_tensor(nullptr, shape).elements()));
  place_block({column, {start.begin(), start.end()}, block}, shape, row.data());
}

void SeriesFile::flush() {
  for (std::size_t k = 0; k < row_of_.size(); ++k) {
    if (row_of_[k].empty()) continue;
    const std::vector<std::int64_t> start(columns_[k].shape.size(), 0);
    write_row(static_cast<int>(k), start, row_tensor(row_of_[k].data(), columns_[k].shape));
    row_of_[k].clear();
  }
  file_->flush();
}

void SeriesFile::say_stored() const {
  if (!compress_ || !file_) return;
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.name);
  context_.log.info(io::stored_line(name_, *file_, names));
}

void SeriesFile::write_row(int column, std::span<const std::int64_t> start, const TensorRef& block) {
  const std::string& name = columns_[column].name;
  if (!file_->exists(name)) return;  // an earlier version began the file
  TensorRef row = block;
  std::vector<std::int64_t> from{row_};
  from.insert(from.end(), start.begin(), start.end());
  row.rank = block.rank + 1;
  row.shape[0] = 1;
  row.stride[0] = block.elements();
  for (int k = 0; k < block.rank; ++k) {
    row.shape[k + 1] = block.shape[k];
    row.stride[k + 1] = block.stride[k];
  }
  file_->dataset(name).write_block(from, row);
}

void SeriesFile::append(std::int64_t step, double time, std::span<const double* const> values) {
  file_->dataset("step").append(io::tensor_of(&step, {}));
  file_->dataset("time").append(io::tensor_of(&time, {}));
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    if (!file_->exists(columns_[k].name)) continue;  // an earlier version began the file
    file_->dataset(columns_[k].name).append(row_tensor(values[k], columns_[k].shape));
  }
}

void SeriesFile::resume(std::int64_t step, const std::vector<Column>& columns) {
  io::on_root(context_.comm, [&] {
    if (!std::filesystem::exists(path())) return;
    columns_ = columns;
    file_.emplace(io::File::append(path()));
    const auto steps = file_->read<std::vector<std::int64_t>>("step");
    std::int64_t rows = 0;
    while (rows < std::ssize(steps) && steps[rows] <= step) ++rows;
    for (const char* name : {"step", "time"}) file_->dataset(name).resize(rows);
    for (const auto& column : columns_)
      if (file_->exists(column.name)) file_->dataset(column.name).resize(rows);
  });
}

}  // namespace cambium::kinetic
