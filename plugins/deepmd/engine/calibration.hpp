#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/deepmd/engine/conformal.hpp"

namespace cambium::deepmd {

/// Calibration of a committee: maps its deviation to the error of an atom's force. Stored as YAML.
struct Calibration {
  double level = 0.9;  ///< fraction of force errors within the bound
  std::int64_t frames = 0, atoms = 0;
  BoundCurve curve;
  std::vector<std::string> models;  ///< checksums of the files, the model in use first

  /// Text of the file.
  std::string to_yaml() const;
  /// InputError naming file, line and key of an error in it.
  static Calibration load(const std::string& path);
  /// InputError unless it was calibrated with these model files, in this order.
  void require_models(std::span<const std::string> paths, const std::string& source) const;
};

/// Checksum of a file's content, 16 hexadecimal digits; InputError when it cannot be read.
std::string checksum_of(const std::string& path);

}  // namespace cambium::deepmd
