#pragma once
#include "core/deck/describe.hpp"

namespace cambium::train {

/// Treatment of activations between the forward and the backward pass.
struct ActivationParams {
  enum class Keep { whole, compressed, recomputed };
  Keep keep = Keep::compressed;
  double share = 0.01;  ///< of the mean gradient that its error may have
  double bound = 0.0;   ///< absolute; 0: chosen by share
  static void describe(deck::Describe<ActivationParams>& d);
};

}  // namespace cambium::train
