#pragma once
// A few steps of molecular dynamics on all ranks together and on each rank alone.
#include <algorithm>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/plugins/md/md_run.hpp"

namespace cambium::test {

/// Positions and forces of all atoms by tag, on every rank of the run.
inline std::vector<double> by_tag(MdRun& run, Comm& comm) {
  const Particles& p = run.state().particles;
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.f);
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.tag);
  std::vector<double> out(static_cast<std::size_t>(p.nglobal) * 6, 0.0);
  for (int i = 0; i < p.nlocal; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t row = static_cast<std::size_t>(tag(i) - 1) * 6;
      out[row + k] = x(i, k);
      out[row + 3 + k] = f(i, k);
    }
  comm.sum(out);
  return out;
}

/// Energies, pressures, positions and forces after `steps` steps agree. `tolerance` in Å and eV/Å; for the energy
/// relative where it is above 1 eV; `pressure_tolerance` is relative.
inline void check_ranks(const std::string& deck, int steps, double tolerance, double pressure_tolerance = 1e-9) {
  Comm comm, lone(MPI_COMM_SELF);
  MdRun together(deck), alone(deck, 1, MPI_COMM_SELF);
  together.advance(steps);
  alone.advance(steps);
  const auto a = together.measure(), b = alone.measure();
  CHECK(a[potential] == Approx(b[potential]).epsilon(0).margin(tolerance * std::max(1.0, std::abs(b[potential]))));
  CHECK(a[pressure] == Approx(b[pressure]).epsilon(pressure_tolerance).margin(1e-4));
  const auto mine = by_tag(together, comm), all = by_tag(alone, lone);
  double worst = 0.0;
  for (std::size_t k = 0; k < all.size(); ++k) worst = std::max(worst, std::abs(mine[k] - all[k]));
  INFO("worst difference " << worst);
  CHECK(worst < tolerance);
}

}  // namespace cambium::test
