#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium {

/// Fields on the cells of a rectangular grid at one time, as input of physics-independent writers.
struct GridFields {
  struct Axis {
    std::string name;           ///< "x"
    std::vector<double> faces;  ///< ascending; cells + 1 of them, evenly spaced or not
    std::int64_t cells() const { return std::ssize(faces) - 1; }
  };
  struct Field {
    std::string name, unit;
    int components = 1;          ///< 3 for a vector
    std::vector<double> values;  ///< (..., axis 1, axis 0, component): components vary fastest, then axis 0
  };
  std::vector<Axis> axes;  ///< one to three; the first is drawn to the right, the second upwards
  std::vector<Field> fields;

  std::int64_t cells() const {
    std::int64_t n = 1;
    for (const auto& axis : axes) n *= axis.cells();
    return n;
  }
};

}  // namespace cambium
