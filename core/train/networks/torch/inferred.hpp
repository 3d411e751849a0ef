#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Outputs of a network for some samples: of each output, the numbers of the samples one after the other.
std::vector<std::vector<double>> inferred(Network& network, std::span<const SamplePtr> samples,
                                          std::span<const TensorRef> weights);

/// Numbers of an output for a sample.
std::int64_t numbers_of(const FieldInfo& output);

}  // namespace cambium::train
