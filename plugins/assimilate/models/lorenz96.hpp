#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/forecast_model.hpp"

namespace cambium::assimilate {

/// Lorenz's model of a quantity on a circle of latitude, dx_i/dt = (x_(i+1) - x_(i-2)) x_(i-1) - x_i + F (E. N. Lorenz
/// and K. A. Emanuel, J. Atmos. Sci. 55, 399 (1998)). Chaotic at 40 variables and F = 8. One field, "x".
class Lorenz96 : public ForecastModel {
 public:
  struct Params {
    std::int64_t variables = 40;
    double forcing = 8.0, timestep = 0.05;
    static void describe(deck::Describe<Params>& d);
  };
  Lorenz96(const Params& params, Context&);
  const StateSpace& space() const override { return space_; }
  std::vector<double> first_state(std::uint64_t seed, std::uint64_t id) override;
  void advance(std::span<double> state, double from, double to) override;
  FieldRecord read(const std::string& path) const override;
  double seconds_per_time() const override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  StateSpace space_;
};

}  // namespace cambium::assimilate
