#pragma once
#include <array>

#include "core/deck/describe.hpp"
#include "plugins/pretrain/archive/simulations.hpp"

namespace cambium::pretrain {

/// Synthetic fields: drifting rolls between plates, psi = sin(pi z) sum_k A_k cos(2 pi k (x - c t) + phase_k) with A_k
/// ~ k^-slope; u = -d psi/dz, w = d psi/dx, b = 1/2 - z + psi. Parameters: drift c and slope. Phases, and thus the
/// fields, differ between runs and seeds.
struct MadeUpFields {
  std::int64_t simulations = 12, moments = 10;
  std::array<std::int64_t, 2> cells{32, 16};
  double noise = 0.0;
  std::int64_t seed = 1;
  static void describe(deck::Describe<MadeUpFields>& d);
};

Archive make_fields(const MadeUpFields& keys);

}  // namespace cambium::pretrain
