#pragma once
// Convection from a deck's text, without files.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "plugins/superres/physics/cavity.hpp"
#include "plugins/superres/physics/rayleigh_benard.hpp"
#include "tests/physics_case.hpp"

namespace cambium::superres::test {

/// A copy that the host reads.
template <class V>
auto on_host(const V& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// A physics of this plugin, advanced to a time.
template <class P>
class Case : public cambium::test::PhysicsCase<P> {
 public:
  explicit Case(const std::string& deck, MPI_Comm comm = MPI_COMM_SELF, std::uint64_t seed = 1)
      : cambium::test::PhysicsCase<P>(deck, comm, true, seed) {}
  void run_to(double time) {
    while (this->time() < time) this->advance();
  }
  double time() const { return this->state().time; }
  Convection& run() { return this->physics().run(); }
  const Flow& flow() { return run().stepper.flow(); }
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
