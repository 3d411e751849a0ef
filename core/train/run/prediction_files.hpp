#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/train/kinds/has_coordinates.hpp"
#include "core/train/run/applied_model.hpp"

namespace cambium::train {

/// Values per sample of a field whose shape is known.
std::int64_t numbers_in(const FieldInfo& field);

/// Predictions, written batch by batch on one rank: an HDF5 file readable by netCDF and xarray, with the
/// coordinates of the data, and a table. Both are written atomically.
///   /<output>       (sample, shape...), float64, attributes units and long_name; trailing extents of 1 are dropped
///   /<coordinate>   of samples and of axes common to inputs and outputs
///   /sample         index in the data set, if the data have no sample coordinate
///   /<field>        (sample): values of the data set that the model does not read, such as identifiers; classes with
///                   names as texts; a slash in the name becomes an underscore
class PredictionFiles {
 public:
  struct Plan {
    std::string h5, csv;  ///< paths; empty: not written
    std::int64_t samples = 0;
    std::vector<FieldInfo> inputs, outputs, kept;
    std::vector<Coordinate> coordinates;
  };
  PredictionFiles(Plan plan, const Context& context);
  ~PredictionFiles();

  /// Values of outputs and kept fields per sample; integers of kept fields are stored by their bits.
  static std::size_t numbers(std::span<const FieldInfo> outputs, std::span<const FieldInfo> kept);
  /// Adds samples starting at `first`, with numbers() values each: outputs in order, then kept fields.
  void add(std::int64_t first, std::span<const double> rows);
  void commit();

 private:
  void begin_h5(const Context& context);
  void write_coordinates();
  std::vector<std::string> dimensions_of(const FieldInfo& output);
  void begin_csv();
  void add_h5(std::int64_t first, std::span<const double> rows);
  void add_texts(std::span<const double> rows);
  void write_texts();
  void add_csv(std::int64_t first, std::span<const double> rows);

  Plan plan_;
  std::string samples_;  ///< name of the sample dimension
  std::optional<io::AtomicFile> h5_part_, csv_part_;
  std::optional<io::File> h5_;
  std::vector<std::vector<std::string>> texts_;  ///< by kept field with categories: of all samples; HDF5 only
  std::FILE* csv_ = nullptr;
};

}  // namespace cambium::train
