#include "bench/core/codec_fields.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/io/hdf5/h5.hpp"

namespace cambium::bench {

std::string MeasuredField::key() const {
  std::string out = name;
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::vector<MeasuredField> measured_fields() {
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
  const auto path = std::string(data ? data : "") + "/fields/fields.h5";
  if (!data || !std::filesystem::exists(path)) return {};
  const auto file = io::File::open(path);
  for (auto& field : list) {
    field.shape = file.dataset(field.name).shape();
    field.values = file.read<std::vector<float>>(field.name);
    if (field.shape.size() != 4) continue;
    const auto plane = field.shape[2] * field.shape[3];
    field.values = std::vector<float>(field.values.begin() + plane, field.values.begin() + 2 * plane);
    field.shape = {field.shape[2], field.shape[3]};
  }
  return list;
}

}  // namespace cambium::bench
