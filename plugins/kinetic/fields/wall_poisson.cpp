#include "plugins/kinetic/fields/wall_poisson.hpp"

#include <algorithm>
#include <map>

#include "plugins/kinetic/fields/dense.hpp"

namespace cambium::kinetic {

WallUnknowns::WallUnknowns(const ConfGrid& grid, const PotentialWalls& walls) {
  for (int d = 0; d < grid.dimensions; ++d)
    for (bool high : {false, true}) {
      const PotentialWall& wall = (high ? walls.upper : walls.lower)[d];
      if (grid.low_wall[d] == Wall::periodic || wall.kind == PotentialWall::Kind::symmetry) continue;
      constant_is_free = false;
      if (wall.kind == PotentialWall::Kind::floating)
        floating.push_back({d, high});
      else
        neutral = false;
    }
}

/// Numbers the nodes of every cell, line by line.
void WallPoisson::number_nodes(const Element& element) {
  const int p = grid_.highest(), local = local_;
  const int slow = lines(grid_);
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
  const int first = numbers.begin()->first[0];
  line_ =
      static_cast<int>(std::ranges::count_if(numbers, [first](const auto& node) { return node.first[0] == first; }));
  for (auto& [at, number] : numbers) number = next++;
  number_.resize(static_cast<std::size_t>(grid_.count()) * local);
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i) number_[static_cast<std::size_t>(cell) * local + i] = numbers[place(cell, i)];
  pinned_.assign(next, false);
}

/// Finds the walls that have a potential, and the nodes on them; a node where two of them meet belongs half to each.
void WallPoisson::find_conductors(const Element& element, const PotentialWalls& walls) {
  const int p = grid_.highest(), local = local_;
  for (int d = 0; d < grid_.dimensions; ++d)
    for (bool high : {false, true}) {
      const PotentialWall& wall = (high ? walls.upper : walls.lower)[d];
      if (grid_.low_wall[d] == Wall::periodic || wall.kind == PotentialWall::Kind::symmetry) continue;
      conductors_.push_back({d, high, wall, std::vector<double>(pinned_.size(), 0.0)});
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
  if (unknowns_.constant_is_free && (!strips_ || strips_->root())) pinned_[0] = true;  // the caller chooses one
}

/// Contribution of potentials of the nodes on walls to the right-hand side.
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

/// Integral of grad a . grad b over all strips, of values at the nodes.
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
  return total(sum);
}

WallPoisson::WallPoisson(const ConfGrid& grid, const Element& element, const PotentialWalls& walls, const Comm* strips)
    : grid_(grid), strips_(strips), unknowns_(grid, walls), local_(static_cast<int>(element.nodes.size())) {
  number_nodes(element);
  find_conductors(element, walls);
  solver_ = StripSolver({element, number_, pinned_, strips, line_});
  if (!unknowns_.floating.empty()) make_capacitance(element);
  take_fixed(element);
}

/// Contributions of the potentials of fixed walls to the right-hand side, and to floating walls.
void WallPoisson::take_fixed(const Element& element) {
  std::vector<double> fixed(pinned_.size(), 0.0);
  for (const auto& c : conductors_)
    if (c.wall.kind == PotentialWall::Kind::fixed)
      for (std::size_t k = 0; k < fixed.size(); ++k) fixed[k] += c.share[k] * c.wall.potential;
  from_walls_ = lift(element, fixed);
  if (unit_.empty()) return;
  auto of_fixed = from_walls_;
  solver_.solve(of_fixed);
  fixed_.clear();
  for (const auto& unit : unit_) fixed_.push_back(stiffness_product(element, unit, of_fixed));
}

void WallPoisson::set_potentials(const Element& element, const PotentialWalls& walls) {
  for (auto& c : conductors_) c.wall.potential = (c.high ? walls.upper : walls.lower)[c.dimension].potential;
  take_fixed(element);
}

void WallPoisson::make_capacitance(const Element& element) {
  for (const auto& c : conductors_) {
    if (c.wall.kind != PotentialWall::Kind::floating) continue;
    unit_.push_back(lift(element, c.share));
    solver_.solve(unit_.back());
  }
  const int n = static_cast<int>(unit_.size());
  for (const auto& a : unit_)
    for (const auto& b : unit_) capacitance_.push_back(stiffness_product(element, a, b));
  if (unknowns_.neutral)  // the first is the zero of the potential
    for (int k = 0; k < n; ++k) capacitance_[k] = capacitance_[k * n] = k == 0;
  capacitance_ = inverse(capacitance_, n);
}

void WallPoisson::solve(std::vector<double>& right, const std::vector<double>& wall_charge, double epsilon0,
                        std::vector<double>& wall_potential) const {
  const int n = static_cast<int>(unit_.size());
  std::vector<double> drive(n);
  for (int w = 0; w < n; ++w) {
    double induced = 0.0;
    for (std::size_t k = 0; k < right.size(); ++k) induced += unit_[w][k] * right[k];
    drive[w] = wall_charge[w] / epsilon0 - fixed_[w] + total(induced);
  }
  if (unknowns_.neutral && n > 0) drive[0] = 0.0;
  for (std::size_t k = 0; k < right.size(); ++k) right[k] = (pinned_[k] ? 0.0 : right[k]) + from_walls_[k];
  solver_.solve(right);
  for (int w = 0; w < n; ++w) {
    wall_potential[w] = 0.0;
    for (int u = 0; u < n; ++u) wall_potential[w] += capacitance_[w * n + u] * drive[u];
    for (std::size_t k = 0; k < right.size(); ++k) right[k] += wall_potential[w] * unit_[w][k];
  }
}

}  // namespace cambium::kinetic
