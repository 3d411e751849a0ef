#pragma once
#include <memory>
#include <string_view>

#include "core/train/weights/divided/level_exchange.hpp"
#include "core/train/weights/packed_weights.hpp"

namespace cambium::train {

/// How weights lie between their uses: in the network's precision, as the upper halves of split ones (bfloat16), or on
/// grids of few bits.
struct KeptForm {
  DType real, kept;                       ///< of the network; of weights and gradients between their uses
  std::unique_ptr<PackedWeights> packed;  ///< with direct weights

  /// Weights can be used where they lie.
  bool plain() const { return kept == real && !packed; }
  /// For elements of the layout.
  std::int64_t bytes(Interval part) const;
  /// From the kept form to the network's precision.
  void to_real(const std::byte* from, Interval part, std::byte* to) const;
  /// Upper halves where bfloat16 is kept: split weights lose nothing more. On grids the nearest, which those that lie
  /// there are already.
  void to_kept(const std::byte* from, Interval part, std::byte* to) const;
  /// Puts a part where it belongs among all of a group.
  void put(const std::byte* mine, Interval part, Interval whole, std::byte* together) const;
  /// As gather_levels() does, whatever the weights are kept in; and the same while the caller computes.
  void gather(std::byte* values, Interval whole, int from, int to, const Wires& wires, std::string_view what) const;
  void start_gather(LevelGather& gather, std::byte* values, Interval whole, int from, const Wires& wires,
                    std::string_view what) const;
};

}  // namespace cambium::train
