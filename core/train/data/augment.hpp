#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/loader.hpp"

namespace cambium::train {

/// One random transformation of training samples, an entry of the key `augment` of the stage `train`.
struct AugmentKeys {
  enum class Type { flip, rotate90, roll, noise, scale };
  Type type = Type::flip;
  std::vector<std::string> fields;
  std::vector<int> axes;
  std::optional<double> probability;
  std::vector<std::vector<std::string>> vectors;
  double standard_deviation = 0.0;
  std::vector<double> range;
  static void describe(deck::Describe<AugmentKeys>& d);
};

/// Data augmentation: transforms the samples of a training batch at random, each sample anew in every step. Samples for
/// validation and for the statistics of a network are not transformed. The random numbers follow from seed, step and
/// sample, so results do not depend on ranks or restarts.
class Augment {
 public:
  Augment() = default;
  /// KeyError if a field is missing, of variable size, not of floating-point type where values change, or lacks an
  /// axis.
  Augment(std::vector<AugmentKeys> keys, std::span<const FieldInfo> fields, std::uint64_t seed);

  bool empty() const { return entries_.empty(); }
  void apply(Batch& batch) const;
  /// The transformed sample; the fields that no entry names are shared with the original.
  SamplePtr apply(const SamplePtr& sample, std::int64_t step) const;

 private:
  struct Entry {
    AugmentKeys keys;
    std::vector<std::int64_t>
        shortest;  ///< roll: by axis, the length of the shortest array, of which shifts are whole units
    /// For each vector and component: the field, and positions of the values in it.
    std::vector<std::vector<std::pair<std::string, std::vector<std::size_t>>>> vectors;
  };
  std::vector<Entry> entries_;
  std::uint64_t seed_ = 0;
};

}  // namespace cambium::train
