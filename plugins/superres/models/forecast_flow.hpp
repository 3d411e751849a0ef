#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/forecast_model.hpp"
#include "plugins/superres/convection/convection.hpp"
#include "plugins/superres/equations/stated_flow.hpp"

namespace cambium::superres {

/// Keys of convection as a forecast model.
struct ForecastKeys {
  double rayleigh = 0.0;
  std::optional<double> prandtl;  ///< default: that of the data, or 1
  std::array<int, 2> cells{};
  double stretching = 0.0, courant = 1.0, max_timestep = 0.05, noise = 0.1;
  /// The same keys in the type of a physics, without those of its end.
  template <class P>
  P as() const {
    P out;
    out.rayleigh = rayleigh;
    out.prandtl = prandtl.value_or(1.0);
    out.cells.assign(cells.begin(), cells.end());
    out.stretching = stretching;
    return out;
  }
};

/// Declares those keys for a Params that derives from them.
template <class P>
void describe_forecast(deck::Describe<P>& d) {
  d("rayleigh", &ForecastKeys::rayleigh, "Rayleigh number g alpha dT H^3 / (nu kappa)").positive();
  d("prandtl", &ForecastKeys::prandtl, "Prandtl number nu / kappa; default: that of 'data', or 1").positive();
  d("cells", &ForecastKeys::cells, "cells along x and z").example("[128, 48]");
  d("stretching", &ForecastKeys::stretching,
    "s of the faces z = 1/2 (1 + tanh(s (2 k/n - 1)) / tanh s); 0: all rows of one height")
      .non_negative()
      .def(1.2);
  d("cfl", &ForecastKeys::courant, "largest (|u|/dx + |w|/dz) dt").formerly("courant").positive().at_most(1.7).def(1.0);
  d("max_timestep", &ForecastKeys::max_timestep, "longest time step, free-fall times").positive().def(0.05);
  d("noise", &ForecastKeys::noise, "standard deviation of the noise in b, over z (1 - z), from which a spin-up begins")
      .positive()
      .def(0.1);
  d.check([](const P& p) { return p.cells[0] < 4 || p.cells[1] < 4 ? "'cells' must be at least [4, 4]" : ""; });
  d.check(
      [](const P& p) { return p.cells[0] % 2 ? "the first of 'cells' must be even, for the transforms along x" : ""; });
}

/// The solver of convection on one rank as a function of states (u, w, b, p on the staggered grid).
class ForecastFlow {
 public:
  ForecastFlow(const ForecastKeys& keys, const Grid& grid, const Fluid& fluid);

  const StateSpace& space() const { return space_; }
  std::vector<double> first_state(std::uint64_t seed);
  void advance(std::span<double> state, double from, double to);
  /// Projects a state to div u = 0.
  void project(std::span<double> state);
  FieldRecord read(const std::string& path) const;
  double seconds_per_time() const;
  std::string summary() const;

 private:
  void load(std::span<const double> state);
  void store(std::span<double> state);

  ForecastKeys keys_;
  Comm comm_;
  Stepper stepper_;  ///< workspace: no state is kept between calls
  StateSpace space_;
};

/// A ForecastModel around ForecastFlow. `Setup` names Params (ForecastKeys and more), grid(params), fluid(params) and
/// name().
template <class Setup>
class ConvectionForecast : public ForecastModel {
 public:
  using Params = typename Setup::Params;
  ConvectionForecast(const Params& params, Context&) : params_(params) { make(); }
  void take_from(const std::string& path) override {
    if (params_.prandtl) return;
    params_.prandtl = StatedFlow::of(path).prandtl;
    make();
  }
  const StateSpace& space() const override { return flow_->space(); }
  std::vector<double> first_state(std::uint64_t seed, std::uint64_t id) override {
    return flow_->first_state(seed + 7919 * id);
  }
  void advance(std::span<double> state, double from, double to) override { flow_->advance(state, from, to); }
  void restore_balance(std::span<double> state) override { flow_->project(state); }
  FieldRecord read(const std::string& path) const override { return flow_->read(path); }
  double seconds_per_time() const override { return flow_->seconds_per_time(); }
  std::string summary() const override { return Setup::name() + (": " + flow_->summary()); }

 private:
  void make() { flow_ = std::make_unique<ForecastFlow>(params_, Setup::grid(params_), Setup::fluid(params_)); }

  Params params_;
  std::unique_ptr<ForecastFlow> flow_;
};

}  // namespace cambium::superres
