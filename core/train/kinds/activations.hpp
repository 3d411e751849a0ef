#pragma once
#include "core/deck/describe.hpp"

namespace cambium::train {

/// Treatment of activations between the forward and the backward pass.
struct ActivationParams {
  enum class Keep { whole, compressed, recomputed };
  Keep keep = Keep::compressed;
  double share = 0.01;  ///< allowed error, as a fraction of the mean gradient
  double bound = 0.0;   ///< absolute error bound; 0: derived from share
  static void describe(deck::Describe<ActivationParams>& d);
};

}  // namespace cambium::train
