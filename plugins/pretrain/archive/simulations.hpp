#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::pretrain {

/// Common part of all fields of an archive.
struct Layout {
  std::vector<std::string> channels;   ///< names of the quantities
  std::vector<std::int64_t> shape;     ///< cells along two or three axes
  std::vector<std::int64_t> periodic;  ///< 1 for a periodic axis
  std::int64_t cells() const {
    std::int64_t out = 1;
    for (const auto n : shape) out *= n;
    return out;
  }
  std::int64_t numbers() const { return cells() * static_cast<std::int64_t>(channels.size()); }
  bool operator==(const Layout&) const = default;
};

/// Snapshots of one simulation.
struct Simulation {
  std::string source;              ///< file, and the location in it
  std::vector<double> time;        ///< of each snapshot
  std::vector<double> parameters;  ///< in the order of Archive::parameters
  std::vector<float> values;       ///< (snapshots, channels, cells...)
};

struct Archive {
  Layout layout;
  std::vector<std::string> parameters;  ///< names
  std::vector<Simulation> simulations;
};

/// Source and selection of fields.
struct FieldSource {
  std::vector<std::string> files;
  std::vector<std::string> channels;   ///< names under /tasks
  std::string array;                   ///< alternative: (simulations, snapshots, axes...) in one array of each file
  std::vector<std::int64_t> periodic;  ///< 1 for periodic axes; empty: from the file; for `array`, none
  double first_time = 0.0, last_time = 0.0;
};

/// Reads the layout of the outputs `fields` (/tasks/<name> over t and the axes, /scales) or `array`. InputError names
/// the file: missing arrays, a shape that differs from the first file's, a value that is not finite (with its
/// snapshot), no snapshot in the time range.
Archive read_fields(const FieldSource& source);

}  // namespace cambium::pretrain
