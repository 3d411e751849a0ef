#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/superres/convection/flow.hpp"

namespace cambium::superres {

/// Initial state of a convection run: at rest, or from fields written by another run (or a surrogate).
struct InitialState {
  enum class Profile { conductive, uniform };
  Profile profile = Profile::conductive;
  double noise = 1e-3;
  double amplitude = 0.0;
  int wavelengths = 1, wavelengths_y = 0;
  std::optional<std::int64_t> seed;
  std::optional<std::string> file;
  static void describe(deck::Describe<InitialState>& d);
};

/// From a file: p, b, u and w of its last frame, by cubic interpolation to the positions of the staggered grid; the
/// caller makes the velocity divergence-free. In three dimensions also v; a two-dimensional file is used for all y,
/// with the noise below. Otherwise b = profile + noise N(0,1) z (1 - z) + amplitude sin(pi z) cos(2 pi (wavelengths x /
/// lx + wavelengths_y y / ly)), the latter in three dimensions; normal deviates are addressed by cell, so they do not
/// depend on the ranks. Further scalars begin linear from wall to wall, and as zero with fields from a file. InputError
/// when the file does not fit.
void set_initial_state(const InitialState& initial, Flow& flow, std::uint64_t seed);

}  // namespace cambium::superres
