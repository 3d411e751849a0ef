#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// Atoms from a lattice or a file: this rank's part, distributed without regard to position (Domain::migrate sends them
/// to their owners). Plain host data.
struct Structure {
  Box box;
  GivenAxes axes;                ///< in which the source gives the cell and everything else
  std::vector<Species> species;  ///< by type; mass 0 if the source gives none
  std::int64_t nglobal = 0;
  std::vector<std::int64_t> tag;  ///< 1-based
  std::vector<int> type;
  std::vector<std::array<double, 3>> x;   ///< Å
  std::vector<std::array<double, 3>> v;   ///< Å/ps; empty when the source has no velocities
  std::vector<std::array<int, 3>> image;  ///< cell crossings; empty when the source has none
  /// Notes of the reader of a file, for the log: how something was interpreted, and possible errors. On rank 0.
  std::vector<std::string> remarks, warnings;

  bool has_velocities() const { return !v.empty(); }
};

/// The half-open range of `total` items assigned to a rank when they are distributed evenly in order.
inline std::array<std::int64_t, 2> even_share(std::int64_t total, int rank, int ranks) {
  return {total * rank / ranks, total * (rank + 1) / ranks};
}

/// Distributes the content of rank 0 evenly to all ranks, in order; that of the others is replaced. Collective.
void scatter(const Comm& comm, Structure& structure);

/// Temperature (K) of the velocities of all particles, three degrees of freedom each, with the structure's masses or
/// the elements' standard ones; 0 without velocities, and if a mass is unknown.
double temperature_of(const Structure& structure);

/// A sentence for each element whose mass is nearer to that of another one: of these species, or within a hundredth of
/// any other element's if it differs from its own by more than a tenth. A wrong order of names has this effect.
std::vector<std::string> doubtful_masses(std::span<const Species> species);

/// Particles of this rank. `declared` fixes the order of types and, if positive, the masses; empty: the structure's own
/// order. A missing mass is the element's standard one. Throws InputError for a species that is not declared, and for
/// one without mass that is not an element.
Particles particles_of(const Structure& structure, std::span<const Species> declared = {});

}  // namespace cambium
