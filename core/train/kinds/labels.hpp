#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// A network that is trained on labels of several kinds and also judged on samples that lack some of them, such as
/// energies without forces.
class SparesLabels {
 public:
  virtual ~SparesLabels() = default;
  /// Fields that it only compares its answers with, and does without where samples are judged.
  virtual std::vector<std::string> spared_labels() const = 0;
};

/// Of any network; none where it says nothing.
inline std::vector<std::string> spared_labels(const Network& network) {
  const auto* spares = dynamic_cast<const SparesLabels*>(&network);
  return spares ? spares->spared_labels() : std::vector<std::string>{};
}

}  // namespace cambium::train
