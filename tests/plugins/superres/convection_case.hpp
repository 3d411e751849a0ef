#pragma once
// Convection from a deck's text, without files.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/deck/node.hpp"
#include "core/driver/advance.hpp"
#include "plugins/superres/physics/cavity.hpp"
#include "plugins/superres/physics/rayleigh_benard.hpp"
#include "tests/catch.hpp"

namespace cambium::superres::test {

/// A physics of this plugin, its state and its schedule.
template <class P>
class Case {
 public:
  explicit Case(const std::string& deck, MPI_Comm comm = MPI_COMM_SELF, std::uint64_t seed = 1) : comm_(comm) {
    context_.seed = seed;
    physics_ = std::make_unique<P>(deck::read<typename P::Params>(deck::parse(deck, "test")), context_);
    physics_->declare(state_, context_);
    physics_->schedule(schedule_);
    physics_->initialise(state_, context_);
    values_.resize(physics_->observables().size());
  }
  void advance() { cambium::advance(schedule_, *physics_, state_, context_.timing, false); }
  void run_to(double time) {
    while (state_.time < time) advance();
  }
  double measure(int column) {
    physics_->measure(state_, context_, values_);
    return values_[column];
  }
  double time() const { return state_.time; }
  P& physics() { return *physics_; }
  Convection& run() { return physics_->run(); }
  const Flow& flow() { return run().stepper.flow(); }
  const Comm& comm() const { return comm_; }
  State& state() { return state_; }
  Context& context() { return context_; }

 private:
  Comm comm_;
  Log log_;
  Timing timing_;
  Context context_{comm_, log_, timing_};
  std::unique_ptr<P> physics_;
  State state_;
  Schedule schedule_;
  std::vector<double> values_;
};

using Plates = Case<RayleighBenard>;
using Square = Case<Cavity>;

/// Columns of the observables of rayleigh_benard and (0..3) of cavity.
enum { nusselt_low, nusselt_high, nusselt_volume, kinetic, dissipation, thermal_dissipation, divergence };

/// Advances until the column changes by less than `tolerance` (relative) in a free-fall time, and returns it.
template <class C>
double steady_value(C& run, int column, double tolerance, double latest) {
  double before = run.measure(column);
  while (run.time() < latest) {
    run.run_to(run.time() + 1.0);
    const double now = run.measure(column);
    if (std::fabs(now - before) < tolerance * std::fabs(now)) return now;
    before = now;
  }
  FAIL("not steady at t = " << run.time());
  return before;
}

}  // namespace cambium::superres::test
