// The potential between walls: nodes are numbered line by line, and one banded matrix serves all steps.
#include <algorithm>
#include <map>
#include <set>

#include "plugins/kinetic/fields/poisson.hpp"

namespace cambium::kinetic {

/// Numbers of the nodes of every cell. Lines of nodes follow each other along a dimension with walls, so that a periodic one
/// only couples nodes of neighbouring lines.
void Poisson::number_nodes() {
  const int p = grid_.highest(), local = static_cast<int>(nodes_.size());
  const int slow = grid_.dimensions == 1 || grid_.low_wall[0] != Wall::periodic ? 0 : 1;
  auto place = [&](int cell, int i) {  // on a lattice of p steps a cell
    auto at = grid_.place(cell);
    for (int d = 0; d < grid_.dimensions; ++d) {
      at[d] = p * at[d] + nodes_[i].steps[d];
      if (grid_.low_wall[d] == Wall::periodic) at[d] %= p * grid_.cells[d];
    }
    return std::array<int, 2>{at[slow], grid_.dimensions > 1 ? at[1 - slow] : 0};
  };
  std::map<std::array<int, 2>, int> numbers;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i) numbers[place(cell, i)] = 0;
  int next = 0;
  for (auto& [at, number] : numbers) number = next++;
  number_.resize(static_cast<std::size_t>(grid_.count()) * local);
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i) number_[static_cast<std::size_t>(cell) * local + i] = numbers[place(cell, i)];
  pinned_.assign(next, false), pinned_to_.assign(next, 0.0);
}

/// Nodes on walls have the walls' potential; where two walls meet, the mean of both.
void Poisson::pin_walls(const WallPotential& walls) {
  const int p = grid_.highest(), local = static_cast<int>(nodes_.size());
  std::vector<int> walls_here(pinned_.size(), 0);
  std::set<std::pair<int, int>> seen;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i)
      for (int d = 0; d < grid_.dimensions; ++d) {
        const int at = p * grid_.place(cell)[d] + nodes_[i].steps[d], node = number_[static_cast<std::size_t>(cell) * local + i];
        const bool low = at == 0, high = at == p * grid_.cells[d];
        if (grid_.low_wall[d] == Wall::periodic || !(low || high) || !seen.insert({node, d}).second) continue;
        pinned_[node] = true;
        pinned_to_[node] += low ? walls.lower[d] : walls.upper[d];
        ++walls_here[node];
      }
  for (std::size_t k = 0; k < pinned_.size(); ++k)
    if (walls_here[k] > 1) pinned_to_[k] /= walls_here[k];
}

void Poisson::make_banded(const WallPotential& walls) {
  number_nodes();
  pin_walls(walls);
  const int local = static_cast<int>(nodes_.size());
  auto node = [&](int cell, int i) { return number_[static_cast<std::size_t>(cell) * local + i]; };
  int band = 0;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i)
      for (int j = 0; j < local; ++j) band = std::max(band, node(cell, i) - node(cell, j));
  band_ = Banded(static_cast<int>(pinned_.size()), band);
  from_walls_ = pinned_to_;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i)
      for (int j = 0; j < local; ++j) {
        const int gi = node(cell, i), gj = node(cell, j);
        const double k = stiffness_[i * local + j];
        if (!pinned_[gi] && !pinned_[gj] && gj <= gi) band_.at(gi, gj) += k;
        else if (!pinned_[gi] && pinned_[gj]) from_walls_[gi] -= k * pinned_to_[gj];
      }
  for (std::size_t k = 0; k < pinned_.size(); ++k)
    if (pinned_[k]) band_.at(static_cast<int>(k), static_cast<int>(k)) = 1.0;
  band_.factorize();
}

void Poisson::solve_walls(std::vector<double>& right) const {
  for (std::size_t k = 0; k < right.size(); ++k) right[k] = (pinned_[k] ? 0.0 : right[k]) + from_walls_[k];
  band_.solve(right);
}

}  // namespace cambium::kinetic
