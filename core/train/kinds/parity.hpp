#pragma once
#include <span>
#include <vector>

#include "core/io/parity.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Classes as a classifier sees them beside those of the data.
struct ClassPredictions {
  std::int64_t classes = 0;
  std::vector<std::int64_t> sample, label;  ///< id in the data set and class, a row each
  std::vector<double> probability;          ///< rows x classes
};

/// A network that can set its predictions beside the labels of samples; an interface beside Network, for those whose
/// targets are numbers or classes.
class GivesParity {
 public:
  virtual ~GivesParity() = default;
  /// The quantities without rows; empty where this network has none (a classifier). The first place is the sample.
  virtual std::vector<io::ParityQuantity> parity_quantities() const = 0;
  /// Appends the rows of these samples, whose first place is the sample's id, to the quantities.
  virtual void add_parity(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          std::span<io::ParityQuantity> quantities) = 0;
  /// Number of classes of a classifier; 0 for other networks.
  virtual std::int64_t parity_classes() const { return 0; }
  /// Appends the rows of these samples; of a classifier.
  virtual void add_classes(std::span<const SamplePtr>, std::span<const TensorRef>, ClassPredictions&) {}
};

}  // namespace cambium::train
