#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/reduce/mesh.hpp"
#include "core/train/weights/divided/coded_exchange.hpp"

namespace cambium::train {

/// Keys of sharding over ranks.
struct ParallelParams {
  struct Level {
    std::string name;
    std::optional<int> size;
    std::optional<lowp::WireCodec> codec;  ///< of gradients; default: that of `reduce`
    static void describe(deck::Describe<Level>& d);
  };
  /// ddp: no sharding; zero1, zero2, zero3: Rajbhandari et al. 2020 (states; and gradients; and weights); hybrid: all
  /// within the first level; hpz: weights within the first level, the rest over all (Wang et al. 2023); frontier:
  /// weights, gradients and states over the first, second and third level (Xu et al. 2025).
  enum class Preset { ddp, zero1, zero2, zero3, hybrid, hpz, frontier };
  std::optional<Preset> preset;
  std::vector<Level> levels;               ///< the innermost first; none: one level, "world"
  std::string weights, gradients, states;  ///< level up to which each is sharded, "" for replicated
  WeightCodec update = WeightCodec::none, gather = WeightCodec::none;
  bool prefetch = true;
  std::int64_t whole_below = 1000;
  double limit = 0.0;
  static void describe(deck::Describe<ParallelParams>& d);
};

std::string name_of(ParallelParams::Preset preset);

/// The same resolved for a number of ranks: number of levels over which each is sharded.
struct Partition {
  std::vector<Mesh::Level> levels;
  int weights = 0, gradients = 0, states = 0;
  std::int64_t whole_below = 1000;  ///< elements; the weights of smaller tensors are always replicated
  std::int64_t limit = 0;           ///< bytes per rank; 0 for none
  bool prefetch = true;             ///< the next module's weights are gathered while one computes
  Codecs codecs;
};

/// InputError if the levels do not match the number of ranks, a preset needs other levels, or weights would be sharded
/// over more levels than gradients, or gradients over more than states. `gradients`: codec of levels without one.
Partition partition_of(const ParallelParams& params, int ranks, lowp::WireCodec gradients = lowp::WireCodec::none);

}  // namespace cambium::train
