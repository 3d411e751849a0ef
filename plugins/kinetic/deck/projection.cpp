#include "plugins/kinetic/deck/projection.hpp"

#include <array>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/parallel/host_threads.hpp"

namespace cambium::kinetic {

double legendre(int n, double xi) {
  double before = 1.0, now = xi;
  if (n == 0) return std::sqrt(0.5);
  for (int k = 2; k <= n; ++k) {
    const double next = ((2 * k - 1) * xi * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  return std::sqrt(0.5 * (2 * n + 1)) * now;
}

void gauss(int points, std::vector<double>& nodes, std::vector<double>& weights) {
  nodes.resize(points);
  weights.resize(points);
  for (int i = 0; i < points; ++i) {
    double x = std::cos(constants::pi * (i + 0.75) / (points + 0.5)), slope = 1.0;
    for (int iteration = 0; iteration < 50; ++iteration) {  // Newton on P_n
      double before = 1.0, now = x;
      for (int k = 2; k <= points; ++k) {
        const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
        before = now;
        now = next;
      }
      if (points == 1) {
        before = 1.0;
        now = x;
      }
      slope = points * (x * now - before) / (x * x - 1.0);
      const double step = now / slope;
      x -= step;
      if (std::abs(step) < 1e-16) break;
    }
    nodes[points - 1 - i] = x;
    weights[points - 1 - i] = 2.0 / ((1.0 - x * x) * slope * slope);
  }
}

Projection::Projection(const std::vector<std::vector<int>>& exponents, int points)
    : dimensions_(static_cast<int>(exponents.front().size())), modes_(static_cast<int>(exponents.size())) {
  std::vector<double> line, weights;
  gauss(points, line, weights);
  nodes_ = 1;
  for (int d = 0; d < dimensions_; ++d) nodes_ *= points;
  for (int q = 0; q < nodes_; ++q) {
    double w = 1.0;
    for (int d = 0, rest = q; d < dimensions_; ++d, rest /= points) {
      xi_.push_back(line[rest % points]);
      w *= weights[rest % points];
    }
    weight_.push_back(w);
    for (const auto& e : exponents) {
      double value = 1.0;
      for (int d = 0; d < dimensions_; ++d) value *= legendre(e[d], xi(q, d));
      basis_.push_back(value);
    }
  }
}

void Projection::project(const double* values, double* coefficients) const {
  for (int k = 0; k < modes_; ++k) coefficients[k] = 0.0;
  for (int q = 0; q < nodes_; ++q) {
    const double value = weight_[q] * values[q];
    for (int k = 0; k < modes_; ++k) coefficients[k] += value * basis_[q * modes_ + k];
  }
}

void Projection::evaluate(const double* coefficients, double* values) const {
  for (int q = 0; q < nodes_; ++q) {
    values[q] = 0.0;
    for (int k = 0; k < modes_; ++k) values[q] += coefficients[k] * basis_[q * modes_ + k];
  }
}

namespace {

/// Positions of quadrature nodes in phase space.
class Points {
 public:
  Points(const PhaseGrid& grid, const Projection& rule) : grid_(grid), rule_(rule), z_(grid.dimensions()) {}

  std::span<const double> at(const std::array<int, 3>& conf, const std::array<int, 3>& velocity, int node) {
    for (int d = 0; d < grid_.dimensions(); ++d) {
      const Axis& a = grid_.axis[d];
      const int cell = a.first + (d < grid_.cdim ? conf[d] : velocity[d - grid_.cdim]);
      z_[d] = a.centre(cell) + 0.5 * a.width(cell) * rule_.xi(node, d);
    }
    return z_;
  }

 private:
  const PhaseGrid& grid_;
  const Projection& rule_;
  std::vector<double> z_;
};

}  // namespace

int project(Solver& solver, int slot, int points, const std::function<double(int, std::span<const double>)>& f) {
  constexpr std::int64_t least = 64;  // cells of a thread: formulas at thousands of nodes
  const PhaseGrid& grid = solver.grid();
  const Projection rule(solver.basis().exponents, points);
  const std::int64_t nv = grid.local_velocity_cells(), cells = nv * grid.local_conf_cells();
  const std::vector<double> nothing(rule.modes(), 0.0);
  if (cells > 0) solver.set(slot, 0, 0, nothing.data());  // one thread alone makes room for the slot
  const int parts = in_parts(cells, least, [&](int part, std::int64_t first, std::int64_t last) {
    std::vector<double> values(rule.nodes()), coefficients(rule.modes());
    Points z(grid, rule);
    for (std::int64_t k = first; k < last; ++k) {
      const int ic = static_cast<int>(k / nv), iv = static_cast<int>(k % nv);
      const auto c = grid.local_conf(ic), v = grid.local_velocity(iv);
      for (int q = 0; q < rule.nodes(); ++q) values[q] = f(part, z.at(c, v, q));
      rule.project(values.data(), coefficients.data());
      solver.set(slot, ic, iv, coefficients.data());
    }
  });
  solver.to_device(slot);
  return parts;
}

void project(Solver& solver, int slot, int points, const std::function<double(std::span<const double>)>& f) {
  project(solver, slot, points, [&](int, std::span<const double> z) { return f(z); });
}

}  // namespace cambium::kinetic
