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

/// An array of samples whose attributes change the meaning of stored values (scale_factor, add_offset, _Unsigned) or
/// mark them as missing (_FillValue, missing_value, valid ranges; in netCDF files also the default fill value).
class MarkedArray {
 public:
  /// None if the attributes of this array leave its values as stored. InputError as io::cf::Decoding, and for a netCDF
  /// dimension, which has no values.
  static std::optional<MarkedArray> of(const io::File& file, const io::Dataset& array,
                                       const io::cf::DecodingOptions& options);

  /// Type of the values after reading when stored as `stored`: packed values become float64.
  DType dtype(DType stored) const { return decoding_.unpacks() ? DType::f64 : stored; }
  /// Fills a contiguous block of rows, of type dtype(), starting at row `first`. Returns the rows with missing values,
  /// each with its first missing value as stored.
  std::map<std::int64_t, double> read(std::int64_t first, const io::Dataset& array, const TensorRef& block) const;

 private:
  MarkedArray(std::unique_ptr<io::cf::Variable> variable, io::cf::Decoding decoding);

  std::unique_ptr<io::cf::Variable> variable_;
  io::cf::Decoding decoding_;
};

}  // namespace cambium::train
