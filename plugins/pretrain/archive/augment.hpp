#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/pretrain/archive/warp.hpp"

namespace cambium::pretrain {

/// A reflection across an axis: channels in `odd` change their sign, for example the velocity along it.
struct Reflection {
  std::int64_t axis = 0;
  std::vector<std::int64_t> odd;
  static void describe(deck::Describe<Reflection>& d);
};

/// Augmentation of training fields. Axes and channels are counted from 0.
struct AugmentKeys {
  std::vector<std::int64_t> shift;
  std::vector<Reflection> reflect;
  double noise = 0.0;
  std::vector<std::int64_t> crop;
  std::optional<WarpKeys> warp;
  static void describe(deck::Describe<AugmentKeys>& d);
  bool nothing() const { return shift.empty() && reflect.empty() && noise == 0.0 && crop.empty() && !warp; }
};

/// A field's extents, channels first.
struct FieldShape {
  std::int64_t channels = 0;
  std::vector<std::int64_t> cells;     ///< along two or three axes
  std::vector<std::int64_t> periodic;  ///< 1 for periodic axes
  std::int64_t numbers() const;
};

/// InputError for a change that is inconsistent with the data: a shift along an axis that is not periodic, a crop of a
/// periodic one, or larger than the field; a warp of a field with a periodic axis or three axes; an axis or a channel
/// that does not exist.
void require_fitting(const AugmentKeys& keys, const FieldShape& shape);

/// Extents after the crop.
FieldShape augmented_shape(const AugmentKeys& keys, const FieldShape& shape);

/// Address of the random numbers for one view of a sample.
struct AugmentAddress {
  std::uint64_t seed = 1;
  std::int64_t sample = 0, step = 0;
  int view = 0;
};

/// An augmented copy of the values of `field`, of augmented_shape(). `deviation`: standard deviation of each channel,
/// the unit of noise.
std::vector<float> augmented(std::span<const float> field, const FieldShape& shape, const AugmentKeys& keys,
                             std::span<const double> deviation, const AugmentAddress& address);

}  // namespace cambium::pretrain
