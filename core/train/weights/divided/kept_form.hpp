#pragma once
#include <memory>
#include <string_view>

#include "core/train/weights/divided/level_exchange.hpp"
#include "core/train/weights/packed_weights.hpp"

namespace cambium::train {

/// Storage format of weights between their uses: in the network's precision, as the upper halves of split weights
/// (bfloat16), or on low-bit grids.
struct KeptForm {
  DType real, kept;                       ///< of the network; of stored weights and gradients
  std::unique_ptr<PackedWeights> packed;  ///< for direct weights

  /// True if weights can be used in place.
  bool plain() const { return kept == real && !packed; }
  /// Bytes of these elements of the layout.
  std::int64_t bytes(Interval part) const;
  /// Converts from the storage format to the network's precision.
  void to_real(const std::byte* from, Interval part, std::byte* to) const;
  /// Converts to the storage format: upper halves for bfloat16, exact for split weights; on grids the nearest values,
  /// exact for values on the grid.
  void to_kept(const std::byte* from, Interval part, std::byte* to) const;
  /// Copies a part to its position within the group.
  void put(const std::byte* mine, Interval part, Interval whole, std::byte* together) const;
  /// Like gather_levels(), for any storage format; and the same while the caller computes.
  void gather(std::byte* values, Interval whole, int from, int to, const Wires& wires, std::string_view what) const;
  void start_gather(LevelGather& gather, std::byte* values, Interval whole, int from, const Wires& wires,
                    std::string_view what) const;
};

}  // namespace cambium::train
