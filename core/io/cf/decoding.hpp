#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/io/cf/variable.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::io::cf {

/// In which units valid_range, valid_min and valid_max of a packed array are. as_file: stored ones, and refused where
/// the file contradicts itself.
enum class ValidRange { as_file, stored, unpacked, ignored };

struct DecodingOptions {
  std::vector<double> fills;  ///< stored values that mean missing, in addition to those that the file names
  ValidRange valid_range = ValidRange::as_file;
};

/// Decodes stored values by the attributes of a variable (CF 2.5.1, 8.1, NetCDF Users Guide A.1): _Unsigned,
/// _FillValue, missing_value (of any type, one or several), fills by type, valid_range, valid_min, valid_max,
/// scale_factor, add_offset. Fills and ranges are compared in the stored type.
class Decoding {
 public:
  /// InputError for text, for non-numeric attributes, for fills that the stored type cannot hold if no other attribute
  /// marks missing values, and for ambiguous ranges.
  Decoding(const Variable& variable, const std::string& file, const DecodingOptions& options = {});

  /// Converts n stored values to physical ones; NaN for missing ones.
  void apply(const void* stored, std::size_t n, double* out) const;
  Stored stored() const { return type_; }
  /// True if values are unpacked, that is, differ from those in the file.
  bool unpacks() const { return type_ != file_type_ || scale_ != 1.0 || offset_ != 0.0; }
  /// True if some values may be missing.
  bool leaves_out() const { return !fills_.empty() || low_ || high_; }

 private:
  void read_fills(const DecodingOptions& options);
  void read_range(const DecodingOptions& options);
  void add_fill(long double x, std::optional<Stored> as, const char* attribute);
  std::vector<long double> numbers_of(const char* attribute, std::optional<Stored>& type) const;
  double number_of(const char* attribute, double otherwise) const;
  template <class T>
  void decode(const T* stored, std::size_t n, double* out) const;

  const Variable* variable_;  ///< during construction
  std::string where_;         ///< "'sst' of 'a.nc'"
  Stored file_type_, type_;   ///< as the file has them, and after _Unsigned
  std::vector<long double> fills_;
  std::optional<long double> low_, high_;  ///< range of valid stored values
  std::string lost_;                       ///< a fill that the type cannot hold
  double scale_ = 1.0, offset_ = 0.0;
};

/// All values of a variable, decoded.
std::vector<double> decoded(const Variable& variable, const std::string& file, const DecodingOptions& options = {});
/// Variable for an array of an HDF5 file. InputError for an array that only gives a netCDF dimension its length.
std::unique_ptr<Variable> variable_of(const Dataset& array);
/// All values of the array, decoded.
std::vector<double> decoded(const Dataset& array);

/// True if attributes of an array of an HDF5 file change the meaning of its values or mark some as missing.
bool has_marks(const Dataset& array);

}  // namespace cambium::io::cf
