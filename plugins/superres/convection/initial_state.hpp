#pragma once
#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/superres/convection/flow.hpp"

namespace cambium::superres {

/// How a convection run begins; the velocity is zero.
struct InitialState {
  enum class Profile { conductive, uniform };
  Profile profile = Profile::conductive;
  double noise = 1e-3;
  double amplitude = 0.0;
  int wavelengths = 1;
  static void describe(deck::Describe<InitialState>& d);
};

/// b = profile + noise N(0,1) z (1 - z) + amplitude sin(pi z) cos(2 pi wavelengths x / lx); normal deviates belong to cells,
/// so they do not depend on the ranks.
void set_initial_state(const InitialState& initial, Flow& flow, std::uint64_t seed);

}  // namespace cambium::superres
