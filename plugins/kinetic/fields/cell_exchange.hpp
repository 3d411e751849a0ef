#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::kinetic {

/// Values of cells from ranks that divide them in one way to ranks that want them in another, again and again.
class CellExchange {
 public:
  /// Numbers of cells of a rank, ascending.
  using CellsOf = std::function<std::vector<int>(int rank)>;

  /// For `cells` cells each is had by one rank, and may be wanted by many; every rank knows who has and wants what.
  /// `comm` outlives it.
  CellExchange(const Comm& comm, int cells, const CellsOf& has, const CellsOf& wants);

  /// Collective. `own`, `per_cell` numbers of each cell that this rank has, in the order of `has`; returns those of the
  /// cells that it wants, in the order of `wants`.
  std::vector<double> operator()(std::span<const double> own, int per_cell) const;

 private:
  struct Link {
    int rank;
    std::vector<int> cells;  ///< places among those that this rank has, or wants
  };
  const Comm& comm_;
  std::vector<Link> to_, from_;  ///< other ranks, and this one, with at least one cell
  std::size_t wanted_ = 0;
};

}  // namespace cambium::kinetic
