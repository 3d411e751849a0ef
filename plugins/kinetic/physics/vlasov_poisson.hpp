#pragma once
#include "plugins/kinetic/physics/examine.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

/// Formulas or words, one per dimension.
struct WallPotentialParams {
  std::vector<std::string> lower, upper;
  static void describe(deck::Describe<WallPotentialParams>& d);
};

/// A series circuit between ground and a wall.
struct WallCircuitParams {
  std::string wall, voltage;
  double resistance = 0.0, inductance = 0.0;
  std::optional<double> capacitance;
  static void describe(deck::Describe<WallCircuitParams>& d);
};

/// Electrostatic plasma: the potential follows the charge at every stage.
class VlasovPoisson : public Vlasov, public Checked {
 public:
  struct Params : CommonParams {
    double epsilon0 = 1.0;
    std::string background;
    std::optional<WallPotentialParams> wall_potential;
    std::vector<WallCircuitParams> circuits;
    FieldFormulas external;
    static void describe(deck::Describe<Params>& d);
  };
  VlasovPoisson(const Params& params, Context& context);
  void examine(Check& check) override { kinetic::examine(*this, common_, check); }
  std::string summary() const override;

 protected:
  std::string name() const override { return "vlasov_poisson"; }

 private:
  std::string walls_;  ///< what they are, in words
};

}  // namespace cambium::kinetic
