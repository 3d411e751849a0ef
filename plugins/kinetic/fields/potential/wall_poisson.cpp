#include "plugins/kinetic/fields/potential/wall_poisson.hpp"

#include <algorithm>
#include <map>

#include "plugins/kinetic/fields/dense.hpp"

namespace cambium::kinetic {

/// Numbers of the nodes of every cell. Lines of nodes follow each other along a dimension with walls, so that a
/// periodic one only couples nodes of neighbouring lines.
void WallPoisson::number_nodes(const Element& element) {
  const int p = grid_.highest(), local = local_;
  const int slow = grid_.dimensions == 1 || grid_.low_wall[0] != Wall::periodic ? 0 : 1;
  auto place = [&](int cell, int i) {  // on a lattice of p steps a cell
    auto at = grid_.place(cell);
    for (int d = 0; d < grid_.dimensions; ++d) {
      at[d] = p * at[d] + element.nodes[i].steps[d];
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
  pinned_.assign(next, false);
}

/// Walls that have a potential, and which nodes lie on them; where two of them meet, each has half a share.
void WallPoisson::find_conductors(const Element& element, const PotentialWalls& walls) {
  const int p = grid_.highest(), local = local_;
  for (int d = 0; d < grid_.dimensions; ++d)
    for (bool high : {false, true}) {
      const PotentialWall& wall = (high ? walls.upper : walls.lower)[d];
      if (grid_.low_wall[d] == Wall::periodic || wall.kind == PotentialWall::Kind::symmetry) continue;
      conductors_.push_back({d, high, wall, std::vector<double>(pinned_.size(), 0.0)});
      if (wall.kind == PotentialWall::Kind::floating)
        floating_.push_back({d, high});
      else
        neutral_ = false;
    }
  std::vector<double> meeting(pinned_.size(), 0.0);
  for (auto& c : conductors_) {
    const int end = c.high ? p * grid_.cells[c.dimension] : 0;
    for (int cell = 0; cell < grid_.count(); ++cell)
      for (int i = 0; i < local; ++i)
        if (p * grid_.place(cell)[c.dimension] + element.nodes[i].steps[c.dimension] == end)
          c.share[number_[static_cast<std::size_t>(cell) * local + i]] = 1.0;
    for (std::size_t k = 0; k < meeting.size(); ++k) meeting[k] += c.share[k];
  }
  for (std::size_t k = 0; k < meeting.size(); ++k) {
    pinned_[k] = meeting[k] > 0.0;
    for (auto& c : conductors_)
      if (pinned_[k]) c.share[k] /= meeting[k];
  }
  if (conductors_.empty()) pinned_[0] = true;  // constants are free: the caller chooses one
}

/// What potentials of the nodes on walls put on the right-hand side.
std::vector<double> WallPoisson::lift(const Element& element, const std::vector<double>& on_walls) const {
  const int local = local_;
  std::vector<double> out = on_walls;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i)
      for (int j = 0; j < local; ++j) {
        const int gi = number_[static_cast<std::size_t>(cell) * local + i],
                  gj = number_[static_cast<std::size_t>(cell) * local + j];
        if (!pinned_[gi] && pinned_[gj]) out[gi] -= element.stiffness[i * local + j] * on_walls[gj];
      }
  return out;
}

/// Integral of grad a . grad b, of values at the nodes.
double WallPoisson::stiffness_product(const Element& element, const std::vector<double>& a,
                                      const std::vector<double>& b) const {
  const int local = local_;
  double sum = 0.0;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i)
      for (int j = 0; j < local; ++j) {
        const int gi = number_[static_cast<std::size_t>(cell) * local + i],
                  gj = number_[static_cast<std::size_t>(cell) * local + j];
        sum += element.stiffness[i * local + j] * a[gi] * b[gj];
      }
  return sum;
}

void WallPoisson::factorize(const Element& element) {
  const int local = local_;
  auto node = [&](int cell, int i) { return number(cell, i); };
  int band = 0;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i)
      for (int j = 0; j < local; ++j) band = std::max(band, node(cell, i) - node(cell, j));
  band_ = Banded(static_cast<int>(pinned_.size()), band);
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i)
      for (int j = 0; j < local; ++j) {
        const int gi = node(cell, i), gj = node(cell, j);
        if (!pinned_[gi] && !pinned_[gj] && gj <= gi) band_.at(gi, gj) += element.stiffness[i * local + j];
      }
  for (std::size_t k = 0; k < pinned_.size(); ++k)
    if (pinned_[k]) band_.at(static_cast<int>(k), static_cast<int>(k)) = 1.0;
  band_.factorize();
}

WallPoisson::WallPoisson(const ConfGrid& grid, const Element& element, const PotentialWalls& walls)
    : grid_(grid), local_(static_cast<int>(element.nodes.size())) {
  number_nodes(element);
  find_conductors(element, walls);
  factorize(element);
  std::vector<double> fixed(pinned_.size(), 0.0);
  for (const auto& c : conductors_)
    if (c.wall.kind == PotentialWall::Kind::fixed)
      for (std::size_t k = 0; k < fixed.size(); ++k) fixed[k] += c.share[k] * c.wall.potential;
  from_walls_ = lift(element, fixed);
  if (!floating_.empty()) make_capacitance(element);
}

void WallPoisson::make_capacitance(const Element& element) {
  auto of_fixed = from_walls_;
  band_.solve(of_fixed);
  for (const auto& c : conductors_) {
    if (c.wall.kind != PotentialWall::Kind::floating) continue;
    unit_.push_back(lift(element, c.share));
    band_.solve(unit_.back());
    fixed_.push_back(stiffness_product(element, unit_.back(), of_fixed));
  }
  const int n = static_cast<int>(unit_.size());
  for (const auto& a : unit_)
    for (const auto& b : unit_) capacitance_.push_back(stiffness_product(element, a, b));
  if (neutral_)  // the first is the zero of the potential
    for (int k = 0; k < n; ++k) capacitance_[k] = capacitance_[k * n] = k == 0;
  capacitance_ = inverse(capacitance_, n);
}

void WallPoisson::solve(std::vector<double>& right, const std::vector<double>& wall_charge, double epsilon0,
                        std::vector<double>& wall_potential) const {
  const int n = static_cast<int>(unit_.size());
  std::vector<double> drive(n);
  for (int w = 0; w < n; ++w) {
    drive[w] = wall_charge[w] / epsilon0 - fixed_[w];
    for (std::size_t k = 0; k < right.size(); ++k) drive[w] += unit_[w][k] * right[k];
  }
  if (neutral_ && n > 0) drive[0] = 0.0;
  for (std::size_t k = 0; k < right.size(); ++k) right[k] = (pinned_[k] ? 0.0 : right[k]) + from_walls_[k];
  band_.solve(right);
  for (int w = 0; w < n; ++w) {
    wall_potential[w] = 0.0;
    for (int u = 0; u < n; ++u) wall_potential[w] += capacitance_[w * n + u] * drive[u];
    for (std::size_t k = 0; k < right.size(); ++k) right[k] += wall_potential[w] * unit_[w][k];
  }
}

}  // namespace cambium::kinetic
