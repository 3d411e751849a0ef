#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::deepmd {

/// The numbers of a `.npy` file (NumPy's format, versions 1 to 3), converted to double, row-major.
struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::int64_t row_size() const { return rows() > 0 ? static_cast<std::int64_t>(values.size()) / rows() : 0; }
};

/// Reads float32, float64, int32 or int64 in native byte order and C order; InputError names the file and what it holds
/// otherwise.
NpyArray read_npy(const std::string& path);

}  // namespace cambium::deepmd
