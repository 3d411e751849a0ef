#pragma once
#include "plugins/kinetic/physics/examine.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

/// Neutral gas: streaming and collisions, no fields. With many collisions it follows the Euler equations of a gas with
/// gamma = (vdim + 2) / vdim.
class BoltzmannBgk : public Vlasov, public Checked {
 public:
  struct Params : CommonParams {
    static void describe(deck::Describe<Params>& d);
  };
  BoltzmannBgk(const Params& params, Context& context);
  void examine(Check& check) override { kinetic::examine(*this, common_, check); }

 protected:
  std::string name() const override { return "boltzmann_bgk"; }
};

}  // namespace cambium::kinetic
