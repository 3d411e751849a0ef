#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"
#include "plugins/submatrix/columns/block_columns.hpp"
#include "plugins/submatrix/columns/edges.hpp"

namespace cambium::submatrix {

/// Tags and positions of all atoms, on every rank, in the order of their block indices (rank by rank).
struct AllAtoms {
  Box box;
  ColumnRanges ranges;
  std::vector<std::int64_t> tag;
  std::vector<double> x;  ///< 3 for each

  AllAtoms(const Particles& particles, const Comm& comm);
  /// Atoms that are already replicated, numbered in their order and distributed evenly.
  AllAtoms(const Box& box, const std::vector<std::array<double, 3>>& positions, const Comm& comm);
  int count() const { return static_cast<int>(tag.size()); }
  /// Shortest vector from a to b over all images; a and b are positions.
  std::array<double, 3> between(const double* a, const double* b) const;
  double distance(const double* a, const double* b) const;
};

/// Which atoms form the submatrix of each own atom, and the covalent bonds of all atoms. Both are kept by tag from one
/// choice to the next, so that reordering atoms changes nothing.
class Regions {
 public:
  using Lists = std::vector<std::vector<int>>;  ///< of own atoms: block indices, ascending

  /// Collective. True if no atom moved by half of `skin` since the last choice and every rank has the same atoms.
  bool hold(const AllAtoms& atoms, double skin, const Comm& comm) const;
  /// Makes bonds of pairs within `length` (Å).
  void connect(const AllAtoms& atoms, double length);
  void keep(const AllAtoms& atoms, const Comm& comm, const Lists& lists);
  /// The lists of the last keep(); only the atom itself for one that was not there.
  Lists lists(const AllAtoms& atoms, const Comm& comm) const;
  BondGraph bonds(const AllAtoms& atoms) const;
  bool empty() const { return x_.empty(); }

  /// All atoms within `distance` of each own atom.
  static Lists within(const AllAtoms& atoms, const Comm& comm, double distance);
  /// `list` and every atom within `hops` bonds of it.
  static std::vector<int> grown(const BondGraph& bonds, std::vector<int> list, int hops);

 private:
  std::unordered_map<std::int64_t, std::array<double, 3>> x_;            ///< of all atoms at the last choice
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> bonded_;   ///< of all atoms
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> members_;  ///< of own atoms
};

}  // namespace cambium::submatrix
