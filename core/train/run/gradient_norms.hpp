#pragma once
#include <string>
#include <vector>

#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Norms of the gradient of the mean loss by module: tensors whose names agree up to the last dot.
class GradientNorms {
 public:
  explicit GradientNorms(const FlatLayout& layout);
  const std::vector<std::string>& modules() const { return modules_; }
  /// Collective, after Weights::finish(), in the order of modules(). `samples`: of the global batch.
  std::vector<double> of(Weights& weights, std::int64_t samples) const;

 private:
  std::vector<std::string> modules_;
  std::vector<std::size_t> module_of_;  ///< by tensor
};

}  // namespace cambium::train
