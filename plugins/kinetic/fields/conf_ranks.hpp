#pragma once
#include <span>
#include <vector>

#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// Decomposition of configuration space into bricks, each of which may belong to several ranks with different
/// velocities. Species with the same decomposition of configuration space have the same.
class ConfRanks {
 public:
  /// Collective. `comm` must outlive it.
  ConfRanks(const PhaseGrid& grid, const Comm& comm);

  const Comm& all() const { return all_; }
  /// Ranks with the same cells of configuration space: their sums are the moments of these cells.
  const Comm& column() const { return column_; }
  /// Ranks with the same velocities: together they have every cell of configuration space once, in the order of their
  /// bricks.
  const Comm& row() const { return row_; }

  /// The brick of a rank of row(), without modes.
  ConfGrid brick(int rank) const;

 private:
  ConfGrid grid_;                     ///< without modes
  std::array<int, 3> cuts_{1, 1, 1};  ///< ranks along each dimension
  const Comm& all_;
  Comm column_, row_;
};

/// Halo exchange of coefficients: the cells that touch a brick, from the ranks that own them.
class ConfHalo {
 public:
  /// Ranks below and above are those of `phase`.
  ConfHalo(const PhaseGrid& phase, const ConfGrid& grid, const Comm& comm);

  bool any() const { return !links_.empty(); }
  /// Collective over neighbours. `fields`: expansions over own cells; `ghosts`: for each, the coefficients of the
  /// ghosts in the order of their indices.
  void exchange(std::span<const std::vector<double>> fields, std::span<std::vector<double>> ghosts);

 private:
  struct Link {
    int rank, send_tag, receive_tag;
    std::vector<int> cells;  ///< requested by the neighbour
    int first;               ///< of the ghosts that it fills
    std::vector<double> sent, received;
  };
  const Comm* comm_;
  int own_, modes_, ghosts_;
  std::vector<Link> links_;
};

}  // namespace cambium::kinetic
