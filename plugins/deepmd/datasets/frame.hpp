#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/particles/box.hpp"
#include "core/particles/given_axes.hpp"

namespace cambium::deepmd {

/// One labelled configuration with its neighbours: everything that stays constant while a model is trained. Units Å,
/// eV.
struct TrainingFrame {
  std::vector<int> type;       ///< model type by atom
  std::vector<int> first;      ///< pairs of atom i are first[i] .. first[i + 1]; sorted by the neighbour's type,
                               ///< then by distance
  std::vector<int> neighbour;  ///< atom index of each pair's neighbour (an image stands for its atom)
  std::vector<double> d;       ///< r_j - r_i, three values per pair, |d| < cut-off
  double energy = 0.0;         ///< eV
  std::vector<double> force;   ///< eV/Å, three per atom; empty when unlabelled
  std::vector<double> virial;  ///< eV, nine values as in ForceOutput; empty when unlabelled
  std::vector<double> fparam, aparam;  ///< frame parameters; atomic parameters, atom by atom; empty when there are none
  bool has_energy = false;
  GivenAxes axes;  ///< of the data; a mean of absolute errors depends on them

  int atoms() const { return static_cast<int>(type.size()); }
  int pairs() const { return static_cast<int>(neighbour.size()); }
  std::size_t bytes() const;
};

/// Finds all pairs closer than `rcut`, periodic images included; without a cell nothing is periodic. Labels stay empty.
TrainingFrame find_pairs(std::span<const std::array<double, 3>> x, std::span<const int> types,
                         const std::optional<Box>& box, int ntypes, double rcut);

}  // namespace cambium::deepmd
