#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel/kokkos.hpp"
#include "core/particles/box.hpp"

namespace cambium {

struct Species {
  std::string symbol;  ///< as in the deck and in model files, e.g. "Cu"
  double mass = 0.0;   ///< g/mol
};

/// Particles of one rank. Rows 0..nlocal-1 are owned, nlocal..nlocal+nghost-1 are ghosts (copies of other ranks' atoms
/// or of periodic images, positions shifted so that plain differences are distances), and row nlocal+nghost is a
/// sentinel far away on which the padding of neighbour rows points.
/// A position row is (x, y, z, type): 32 bytes, one vector load.
struct Particles {
  int nlocal = 0;
  int nghost = 0;
  std::int64_t nglobal = 0;
  Box box;
  std::vector<Species> species;  ///< indexed by type

  View<double* [4]> x;         ///< Å, and the type as a number; capacity() rows
  View<double* [3]> v;         ///< Å/ps, owned rows
  View<double* [3]> f;         ///< eV/Å, owned and ghost rows
  View<std::int64_t*> tag;     ///< 1-based global id, owned and ghost rows
  View<int* [3]> image;        ///< cell crossings, owned rows: unwrapped = x + image . h
  View<std::uint32_t*> group;  ///< bit mask of the groups of the deck, owned rows

  int total() const { return nlocal + nghost; }
  int sentinel() const { return nlocal + nghost; }
  int capacity() const { return static_cast<int>(x.extent(0)); }

  /// Grows every array to hold `rows` particles and the sentinel, keeping the owned rows; never shrinks.
  void reserve(int rows);
  /// Writes the sentinel row (type 0, 1e15 Å away). Call after nlocal or nghost changed.
  void place_sentinel();
  int type_of(const std::string& symbol) const;  ///< -1 when unknown
};

}  // namespace cambium
