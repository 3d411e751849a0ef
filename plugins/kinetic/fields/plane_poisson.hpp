#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/kinetic/fields/cell_exchange.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"
#include "plugins/kinetic/fields/periodic_poisson.hpp"

namespace cambium::kinetic {

/// PeriodicPoisson in a plane that is decomposed over ranks. Bricks send their loads to ranks with complete rows (x,
/// all y) for the transform along y, these send waves to ranks with complete columns (all x, y), which transform along
/// x and solve, and the same way back. A rank holds only its own part of the plane in each form.
class PlanePoisson {
 public:
  /// `ranks` must outlive it.
  PlanePoisson(const ConfGrid& grid, const Element& element, const ConfRanks& ranks);

  /// Collective. `loads`, [own cell][node of the element]: the contribution of each cell. Returns the potential there.
  std::vector<double> solve(std::span<const double> loads) const;

 private:
  using Complex = PeriodicPoisson::Complex;
  /// Neighbours [first, end) along one side of the plane.
  struct Strip {
    int first, end;
    int size() const { return end - first; }
  };
  static Strip strip(int cells, int rank, int ranks) {
    const auto before = [&](std::int64_t r) { return static_cast<int>(cells * r / ranks); };
    return {before(rank), before(rank + 1)};
  }
  int owner(std::array<int, 3> cell, const Element::Node& node) const;
  std::vector<int> own_of(const ConfGrid& brick) const;
  std::vector<int> rows_of(int rank, bool and_below) const;
  std::vector<int> columns_of(int rank) const;
  std::vector<int> nodes_of(const ConfGrid& brick) const;
  CellExchange exchange(const CellExchange::CellsOf& has, const CellExchange::CellsOf& wants) const;
  std::vector<Complex> summed(std::span<const double> loads) const;
  void solve_columns(std::vector<Complex>& waves) const;

  const ConfGrid grid_;
  const Element element_;
  const ConfRanks& ranks_;
  const Fourier along_x_, along_y_;
  Strip rows_, columns_;
  CellExchange loads_to_rows_, rows_to_columns_, columns_to_rows_, rows_to_nodes_;
  std::vector<std::vector<Complex>> inverse_;  ///< of the waves of own columns, [x][y]
  std::vector<int> node_;                      ///< [own cell][node]: its value among those of nodes_of()
};

}  // namespace cambium::kinetic
