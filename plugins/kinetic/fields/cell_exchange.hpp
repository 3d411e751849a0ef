#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::kinetic {

/// Redistributes values of cells from one decomposition to another, repeatedly.
class CellExchange {
 public:
  /// Indices of the cells of a rank, ascending.
  using CellsOf = std::function<std::vector<int>(int rank)>;

  /// Each of `cells` cells is owned by one rank, and may be wanted by many; every rank knows who has and wants which.
  /// `comm` must outlive it.
  CellExchange(const Comm& comm, int cells, const CellsOf& has, const CellsOf& wants);

  /// Collective. `own`, `per_cell` values of each cell that this rank has, in the order of `has`; returns those of the
  /// cells that it wants, in the order of `wants`.
  std::vector<double> operator()(std::span<const double> own, int per_cell) const;

 private:
  struct Link {
    int rank;
    std::vector<int> cells;  ///< indices among those that this rank has, or wants
  };
  const Comm& comm_;
  std::vector<Link> to_, from_;  ///< other ranks, and this one, with at least one cell
  std::size_t wanted_ = 0;
};

}  // namespace cambium::kinetic
