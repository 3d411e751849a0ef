#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Outputs of a network for some samples: for each output, the values of the samples concatenated.
std::vector<std::vector<double>> inferred(Network& network, std::span<const SamplePtr> samples,
                                          std::span<const TensorRef> weights);

/// Number of values of an output per sample.
std::int64_t numbers_of(const FieldInfo& output);

}  // namespace cambium::train
