#pragma once
#include <chrono>

#include "core/codec/fields/enhancer.hpp"

namespace cambium::lowp {

/// A stage of networks with one hidden layer, one for each group of `like`: fitted to what is missing by Adam (Kingma
/// and Ba, ICLR 2015) on batches of 64 values until `end`, the step falling to nothing. Written for one thread in
/// single precision; batches and first weights are functions of their numbers, so that only the time differs between
/// runs.
template <class T>
EnhancerStage fit_hidden_stage(std::span<const T> original, const Correction<T>& correction, const FieldShape& shape,
                               const EnhancerStage& like, std::chrono::steady_clock::time_point end);

}  // namespace cambium::lowp
