#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/network.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Trainable tensors of a model of this shape: w or its factors and, where present, b and idt of every layer;
/// embeddings first. The rows of a fitting network's first w are in the order [axis][channel] of our descriptor, not
/// [channel][axis] as in model files.
std::vector<train::ParameterInfo> parameters_of(const DeepPotentialModel& model);

/// First parameter of every network (embeddings, then fittings), with the total number as the last entry.
std::vector<int> first_parameters(const DeepPotentialModel& model);

/// Copies the model's own weights into the training layer's tensors, and back. T is double or float.
template <class T>
void copy_weights(const DeepPotentialModel& model, std::span<const TensorRef> weights);
template <class T>
void store_weights(std::span<const TensorRef> weights, DeepPotentialModel& model);

}  // namespace cambium::deepmd
