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

/// Orthonormal vectors, most important first, that best span the outputs (or inputs) of a layer: eigenvectors of the
/// Gram matrix of its rows. [rank][outputs or inputs]; zeros after the last available one.
std::vector<double> leading_vectors(const LayerWeights& w, bool of_outputs, std::int64_t rank);

/// Best approximation of this rank: for a matrix the truncated singular value decomposition; for a kernel the Tucker
/// decomposition with both channel ranks `rank` (at most the channels), by three sweeps of orthogonal iteration.
struct Factors {
  std::vector<double> enter;  ///< [rank in][inputs]; empty if the inputs are not reduced
  std::vector<double> core;   ///< [rank out][rank in][taps]; empty for a matrix
  std::vector<double> leave;  ///< [outputs][rank out]; empty if the outputs are not reduced
};
Factors factors_of(const LayerWeights& w, std::int64_t rank);

/// Weights given by the product of these factors, [outputs][inputs][taps].
LayerWeights multiplied(const Factors& factors, std::int64_t outputs, std::int64_t inputs, std::int64_t taps);

/// Reads the weights of an unfactored layer from a buffer of a network, or writes them back.
LayerWeights read_layer(const FactorLayer& layer, FlatBuffer& weights);
void write_layer(const LayerWeights& w, const FactorLayer& layer, FlatBuffer& weights);

/// Fills the weights of a network with ranks from those of the same network without: factors for layers with a rank,
/// everything else unchanged; constants inside products are zero.
void fill_factors(std::span<const FactorLayer> whole, FlatBuffer& from, std::span<const FactorLayer> layers,
                  FlatBuffer& to);

}  // namespace cambium::train
