#include "plugins/podlstm/field/field_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::podlstm {

void Packing::unpack(std::span<double> values) const {
  for (double& x : values) {
    bool absent = false;
    for (double m : missing) absent |= x == m;
    x = absent ? std::numeric_limits<double>::quiet_NaN() : x * scale + offset;
  }
}

double days_per_unit(const std::string& time_unit) {
  const std::string word = time_unit.substr(0, time_unit.find(' '));
  for (const auto& [name, days] : {std::pair{"day", 1.0},
                                   {"week", 7.0},
                                   {"hour", 1.0 / 24.0},
                                   {"minute", 1.0 / 1440.0},
                                   {"second", 1.0 / 86400.0},
                                   {"month", 365.2425 / 12.0},
                                   {"year", 365.2425}})
    if (word == name || word == std::string(name) + "s") return days;
  return word == "d" || word == "1" ? 1.0 : word == "h" ? 1.0 / 24.0 : word == "s" ? 1.0 / 86400.0 : 0.0;
}

std::unique_ptr<FieldFile> open_field_file(const std::string& path, const FieldNames& names) {
  char magic[4] = {};
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("cannot open '{}': {}; correct the path", path, std::strerror(errno)));
  in.read(magic, 4);
  if (std::memcmp(magic, "CDF", 3) == 0) return open_classic_field(path, names);
  return open_hdf5_field(path, names);
}

}  // namespace cambium::podlstm
