#pragma once
#include <span>
#include <vector>

#include "core/io/parity.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Class labels with the predictions of a classifier.
struct ClassPredictions {
  std::int64_t classes = 0;
  std::vector<std::int64_t> sample, label;  ///< id in the data set and class, one per row
  std::vector<double> probability;          ///< rows x classes
};

/// Interface of a network that provides predictions together with labels, in addition to Network, for numeric or class
/// targets.
class GivesParity {
 public:
  virtual ~GivesParity() = default;
  /// The quantities without rows; empty if there are none (a classifier). The first column is the sample.
  virtual std::vector<io::ParityQuantity> parity_quantities() const = 0;
  /// Appends the rows of these samples to the quantities; the first column is the sample's id.
  virtual void add_parity(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          std::span<io::ParityQuantity> quantities) = 0;
  /// Number of classes of a classifier; 0 for other networks.
  virtual std::int64_t parity_classes() const { return 0; }
  /// Appends the rows of these samples, for a classifier.
  virtual void add_classes(std::span<const SamplePtr>, std::span<const TensorRef>, ClassPredictions&) {}
};

}  // namespace cambium::train
