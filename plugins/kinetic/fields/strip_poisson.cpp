#include "plugins/kinetic/fields/strip_poisson.hpp"

#include <algorithm>

#include "core/base/counts.hpp"

namespace cambium::kinetic {

StripPoisson::First::First(const Comm& all, int count) {
  MPI_Comm_split(all.handle(), all.rank() < count ? 0 : MPI_UNDEFINED, all.rank(), &comm);
}

StripPoisson::First::~First() {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

static std::vector<int> numbers(const ConfGrid& part) {
  std::vector<int> out;
  for (int cell = 0; cell < part.count(); ++cell) out.push_back(part.index(part.place(cell)));
  return out;
}

StripPoisson::StripPoisson(const ConfGrid& grid, const Element& element, const PotentialWalls& walls,
                           const ConfRanks& ranks)
    : grid_(grid), ranks_(ranks), nodes_(static_cast<int>(element.nodes.size())),
      count_(std::min(ranks.row().size(), grid.cells[at(WallPoisson::lines(grid))])), unknowns_(grid, walls),
      to_strips_(
          ranks.row(), grid.whole_count(), [this](int rank) { return numbers(ranks_.brick(rank)); },
          [this](int rank) { return cells_of(rank); }),
      to_bricks_(
          ranks.row(), grid.whole_count(), [this](int rank) { return cells_of(rank); },
          [this](int rank) { return numbers(ranks_.brick(rank)); }) {
  const First first(ranks.row(), count_);
  if (first.comm == MPI_COMM_NULL) return;
  strips_.emplace(first.comm);
  own_.emplace(strip(strips_->rank()), element, walls, &*strips_);
}

ConfGrid StripPoisson::strip(int rank) const {
  ConfGrid out = grid_.whole();
  const auto along = at(WallPoisson::lines(grid_));
  const auto before = [&](std::int64_t r) { return static_cast<int>(grid_.cells[along] * r / count_); };
  out.first[along] = before(rank);
  out.part[along] = before(rank + 1) - before(rank);
  return out;
}

std::vector<int> StripPoisson::cells_of(int rank) const {
  return rank < count_ ? numbers(strip(rank)) : std::vector<int>();
}

std::vector<double> StripPoisson::solve(std::span<const double> loads, const std::vector<double>& wall_charge,
                                        double epsilon0, std::vector<double>& wall_potential) const {
  auto values = to_strips_(loads, nodes_);
  if (own_) {
    std::vector<double> right(at(own_->size()), 0.0);
    const auto for_each_node = [&](const auto& visit) {
      for (std::size_t k = 0; k < values.size(); ++k)
        visit(values[k], right[at(own_->number(static_cast<int>(k) / nodes_, static_cast<int>(k) % nodes_))]);
    };
    for_each_node([](double load, double& node) { node += load; });
    own_->solve(right, wall_charge, epsilon0, wall_potential);
    for_each_node([](double& value, double node) { value = node; });
  }
  if (count_ < ranks_.row().size()) ranks_.row().broadcast(wall_potential);
  return to_bricks_(values, nodes_);
}

}  // namespace cambium::kinetic
