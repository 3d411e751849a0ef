#include "plugins/kinetic/physics/boltzmann_bgk.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"

namespace cambium::kinetic {

void BoltzmannBgk::Params::describe(deck::Describe<Params>& d) { describe_common(d); }

BoltzmannBgk::BoltzmannBgk(const Params& params, Context& context) : Vlasov(params, context) {
  if (!params.collisions.empty()) return;
  for (const auto& s : params.species)
    if (!s.collisions)
      throw KeyError(
          "boltzmann_bgk.collisions.missing", key_of(params, s.name),
          fmt::format("species '{}' has no 'collisions'; give their frequency, 0 for free streaming", s.name));
}

}  // namespace cambium::kinetic
