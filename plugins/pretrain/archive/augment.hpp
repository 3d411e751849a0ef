#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/pretrain/archive/warp.hpp"

namespace cambium::pretrain {

/// A mirror across an axis: channels in `odd` change their sign, such as the velocity along it.
struct Reflection {
  std::int64_t axis = 0;
  std::vector<std::int64_t> odd;
  static void describe(deck::Describe<Reflection>& d);
};

/// Augmentation of a field before the encoder sees it in training. Axes and channels are counted from 0.
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
  std::vector<std::int64_t> periodic;  ///< 1 for axes that close on themselves
  std::int64_t numbers() const;
};

/// InputError where a change would break what the data say of themselves: a shift along an axis that does not close, a
/// crop of one that does, or larger than the field; a warp of a field with such an axis or three axes; an axis or a
/// channel that there is not.
void require_fitting(const AugmentKeys& keys, const FieldShape& shape);

/// Extents after the crop.
FieldShape augmented_shape(const AugmentKeys& keys, const FieldShape& shape);

/// Where random numbers of one sample's view come from.
struct AugmentAddress {
  std::uint64_t seed = 1;
  std::int64_t sample = 0, step = 0;
  int view = 0;
};

/// A changed copy of the numbers of `field`, of augmented_shape(). `deviation`: of each channel, the unit of noise.
std::vector<float> augmented(std::span<const float> field, const FieldShape& shape, const AugmentKeys& keys,
                             std::span<const double> deviation, const AugmentAddress& address);

}  // namespace cambium::pretrain
