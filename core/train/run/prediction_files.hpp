#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/train/kinds/has_coordinates.hpp"
#include "core/train/run/applied_model.hpp"

namespace cambium::train {

/// For one sample of a field whose shape is known.
std::int64_t numbers_in(const FieldInfo& field);

/// Predictions as they come, batch after batch, on one rank: an HDF5 file that netCDF and xarray open, with the
/// coordinates of the data, and a table. Both appear complete or not at all.
///   /<output>       (sample, shape...), float64, attributes units and long_name; extents of 1 at the end are left out
///   /<coordinate>   of samples and of axes that inputs and outputs share
///   /sample         number in the data set, where the data name no coordinate of samples
///   /<field>        (sample): numbers of the data set that the model does not read, such as identifiers
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

  /// Numbers of outputs and kept fields that a sample has; integers of kept fields by their bits.
  static std::size_t numbers(std::span<const FieldInfo> outputs, std::span<const FieldInfo> kept);
  /// Samples from `first` on, numbers() for each: outputs in order, then kept fields.
  void add(std::int64_t first, std::span<const double> rows);
  void commit();

 private:
  void begin_h5(const Context& context);
  void write_coordinates();
  std::vector<std::string> dimensions_of(const FieldInfo& output);
  void begin_csv();
  void add_h5(std::int64_t first, std::span<const double> rows);
  void add_csv(std::int64_t first, std::span<const double> rows);

  Plan plan_;
  std::string samples_;  ///< name of the dimension of samples
  std::optional<io::AtomicFile> h5_part_, csv_part_;
  std::optional<io::File> h5_;
  std::FILE* csv_ = nullptr;
};

}  // namespace cambium::train
