#pragma once
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

/// Electrostatic plasma: the potential follows the charge at every stage.
class VlasovPoisson : public Vlasov {
 public:
  struct Params : CommonParams {
    double epsilon0 = 1.0;
    std::string background;
    FieldFormulas external;
    static void describe(deck::Describe<Params>& d);
  };
  VlasovPoisson(const Params& params, Context& context);

 protected:
  std::string name() const override { return "vlasov_poisson"; }
};

}  // namespace cambium::kinetic
