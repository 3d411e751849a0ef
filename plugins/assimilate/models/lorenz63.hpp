#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/forecast_model.hpp"

namespace cambium::assimilate {

/// Lorenz's three convection modes, dx/dt = sigma (y - x), dy/dt = x (rho - z) - y, dz/dt = x y - beta z (E. N. Lorenz,
/// J. Atmos. Sci. 20, 130 (1963)). Fields "x", "y" and "z", each one value at the same grid point.
class Lorenz63 : public ForecastModel {
 public:
  struct Params {
    double sigma = 10.0, rho = 28.0, beta = 8.0 / 3.0, timestep = 0.01;
    static void describe(deck::Describe<Params>& d);
  };
  Lorenz63(const Params& params, Context&);
  const StateSpace& space() const override { return space_; }
  std::vector<double> first_state(std::uint64_t seed, std::uint64_t id) override;
  void advance(std::span<double> state, double from, double to) override;
  FieldRecord read(const std::string& path) const override;
  double seconds_per_time() const override { return 5e-8 / params_.timestep; }
  std::string summary() const override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  StateSpace space_;
};

}  // namespace cambium::assimilate
