#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/reduce/mesh.hpp"
#include "core/train/weights/divided/coded_exchange.hpp"

namespace cambium::train {

/// How a model is divided among ranks, as a deck says it.
struct ParallelParams {
  struct Level {
    std::string name;
    std::optional<int> size;
    std::optional<lowp::WireCodec> codec;  ///< of gradients; that of `reduce` when absent
    static void describe(deck::Describe<Level>& d);
  };
  /// ddp divides nothing; zero1, zero2, zero3: Rajbhandari et al. 2020 (states; and gradients; and weights); hybrid:
  /// all within the first level; hpz: weights within the first level, the rest over all (Wang et al. 2023); frontier:
  /// weights, gradients and states over the first, second and third level (Xu et al. 2025).
  enum class Preset { ddp, zero1, zero2, zero3, hybrid, hpz, frontier };
  std::optional<Preset> preset;
  std::vector<Level> levels;               ///< the innermost first; none: one level, "world"
  std::string weights, gradients, states;  ///< level up to which each is divided, "" for whole on every rank
  WeightCodec update = WeightCodec::none, gather = WeightCodec::none;
  bool prefetch = true;
  std::int64_t whole_below = 1000;
  double limit = 0.0;
  static void describe(deck::Describe<ParallelParams>& d);
};

std::string name_of(ParallelParams::Preset preset);

/// The same for a number of ranks: how many of the levels each is divided over.
struct Partition {
  std::vector<Mesh::Level> levels;
  int weights = 0, gradients = 0, states = 0;
  std::int64_t whole_below = 1000;  ///< elements; the weights of smaller tensors are never divided
  std::int64_t limit = 0;           ///< bytes per rank; 0 for none
  bool prefetch = true;             ///< the next module's weights travel while one computes
  Codecs codecs;
};

/// InputError when the levels do not make this number of ranks, a preset needs other levels, or weights would be
/// divided over more of them than gradients, or gradients over more than states. `gradients`: codec of levels that name
/// none.
Partition partition_of(const ParallelParams& params, int ranks, lowp::WireCodec gradients = lowp::WireCodec::none);

}  // namespace cambium::train
