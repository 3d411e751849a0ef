#pragma once
#include <array>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Overlap of one dimension of a grid with the cells of another: for each new cell the old cells that it overlaps, and
/// the integrals over the intersection of new mode a times old mode b, in units of the new cell.
class AxisMap {
 public:
  AxisMap(const Axis& from, const Axis& to);

  struct Overlap {
    int from;                                   ///< old cell
    std::array<std::array<double, 3>, 3> mode;  ///< [a][b]
  };
  const std::vector<Overlap>& of(int cell) const { return overlaps_[cell]; }

 private:
  std::vector<std::vector<Overlap>> overlaps_;
};

/// The grid and the modes of a stored distribution function.
struct StoredGrid {
  int cdim = 1, vdim = 1;
  std::vector<Axis> axis;                        ///< of all dimensions, not decomposed
  std::vector<std::vector<int>> exponents;       ///< [mode][dimension]
  std::vector<std::vector<int>> conf_exponents;  ///< of the modes that do not depend on velocity

  explicit StoredGrid(const io::Dataset& set);
  int conf_cells() const;
};

/// Cells of several dimensions at once: adds the L2 projection of old cells to a new cell's coefficients. Exact for
/// what both bases can represent: a finer grid reproduces f, a coarser one conserves all integrals with its modes.
class Regrid {
 public:
  Regrid(std::vector<AxisMap> maps, std::vector<std::vector<int>> from, std::vector<std::vector<int>> to);
  /// `old` gives the coefficients of an old cell, by its indices.
  template <class Old>
  void cell(const int* at, const Old& old, double* out) const;

 private:
  void add(const AxisMap::Overlap* const* overlap, const double* old, double* out) const;
  std::vector<AxisMap> maps_;
  std::vector<std::vector<int>> from_, to_;
  int size_ = 1;  ///< of the tensor that holds both bases
};

/// The distribution function group/name/f of any grid, of the same domain, on the grid of a solver: slot 0 (host copy).
/// The density of every cell of configuration space is conserved: if part of f is outside the new velocity space, the
/// part inside is scaled. Returns the largest fraction that was outside in this rank's cells. Collective over `column`,
/// the ranks with the same cells of configuration space. InputError when domain or dimensions differ.
double read_regridded(const io::Group& group, const std::string& name, Solver& solver, const ConfGrid& conf,
                      const Comm& column);

/// An expansion on the configuration space of a stored grid, [cell][mode], on this rank's cells of another.
std::vector<double> regrid_field(const StoredGrid& from, const std::vector<double>& values, const ConfGrid& to);

template <class Old>
void Regrid::cell(const int* at, const Old& old, double* out) const {
  const int dims = static_cast<int>(maps_.size());
  std::vector<std::size_t> turn(dims, 0);
  std::array<const AxisMap::Overlap*, 6> overlap;
  std::array<int, 6> from;
  for (int d = 0; d < dims; ++d)
    if (maps_[d].of(at[d]).empty()) return;
  for (int d = dims - 1; d >= 0;) {
    for (int e = 0; e < dims; ++e) {
      overlap[e] = &maps_[e].of(at[e])[turn[e]];
      from[e] = overlap[e]->from;
    }
    add(overlap.data(), old(from), out);
    for (d = dims - 1; d >= 0 && ++turn[d] == maps_[d].of(at[d]).size(); --d) turn[d] = 0;
  }
}

}  // namespace cambium::kinetic
