#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/context.hpp"

namespace cambium::kinetic {

/// A file of the run that grows by rows: /step, /time and one array per column, [row][shape...] in float64, with names,
/// units and coordinates as xarray expects them. Only rank 0 has it open; functions of rank 0 only are marked.
class SeriesFile {
 public:
  struct Column {
    std::string name;  ///< "electron/density"
    std::vector<std::int64_t> shape;
    std::vector<std::string> along;    ///< names of the dimensions of `shape`
    std::string long_name, unit = {};  ///< for people; no unit: "1"
    std::string shown = {};            ///< name at the top of the file, for a column in a group
  };
  /// `compress`: of all columns; each mode is encoded separately, and rank 0 then keeps a complete row.
  SeriesFile(const Context& context, std::string name, const std::optional<io::Compression>& compress = {})
      : context_(context), name_(std::move(name)), compress_(compress) {}

  const std::string& name() const { return name_; }
  bool is_open() const { return file_.has_value(); }
  /// Rank 0: a new file with the provenance of the run. `coordinates` writes what is not a row: an array, or
  /// io::write_dimension, for every name in `along`. `beside` names coordinates in addition to `along`, separated by
  /// blanks.
  void create(const std::vector<Column>& columns, const std::string& time_unit,
              const std::function<void(io::File&)>& coordinates, const std::string& beside = {});
  /// Rank 0: one row; values in the order of the columns.
  void append(std::int64_t step, double time, std::span<const double* const> values);
  /// Rank 0: one row whose columns are filled by write(), a block at a time: where it begins in the column's shape.
  void begin_row(std::int64_t step, double time);
  void write(int column, std::span<const std::int64_t> start, const TensorRef& block);
  /// Rank 0: flushes the row to the file.
  void flush();
  /// How much smaller the columns are stored, for the log; nothing without `compress`. Rank 0.
  void say_stored() const;
  /// Collective: continues the file of the run that is resumed, without the rows after `step`.
  void resume(std::int64_t step, const std::vector<Column>& columns);

 private:
  std::string path() const;
  void write_row(int column, std::span<const std::int64_t> start, const TensorRef& block);

  const Context& context_;
  std::string name_;
  std::optional<io::Compression> compress_;
  std::vector<Column> columns_;
  std::vector<std::vector<double>> row_of_;  ///< with compress_: of each column, until flush()
  std::optional<io::File> file_;
  std::int64_t row_ = 0;  ///< that write() fills
};

}  // namespace cambium::kinetic
