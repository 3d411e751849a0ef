#include "core/driver/thermo_file.hpp"

#include <filesystem>

#include "core/io/agree.hpp"
#include "core/io/provenance.hpp"

namespace cambium {

ThermoFile::ThermoFile(const Context& context, const std::vector<Observable>& observables, const std::string& time_unit,
                       std::optional<std::int64_t> resumed_at)
    : comm_(context.comm) {
  columns_.push_back({"time", time_unit, "physical time"});
  for (const auto& o : observables) columns_.push_back({o.name, o.unit, o.doc});
  io::on_root(comm_, [&] {
    const std::filesystem::path folder = context.run_directory;
    csv_ = std::make_unique<io::CsvFile>((folder / "thermo.csv").string(), columns_, resumed_at);
    make_series(context, (folder / "thermo.h5").string());
  });
}

/// The text is the master copy: a killed program may leave an HDF5 file that cannot be opened, so it is made anew.
void ThermoFile::make_series(const Context& context, const std::string& path) {
  file_ = std::make_unique<io::File>(io::File::create(path));
  io::write_provenance(*file_, io::provenance_of(context));
  series_.push_back(file_->create_series("/thermo/step", DType::i64, {}));
  for (const auto& column : columns_) {
    series_.push_back(file_->create_series("/thermo/" + column.name, DType::f64, {}));
    series_.back().set_attribute("unit", column.unit);
    series_.back().set_attribute("doc", column.doc);
  }
  const auto& rows = csv_->kept();
  const std::int64_t start[1] = {0};
  std::vector<double> values(rows.size());
  for (std::size_t k = 0; k < series_.size(); ++k) {
    for (std::size_t row = 0; row < rows.size(); ++row) values[row] = rows[row].at(k);
    series_[k].resize(std::ssize(rows));
    series_[k].write_block(start, io::tensor_of(values));
  }
  file_->flush();
}

void ThermoFile::append(std::int64_t step, double time, std::span<const double> values) {
  std::vector<double> row{time};
  row.insert(row.end(), values.begin(), values.end());
  io::on_root(comm_, [&] {
    csv_->append(step, row);
    series_.front().append(io::tensor_of(&step, {}));
    for (std::size_t k = 0; k < row.size(); ++k) series_.at(k + 1).append(io::tensor_of(&row[k], {}));
    file_->flush();
  });
}

}  // namespace cambium
