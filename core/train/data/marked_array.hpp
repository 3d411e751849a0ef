#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/tensor_ref.hpp"
#include "core/io/cf/decoding.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::train {

/// An array of samples whose attributes say that its stored numbers mean others (scale_factor, add_offset, _Unsigned)
/// or none (_FillValue, missing_value, valid ranges; in files of netCDF also what it puts where nothing was written).
class MarkedArray {
 public:
  /// None where the attributes of this array of the file leave its numbers as they are stored.
  /// InputError as io::cf::Decoding, and for a netCDF dimension, which holds no numbers.
  static std::optional<MarkedArray> of(const io::File& file, const io::Dataset& array,
                                       const io::cf::DecodingOptions& options);

  /// Type into which numbers stored as `stored` are read: packed ones become float64.
  DType dtype(DType stored) const { return decoding_.unpacks() ? DType::f64 : stored; }
  /// Fills a contiguous block of rows, from row `first` on, whose type is dtype(). Returns the rows with a missing
  /// number, and the first one of each as it is stored.
  std::map<std::int64_t, double> read(std::int64_t first, const io::Dataset& array, const TensorRef& block) const;

 private:
  MarkedArray(std::unique_ptr<io::cf::Variable> variable, io::cf::Decoding decoding);

  std::unique_ptr<io::cf::Variable> variable_;
  io::cf::Decoding decoding_;
};

}  // namespace cambium::train
