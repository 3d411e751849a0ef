#pragma once
#include "plugins/superres/models/forecast_flow.hpp"
#include "plugins/superres/physics/cavity.hpp"

namespace cambium::superres {

/// The square of the physics `cavity` as a forecast model.
struct CavityForecastSetup {
  struct Params : ForecastKeys {
    static void describe(deck::Describe<Params>& d) { describe_forecast(d); }
  };
  static Grid grid(const Params& params) { return CavitySetup(params.as<CavitySetup::Params>()).grid(); }
  static Fluid fluid(const Params& params) { return CavitySetup(params.as<CavitySetup::Params>()).fluid(); }
  static std::string name() { return "cavity"; }
};

using CavityForecast = ConvectionForecast<CavityForecastSetup>;

}  // namespace cambium::superres
