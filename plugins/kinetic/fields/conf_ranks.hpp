#pragma once
#include <span>
#include <vector>

#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// Ranks as bricks of configuration space, each of which may be shared by several that have other velocities there.
/// Species that are cut alike in configuration space have the same.
class ConfRanks {
 public:
  /// Collective. `comm` outlives it.
  ConfRanks(const PhaseGrid& grid, const Comm& comm);

  const Comm& all() const { return all_; }
  /// Those with the same cells of configuration space: what they sum are moments of these cells.
  const Comm& column() const { return column_; }
  /// Those with the same velocities: together they have every cell of configuration space once, in the order of their
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

/// Coefficients of the cells that touch a brick from the ranks that have them.
class ConfHalo {
 public:
  /// Ranks below and above are those of `phase`.
  ConfHalo(const PhaseGrid& phase, const ConfGrid& grid, const Comm& comm);

  bool any() const { return !links_.empty(); }
  /// Collective over neighbours. `fields`: expansions over own cells; `ghosts`: of each those of the ghosts in the
  /// order of their numbers.
  void exchange(std::span<const std::vector<double>> fields, std::span<std::vector<double>> ghosts);

 private:
  struct Link {
    int rank, send_tag, receive_tag;
    std::vector<int> cells;  ///< that the neighbour asks for
    int first;               ///< of the ghosts that it fills
    std::vector<double> sent, received;
  };
  const Comm* comm_;
  int own_, modes_, ghosts_;
  std::vector<Link> links_;
};

}  // namespace cambium::kinetic
