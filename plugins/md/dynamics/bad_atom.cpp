#include "plugins/md/dynamics/bad_atom.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "plugins/md/dynamics/twins.hpp"

namespace cambium::md {

void report_bad_atom(const Particles& particles, const NeighborList& list, const GivenAxes& axes, int rank,
                     std::int64_t step, Unsound what) {
  const bool position = what == Unsound::position;
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.f);
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.tag);
  for (int i = 0; i < particles.nlocal; ++i) {
    bool bad = false;
    for (int k = 0; k < 3; ++k) bad = bad || !std::isfinite(position ? x(i, k) : f(i, k));
    if (!bad) continue;
    const auto symbol = [&](int row) { return particles.species[static_cast<int>(x(row, 3))].symbol; };
    const double here[2][3] = {{x(i, 0), x(i, 1), x(i, 2)}, {f(i, 0), f(i, 1), f(i, 2)}};
    const auto at = axes.vector(here[0]), force = axes.vector(here[1]);
    const std::string twin = position ? std::string() : twin_text(i, particles, list, axes, step);
    if (!twin.empty()) throw NumericalError(twin);
    const auto plain = [](double value) { return std::isnan(value) ? std::abs(value) : value; };  // avoid "-nan"
    throw NumericalError(fmt::format(
        "step {}: the {} of atom {} ({}) on rank {} is not a finite number: position {:.6g} {:.6g} {:.6g} Å, force "
        "{:.6g} {:.6g} {:.6g} eV/Å; use a shorter timestep, minimise first, or check for overlapping atoms",
        step, position ? "position" : "force", tag(i), symbol(i), rank, at[0], at[1], at[2], plain(force[0]),
        plain(force[1]), plain(force[2])));
  }
  throw NumericalError(fmt::format("step {}: an atom moved by more than 1e150 Å on rank {}", step, rank));
}

}  // namespace cambium::md
