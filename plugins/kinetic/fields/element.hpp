#pragma once
#include <array>
#include <vector>

#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// The continuous finite element of the basis' order on a cell of configuration space, in one or two dimensions: nodes
/// at corners, and for order 2 at the middles of edges (and of the cell in one dimension).
struct Element {
  /// InputError where the basis has more functions than the element has nodes: two dimensions, tensor family.
  explicit Element(const ConfGrid& grid);

  struct Node {
    int kind;                  ///< which of the grid's classes of nodes,
    std::array<int, 2> shift;  ///< and how many cells away
    std::array<int, 2> steps;  ///< from the cell's corner, as many a cell as the order
  };
  int kinds = 1;
  std::vector<Node> nodes;
  std::vector<double> shape;      ///< [node][mode]: expansion of each shape function
  std::vector<double> stiffness;  ///< [node][node]: integral of grad . grad
  SparseMatrix slope[3];          ///< d/dx of an expansion
};

}  // namespace cambium::kinetic
