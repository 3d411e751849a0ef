#include "plugins/kinetic/physics/vlasov_poisson.hpp"

#include "plugins/kinetic/fields/poisson.hpp"

namespace cambium::kinetic {

void VlasovPoisson::Params::describe(deck::Describe<Params>& d) {
  describe_common(d);
  d("epsilon0", &Params::epsilon0, "permittivity of free space").positive().def(1.0);
  d("background", &Params::background,
    "charge density of what does not move (formula in x, y); a periodic domain is neutral in the mean without it").def("");
  d("external", &Params::external, "fields that act beside those of the particles");
}

VlasovPoisson::VlasovPoisson(const Params& params, Context& context) : Vlasov(params, context) {
  epsilon0_ = params.epsilon0;
  set_background(params.background);
  set_fields(std::make_unique<Poisson>(conf(), params.epsilon0));
  set_external(ExternalField(conf(), params.external, params.values()));
}

}  // namespace cambium::kinetic
