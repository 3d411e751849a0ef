#pragma once
#include "plugins/kinetic/fields/maxwell.hpp"
#include "plugins/kinetic/physics/examine.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

/// Electromagnetic plasma: Maxwell's equations with the particles' current.
class VlasovMaxwell : public Vlasov, public Checked {
 public:
  struct FieldParams {
    std::vector<std::string> E, B;
    double light_speed = 1.0, epsilon0 = 1.0, clean_electric = 0.0, clean_magnetic = 0.0;
    enum class Flux { central, upwind } flux = Flux::central;
    static void describe(deck::Describe<FieldParams>& d);
  };
  struct Params : CommonParams {
    FieldParams fields;
    FieldFormulas external;
    std::string background;
    static void describe(deck::Describe<Params>& d);
  };
  VlasovMaxwell(const Params& params, Context& context);
  void examine(Check& check) override { kinetic::examine(*this, common_, check); }

 protected:
  std::string name() const override { return "vlasov_maxwell"; }
};

}  // namespace cambium::kinetic
