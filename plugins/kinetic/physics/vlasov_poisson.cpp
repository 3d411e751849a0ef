#include "plugins/kinetic/physics/vlasov_poisson.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/poisson.hpp"

namespace cambium::kinetic {

void WallPotentialParams::describe(deck::Describe<WallPotentialParams>& d) {
  for (auto side : {&WallPotentialParams::lower, &WallPotentialParams::upper})
    d(side == &WallPotentialParams::lower ? "lower" : "upper", side,
      "potential of the wall at that end of each dimension (formula); of no use in a periodic one").example("[0, 0]").def({});
}

void VlasovPoisson::Params::describe(deck::Describe<Params>& d) {
  describe_common(d);
  d("epsilon0", &Params::epsilon0, "permittivity of free space").positive().def(1.0);
  d("background", &Params::background,
    "charge density of what does not move (formula in x, y); a periodic domain is neutral in the mean without it").def("");
  d("wall_potential", &Params::wall_potential, "potentials of walls; 0 when absent");
  d("external", &Params::external, "fields that act beside those of the particles");
}

static WallPotential walls_of(const VlasovPoisson::Params& params, int dimensions) {
  WallPotential out;
  if (!params.wall_potential) return out;
  const auto values = params.values();
  for (const auto* side : {&params.wall_potential->lower, &params.wall_potential->upper}) {
    if (!side->empty() && static_cast<int>(side->size()) != dimensions)
      throw InputError(fmt::format("wall_potential: 'lower' and 'upper' need one entry per dimension, {}, or none", dimensions));
    auto& to = side == &params.wall_potential->lower ? out.lower : out.upper;
    for (std::size_t d = 0; d < side->size(); ++d) to[d] = constant((*side)[d], values);
  }
  return out;
}

VlasovPoisson::VlasovPoisson(const Params& params, Context& context) : Vlasov(params, context) {
  epsilon0_ = params.epsilon0;
  set_background(params.background);
  set_fields(std::make_unique<Poisson>(conf(), params.epsilon0, walls_of(params, conf().dimensions)));
  set_external(params.external);
}

}  // namespace cambium::kinetic
