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
  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::int64_t row_size() const { return rows() > 0 ? static_cast<std::int64_t>(values.size()) / rows() : 0; }
};

/// Reads floating-point values of 4 or 8 bytes, integers of 1 to 8 bytes and Booleans in either byte order, in C or
/// Fortran order; for other types, such as floats of 2 or 16 bytes, InputError names the file and the type.
NpyArray read_npy(const std::string& path);
/// The same from a seekable stream; `name` replaces the file name in messages.
NpyArray read_npy(std::istream& in, const std::string& name);

}  // namespace cambium::io
