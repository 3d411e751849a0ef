#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/factor_layers.hpp"

namespace cambium::train {

/// Weights of a layer in float64, [outputs][inputs][taps].
struct LayerWeights {
  std::int64_t outputs = 0, inputs = 0, taps = 1;
  std::vector<double> values;
};

/// Orthonormal vectors, most important first, that span the outputs (or inputs) of a layer best: eigenvectors of the
/// products of its rows with each other. [rank][outputs or inputs]; zeros behind as many as there are.
std::vector<double> leading_vectors(const LayerWeights& w, bool of_outputs, std::int64_t rank);

/// The nearest product of this rank: for a matrix the truncated singular value decomposition; for a kernel Tucker's
/// with both channel ranks `rank` (no larger than the channels), by three sweeps of orthogonal iteration.
struct Factors {
  std::vector<double> enter;  ///< [rank in][inputs]; empty where inputs stay
  std::vector<double> core;   ///< [rank out][rank in][taps]; of a matrix empty
  std::vector<double> leave;  ///< [outputs][rank out]; empty where outputs stay
};
Factors factors_of(const LayerWeights& w, std::int64_t rank);

/// The weights that these factors multiply to, [outputs][inputs][taps].
LayerWeights multiplied(const Factors& factors, std::int64_t outputs, std::int64_t inputs, std::int64_t taps);

/// Weights of a whole layer, and back into a buffer of a network in which it is whole.
LayerWeights read_layer(const FactorLayer& layer, FlatBuffer& weights);
void write_layer(const LayerWeights& w, const FactorLayer& layer, FlatBuffer& weights);

/// Fills the weights of a network with ranks from those of the same network with whole layers: factors where a layer
/// has a rank, everything else as it is; constants inside of products are zero.
void fill_factors(std::span<const FactorLayer> whole, FlatBuffer& from, std::span<const FactorLayer> layers,
                  FlatBuffer& to);

}  // namespace cambium::train
