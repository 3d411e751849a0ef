#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"

namespace cambium::submatrix {

class DftbParameters;

/// All atoms in the order of their ids, the same on every rank. Bohr.
struct DftbAtoms {
  std::vector<std::int64_t> tag;
  std::vector<int> type;
  std::vector<double> x;  ///< 3 for each; an isolated molecule is unwrapped
  bool periodic = true;
  std::array<std::array<double, 3>, 3> cell{};  ///< rows are cell vectors
  double volume = 0.0;
  double empty = 0.0;  ///< Å: of a periodic cell, the longest empty stretch along the cell vector where it is shortest

  int count() const { return static_cast<int>(type.size()); }
  std::size_t place_of(std::int64_t id) const;
  std::array<double, 3> vector(int a, int b, const std::array<int, 3>& image = {}) const;
};

/// Collective. With `periodic` false the atoms are one molecule, put together across the cell's faces by cutting each
/// direction at its longest empty stretch. InputError where none of 3 Å is empty.
DftbAtoms gather_atoms(const Particles& particles, bool periodic, const Comm& comm);

/// How many images of a cell in each direction hold everything within `distance` (bohr) of an atom.
std::array<int, 3> images_within(const DftbAtoms& atoms, double distance);

/// Atoms within a distance of each other.
struct DftbPairs {
  struct Pair {
    int other;
    std::array<int, 3> image;  ///< cell of the other atom
    std::array<double, 3> d;   ///< from the atom to the other one, bohr
    double r;
  };
  std::vector<std::int64_t> first{0};  ///< of each atom, and the end
  std::vector<Pair> pair;              ///< by atom, then by the other one; both ways, with the atom itself

  DftbPairs() = default;
  DftbPairs(const DftbAtoms& atoms, double cutoff);
};

}  // namespace cambium::submatrix
