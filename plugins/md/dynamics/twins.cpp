#include "plugins/md/dynamics/twins.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"

namespace cambium::md {

constexpr double same_place = 1e-12;  // Å^2
constexpr double no_bond = 0.25;      // Å^2; the shortest bond, that of H2, is 0.74 Å

/// First owned atom with a listed neighbour within a distance whose square is `within`; nlocal if there is none.
static int first_twin(const Particles& particles, const NeighborList& list, double within) {
  const auto x = particles.x;
  const auto offset = list.offset;
  const auto count = list.count, index = list.index;
  int first = particles.nlocal;
  Kokkos::parallel_reduce(
      "md::twins", Range(0, particles.nlocal),
      KOKKOS_LAMBDA(int i, int& least) {
        for (int k = 0; k < count(i); ++k) {
          const int j = index(offset(i) + k);
          double r2 = 0.0;
          for (int d = 0; d < 3; ++d) r2 += (x(i, d) - x(j, d)) * (x(i, d) - x(j, d));
          if (r2 < within && i < least) least = i;
        }
      },
      Kokkos::Min<int>(first));
  return first < particles.nlocal ? first : particles.nlocal;  // an empty min reduction yields the largest value
}

std::string twin_text(int i, const Particles& particles, const NeighborList& list, const GivenAxes& axes,
                      std::int64_t step) {
  const auto host = [](const auto& view) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view); };
  const auto x = host(particles.x);
  const auto tag = host(particles.tag);
  const auto offset = host(list.offset);
  const auto count = host(list.count), index = host(list.index);
  for (int k = 0; k < count(i); ++k) {
    const int j = index(offset(i) + k);
    double r2 = 0.0;
    for (int d = 0; d < 3; ++d) r2 += (x(i, d) - x(j, d)) * (x(i, d) - x(j, d));
    if (!(r2 < same_place)) continue;
    const double here[3] = {x(i, 0), x(i, 1), x(i, 2)};
    const auto at = axes.vector(here);
    const auto symbol = [&](int row) { return particles.species[x(row, 3)].symbol; };
    return fmt::format(
        "step {}: atoms {} ({}) and {} ({}) are at the same position, {:.6g} {:.6g} {:.6g} Å, where the force between "
        "them is not defined; remove one of them, or move them apart",
        step, tag(i), symbol(i), tag(j), symbol(j), at[0], at[1], at[2]);
  }
  return {};
}

void refuse_twins(const Particles& particles, const NeighborList& list, const GivenAxes& axes, std::int64_t step,
                  const Comm& comm) {
  const int first = first_twin(particles, list, same_place);
  const bool here = first < particles.nlocal;
  const int lowest = comm.size() - comm.max(here ? comm.size() - comm.rank() : 0);
  if (lowest == comm.size()) return;
  std::string text = here ? twin_text(first, particles, list, axes, step) : std::string();
  comm.broadcast(text, lowest);
  throw NumericalError(text);
}

/// Message about atom i (a row), which has a listed neighbour that close.
static std::string close_text(int i, const Particles& particles, const NeighborList& list) {
  const auto host = [](const auto& view) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view); };
  const auto x = host(particles.x);
  const auto tag = host(particles.tag);
  const auto offset = host(list.offset);
  const auto count = host(list.count), index = host(list.index);
  const auto symbol = [&](int row) { return particles.species[x(row, 3)].symbol; };
  for (int k = 0; k < count(i); ++k) {
    const int j = index(offset(i) + k);
    double r2 = 0.0;
    for (int d = 0; d < 3; ++d) r2 += (x(i, d) - x(j, d)) * (x(i, d) - x(j, d));
    if (r2 < no_bond)
      return fmt::format(
          "atoms {} ({}) and {} ({}) are {:.3g} Å apart, less than any bond; check the lengths of the structure, which "
          "are in Å where no unit is given (a lattice constant of 0.5 nm is 5), or minimise it first",
          tag(i), symbol(i), tag(j), symbol(j), std::sqrt(r2));
  }
  return {};
}

std::string close_pair(const Particles& particles, const NeighborList& list, const Comm& comm) {
  const int first = first_twin(particles, list, no_bond);
  const bool here = first < particles.nlocal;
  const int lowest = comm.size() - comm.max(here ? comm.size() - comm.rank() : 0);
  if (lowest == comm.size()) return {};
  std::string text = here ? close_text(first, particles, list) : std::string();
  comm.broadcast(text, lowest);
  return text;
}

}  // namespace cambium::md
