#pragma once
#include "plugins/superres/models/forecast_flow.hpp"
#include "plugins/superres/physics/rayleigh_benard.hpp"

namespace cambium::superres {

/// The layer of the physics `rayleigh_benard` as a forecast model.
struct PlatesForecast {
  struct Params : ForecastKeys {
    double width = 2.0;
    Wall plates = Wall::no_slip;
    static void describe(deck::Describe<Params>& d) {
      describe_forecast(d);
      d("aspect_ratio", &Params::width, "period along x over the height of the layer")
          .formerly("width")
          .positive()
          .def(2.0);
      d("plates", &Params::plates, "velocity on the plates")
          .options({{"no_slip", Wall::no_slip}, {"free_slip", Wall::free_slip}})
          .def(Wall::no_slip);
    }
  };
  static PlatesSetup setup(const Params& params) {
    auto keys = params.as<PlatesSetup::Params>();
    keys.width = params.width;
    keys.plates = params.plates;
    return PlatesSetup(keys);
  }
  static Grid grid(const Params& params) { return setup(params).grid(); }
  static Fluid fluid(const Params& params) { return setup(params).fluid(); }
  static std::string name() { return "rayleigh_benard"; }
};

using RayleighBenardForecast = ConvectionForecast<PlatesForecast>;

}  // namespace cambium::superres
