#include "plugins/kinetic/writers/series_file.hpp"

#include <filesystem>

#include "core/io/run/provenance.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::kinetic {

std::string SeriesFile::path() const { return (std::filesystem::path(context_.run_directory) / name_).string(); }

io::File& SeriesFile::create(const std::vector<Column>& columns) {
  columns_ = columns;
  file_.emplace(io::File::create(path()));
  io::write_provenance(*file_, io::provenance_of(context_));
  file_->create_series("step", DType::i64, {});
  file_->create_series("time", DType::f64, {});
  for (const auto& column : columns_) file_->create_series(column.name, DType::f64, column.shape);
  return *file_;
}

void SeriesFile::append(std::int64_t step, double time, std::span<const double* const> values) {
  file_->dataset("step").append(io::tensor_of(&step, {}));
  file_->dataset("time").append(io::tensor_of(&time, {}));
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    TensorRef row = io::tensor_of(values[k], {});
    for (auto extent : columns_[k].shape) row.shape[row.rank++] = extent;
    for (std::int64_t stride = 1, d = row.rank - 1; d >= 0; stride *= row.shape[d--]) row.stride[d] = stride;
    file_->dataset(columns_[k].name).append(row);
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
    for (const auto& column : columns_) file_->dataset(column.name).resize(rows);
  });
}

}  // namespace cambium::kinetic
