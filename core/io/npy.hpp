#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace cambium::io {

/// Values of a `.npy` file (NumPy's format, versions 1 to 3), converted to double, row-major.
struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool whole = false;  ///< integers in the file
  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::int64_t row_size() const { return rows() > 0 ? static_cast<std::int64_t>(values.size()) / rows() : 0; }
};

/// Reads floating-point values of 4 or 8 bytes, integers of 1 to 8 bytes and Booleans in either byte order, in C or
/// Fortran order; for other types, such as floats of 2 or 16 bytes, InputError names the file and the type.
NpyArray read_npy(const std::string& path);
/// The same from a seekable stream; `name` replaces the file name in messages.
NpyArray read_npy(std::istream& in, const std::string& name);

/// A `.npy` file whose values are read in parts. It is open only during a read.
class NpyFile {
 public:
  /// Reads the header. InputError as by read_npy(), also for a file that is shorter than its header says.
  explicit NpyFile(const std::string& path);
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t elements() const { return elements_; }
  std::int64_t bytes() const { return elements_ * value_bytes_; }  ///< of the values in the file
  bool row_major() const { return row_major_; }                    ///< false: Fortran order
  /// Values [first, first + count) in the order of the file, converted to double.
  std::vector<double> read(std::int64_t first, std::int64_t count) const;

 private:
  std::string path_, type_;
  std::vector<std::int64_t> shape_;
  std::int64_t elements_ = 0, value_bytes_ = 0, begin_ = 0;
  bool row_major_ = true;
};

}  // namespace cambium::io
