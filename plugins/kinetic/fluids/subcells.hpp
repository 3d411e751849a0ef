#pragma once
#include <vector>

#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// Finite volumes into which each cell of configuration space is divided, `per_side` along each dimension, and the maps
/// between them and expansions. Subcell s of a cell has the indices s % per_side, s / per_side % ..., x first.
class Subcells {
 public:
  Subcells(const ConfGrid& conf, int per_side);

  int per_side() const { return per_side_; }
  int per_cell() const { return per_cell_; }
  double volume() const { return volume_; }
  double width(int d) const { return conf_.width[d] / per_side_; }
  /// Cells of this rank, with one value per subcell instead of modes.
  const ConfGrid& grid() const { return grid_; }
  std::size_t count() const { return grid_.size(); }

  /// Mean values of an expansion [cell][mode] in the subcells [cell][subcell].
  std::vector<double> means(const double* expansion) const;
  /// expansion += factor times the L2 projection of the function that is constant in each subcell: the adjoint of
  /// means(), so that the integral of its product with an expansion e is that of values times means(e).
  void add_projection(const std::vector<double>& values, double factor, std::vector<double>& expansion) const;
  /// The expansion whose mean values in the subcells are nearest to these; those of the cells are the same.
  std::vector<double> expansion(const std::vector<double>& values) const;

 private:
  ConfGrid conf_, grid_;
  int per_side_, per_cell_ = 1;
  double volume_ = 1.0;
  std::vector<double> mean_, inverse_;  ///< [subcell][mode]
};

}  // namespace cambium::kinetic
