#pragma once
#include <chrono>

#include "core/codec/fields/enhancer.hpp"

namespace cambium::lowp {

/// Stage of networks with one hidden layer, one per group of `like`: fitted to the missing correction by Adam (Kingma
/// and Ba, ICLR 2015) on batches of 64 values until `end`, with the step size decaying to zero. For one thread, in
/// single precision; batches and initial weights are functions of their indices, so runs differ only in the time they
/// get.
template <class T>
EnhancerStage fit_hidden_stage(std::span<const T> original, const Correction<T>& correction, const FieldShape& shape,
                               const EnhancerStage& like, std::chrono::steady_clock::time_point end);

}  // namespace cambium::lowp
