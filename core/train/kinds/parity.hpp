#pragma once
#include <span>
#include <vector>

#include "core/io/parity.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// A network that can set its predictions beside the labels of samples; an interface beside Network, for those whose
/// targets are numbers.
class GivesParity {
 public:
  virtual ~GivesParity() = default;
  /// The quantities without rows; empty where this network has none (a classifier). The first place is the sample.
  virtual std::vector<io::ParityQuantity> parity_quantities() const = 0;
  /// Appends the rows of these samples, whose first place is the sample's id, to the quantities.
  virtual void add_parity(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          std::span<io::ParityQuantity> quantities) = 0;
};

}  // namespace cambium::train
