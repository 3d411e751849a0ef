#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::bench {

/// Ratio and PSNR (dB) of SZ3 3.3.2 at a bound relative to the range, the better of its modes (interpolation; Lorenzo
/// and regression), built from its sources (4359047) and run on the same fields.
struct Baseline {
  double bound, ratio, psnr;
};

struct MeasuredField {
  std::string name;  ///< in the file
  Baseline baselines[3];
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  /// The name as a part of keys, such as "isabel_30".
  std::string key() const;
};

/// Eight fields of fields/fields.h5 in CAMBIUM_DATA on which SZ3 was run: a hurricane, viscous fingers, winds and
/// heights; for the last two January at 500 hPa. Empty without the file.
std::vector<MeasuredField> measured_fields();

}  // namespace cambium::bench
