#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/numerics/real_fft.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/kinetic/physics/closure.hpp"
#include "plugins/kinetic/physics/end_time.hpp"
#include "plugins/kinetic/physics/growth.hpp"

namespace cambium::kinetic {

/// Electrons as a fluid of three moments on a periodic line with a neutralising background,
///   dn/dt + d(nu)/dx = 0,   du/dt + u du/dx = -(1/n) dp/dx - E,   dp/dt + u dp/dx + 3 p du/dx + dq/dx = 0,   dE/dx =
///   <n> - n,
/// exact but for the heat flux q, which the closure gives. Derivatives are spectral, without the upper third of the
/// waves; classical fourth-order Runge-Kutta. Charge -1, mass 1, epsilon0 = 1. The computation is replicated on every
/// rank.
class MomentFluid : public Physics, public Checked {
 public:
  struct Params {
    std::map<std::string, std::string> parameters;
    std::string length, density = "1", velocity = "0", pressure;
    int points = 32;
    ClosureParams closure;
    double timestep = 0.05;
    std::optional<double> end_time;
    std::optional<GrowthParams> growth_rate;
    static void describe(deck::Describe<Params>& d);
  };
  MomentFluid(const Params& params, Context& context);

  void examine(Check&) override;
  void declare(State&, Context&) override;
  void initialise(State&, Context&) override;
  void restore(State&, Context&, const io::Group& saved, bool same_ranks) override;
  void save(io::Group&) const override;
  void schedule(Schedule&) override;
  double timestep(const State&) const override;
  std::string time_unit() const override { return "1/omega"; }
  std::vector<Observable> observables() const override;
  void measure(const State&, Context&, std::span<double> values) override;
  bool finished() const override { return EndTime{params_.end_time}.reached(time_); }
  bool ends() const override { return params_.end_time.has_value(); }
  double progress(const State& state) const override { return EndTime{params_.end_time}.progress(state.time); }
  Work work(const State&) const override { return {n_, "point"}; }
  std::vector<Result> results() const override;
  std::vector<std::string> report() const override;
  std::vector<Citation> citations() const override;
  std::string summary() const override;

  const GrowthFit* growth() const { return growth_ ? &*growth_ : nullptr; }

  // Parts of a step, for this class: public since nvcc takes no kernel in a private member.
  /// rate = time derivatives of the rows (n, u, p) of `in`.
  void rates(const View<double**>& in);
  void close();          ///< heat flux of the waves in spectrum_
  void differentiate();  ///< derivatives, field and divergence of the heat flux of the waves
  void step(StepInfo& info);
  double field_energy();

 private:
  void set_units(double n0, double p0);

  Params params_;
  Context& context_;
  int n_, modes_;
  double length_;
  RealFft fft_;
  View<double**> now_, trial_, rate_, sum_;  ///< [n, u, p][point]
  View<double**> values_, spectrum_;         ///< n, u, p, T; their waves (real parts, then imaginary parts)
  View<double**> heat_, slopes_, gradient_;  ///< waves of q; waves and values of n', u', p', E, q'
  View<double*> multiplier_[3];
  ClosureTable table_;
  std::optional<GrowthFit> growth_;
  double n0_ = 0.0, p0_ = 0.0;  ///< means at the start, the units of the closure
  double time_ = 0.0;
};

}  // namespace cambium::kinetic
