#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::relate {

/// A network whose score of a user and an item is the product of a vector of each: then all items are scored for a user
/// by one pass through their vectors, not by asking the network about each pair. The rows of the samples were looked
/// up.
class ScoresByVectors {
 public:
  virtual ~ScoresByVectors() = default;
  virtual std::int64_t vector_width() const = 0;
  /// For the user, and of the item, of each sample: samples x vector_width().
  virtual std::vector<double> user_vectors(std::span<const train::SamplePtr> samples) = 0;
  virtual std::vector<double> item_vectors(std::span<const train::SamplePtr> samples) = 0;
};

}  // namespace cambium::relate
