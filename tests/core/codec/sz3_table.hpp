#pragma once
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium {

/// Ratio and PSNR (dB) of SZ3 3.3.2 at a bound relative to the range, the better of its modes (interpolation; Lorenzo
/// and regression), built from its sources (4359047) and run on the same fields.
struct Rival {
  double bound, ratio, psnr;
};

struct MeasuredField {
  std::string name;
  Rival rivals[3];
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// The fields of CAMBIUM_DATA/fields/fields.h5 that SZ3 was run on; empty, saying so, where they are not there.
inline std::vector<MeasuredField> measured_fields(const std::string& test) {
  std::vector<MeasuredField> list{
      {"isabel/wind_speed_05", {{1e-2, 45.3, 46.2}, {1e-3, 11.7, 65.2}, {1e-4, 5.25, 84.8}}, {}, {}},
      {"isabel/wind_speed_30", {{1e-2, 30.0, 45.7}, {1e-3, 8.03, 64.8}, {1e-4, 4.23, 84.8}}, {}, {}},
      {"isabel/wind_speed_48", {{1e-2, 26.2, 45.4}, {1e-3, 7.55, 64.8}, {1e-4, 4.10, 84.8}}, {}, {}},
      {"viscous_fingers/run01_040", {{1e-2, 111, 47.9}, {1e-3, 29.8, 67.1}, {1e-4, 12.6, 86.6}}, {}, {}},
      {"viscous_fingers/run01_080", {{1e-2, 81.1, 47.1}, {1e-3, 20.1, 65.7}, {1e-4, 9.45, 85.2}}, {}, {}},
      {"viscous_fingers/run02_060", {{1e-2, 87.0, 47.3}, {1e-3, 20.9, 65.8}, {1e-4, 9.43, 85.3}}, {}, {}},
      {"era_interim/u", {{1e-2, 129, 46.8}, {1e-3, 25.6, 65.4}, {1e-4, 8.25, 84.8}}, {}, {}},
      {"era_interim/z", {{1e-2, 346, 47.4}, {1e-3, 92.0, 69.9}, {1e-4, 15.4, 84.8}}, {}, {}}};
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: " << test << ": CAMBIUM_DATA is not set\n";
    return {};
  }
  const auto file = io::File::open(std::string(data) + "/fields/fields.h5");
  for (auto& field : list) {
    field.shape = file.dataset(field.name).shape();
    field.values = file.read<std::vector<float>>(field.name);
    if (field.shape.size() != 4) continue;
    // January at 500 hPa.
    field.values = std::vector<float>(field.values.begin() + 241 * 480, field.values.begin() + 2 * 241 * 480);
    field.shape = {241, 480};
  }
  return list;
}

}  // namespace cambium
