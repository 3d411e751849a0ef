#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::pretrain {

/// Common part of all fields of an archive.
struct Layout {
  std::vector<std::string> channels;   ///< names of the quantities
  std::vector<std::int64_t> shape;     ///< cells along two or three axes
  std::vector<std::int64_t> periodic;  ///< 1 for an axis that closes on itself
  std::int64_t cells() const {
    std::int64_t out = 1;
    for (const auto n : shape) out *= n;
    return out;
  }
  std::int64_t numbers() const { return cells() * static_cast<std::int64_t>(channels.size()); }
  bool operator==(const Layout&) const = default;
};

/// Moments of one simulation.
struct Simulation {
  std::string source;              ///< file, and the place in it
  std::vector<double> time;        ///< of each moment
  std::vector<double> parameters;  ///< in the order of Archive::parameters
  std::vector<float> values;       ///< (moments, channels, cells...)
};

struct Archive {
  Layout layout;
  std::vector<std::string> parameters;  ///< names
  std::vector<Simulation> simulations;
};

/// Where fields come from and which of them are wanted.
struct FieldSource {
  std::vector<std::string> files;
  std::vector<std::string> channels;   ///< names under /tasks
  std::string array;                   ///< instead: (simulations, moments, axes...) in one array of each file
  std::vector<std::int64_t> periodic;  ///< 1 for axes that close; empty: as the file says, none of `array`
  double first_time = 0.0, last_time = 0.0;
};

/// Reads the layout of the outputs `fields` (/tasks/<name> over t and the axes, /scales) or `array`. InputError names
/// the file: missing arrays, another shape than the first file's, a number that is not finite (with its moment), no
/// moment in the span of times.
Archive read_fields(const FieldSource& source);

}  // namespace cambium::pretrain
