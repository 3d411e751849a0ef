#include "plugins/kinetic/edges/face_tables.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::kinetic {

VelocityTables::VelocityTables(const Solver& solver) : basis_(&solver.basis()), grid_(solver.grid()) {
  for (const auto& e : basis_->exponents) {
    const std::vector<int> x(e.begin(), e.begin() + grid_.cdim);
    const auto at = std::find(basis_->conf_exponents.begin(), basis_->conf_exponents.end(), x);
    conf_mode_.push_back(static_cast<int>(at - basis_->conf_exponents.begin()));
  }
}

std::array<int, 3> VelocityTables::global(int iv) const {
  auto at = grid_.local_velocity(iv);
  for (int d = 0; d < grid_.vdim; ++d) at[d] += grid_.velocity(d).first;
  return at;
}

/// Integral of v^power times mode n over a cell of a velocity dimension.
double VelocityTables::integral(int dimension, int cell, int power, int n) const {
  static const auto rule = [] {
    std::array<std::vector<double>, 2> out;
    gauss(4, out[0], out[1]);
    return out;
  }();
  const Axis& v = grid_.velocity(dimension);
  const double h = 0.5 * v.width(cell);
  double sum = 0.0;
  for (std::size_t q = 0; q < rule[0].size(); ++q)
    sum += h * rule[1][q] * std::pow(v.centre(cell) + h * rule[0][q], power) * legendre(n, rule[0][q]);
  return sum;
}

/// f(component, exponents of v) for the density, each momentum and each part of the energy.
template <class F>
static void for_each_component(int vdim, const F& f) {
  f(0, std::array<int, 3>{});
  for (int d = 0; d < vdim; ++d)
    for (int power : {1, 2}) {
      std::array<int, 3> powers{};
      powers[d] = power;
      f(power == 1 ? 1 + d : vdim + 1, powers);
    }
}

std::vector<double> VelocityTables::moment_weights() const {
  const int cells = grid_.local_velocity_cells();
  std::vector<double> out(static_cast<std::size_t>(cells) * components() * modes(), 0.0);
  for (int iv = 0; iv < cells; ++iv) {
    const auto at = global(iv);
    for_each_component(grid_.vdim, [&](int c, const std::array<int, 3>& powers) {
      for (int k = 0; k < modes(); ++k) {
        double value = 1.0;
        for (int d = 0; d < grid_.vdim; ++d)
          value *= integral(d, at[d], powers[d], basis_->exponents[k][grid_.cdim + d]);
        out[(static_cast<std::size_t>(iv) * components() + c) * modes() + k] += value;
      }
    });
  }
  return out;
}

std::vector<double> VelocityTables::outflow_weights(int d, bool high) const {
  const int cells = grid_.local_velocity_cells();
  std::vector<double> out(static_cast<std::size_t>(cells) * components() * modes(), 0.0);
  for (int iv = 0; iv < cells; ++iv) {
    const auto at = global(iv);
    if ((grid_.velocity(d).centre(at[d]) > 0.0) != high) continue;
    for_each_component(grid_.vdim, [&](int c, std::array<int, 3> powers) {
      ++powers[d];
      for (int k = 0; k < modes(); ++k) {
        const auto& e = basis_->exponents[k];
        double value = (high ? 1.0 : -1.0) * legendre(e[d], high ? 1.0 : -1.0);
        for (int a = 0; a < grid_.cdim; ++a)
          if (a != d) value *= e[a] == 0 ? std::sqrt(2.0) * 0.5 * grid_.conf(a).width() : 0.0;
        for (int a = 0; a < grid_.vdim; ++a) value *= integral(a, at[a], powers[a], e[grid_.cdim + a]);
        out[(static_cast<std::size_t>(iv) * components() + c) * modes() + k] += value;
      }
    });
  }
  return out;
}

/// Integrals over xi of weight(v) exp(-v^2/(2 vt^2)) times the modes of each cell of a velocity dimension.
template <class Weight>
static std::vector<std::array<double, 3>> projected(const Axis& axis, double vt, const Weight& weight) {
  std::vector<double> x, w;
  gauss(8, x, w);
  std::vector<std::array<double, 3>> out(axis.cells);
  for (int i = 0; i < axis.cells; ++i)
    for (int n = 0; n < 3; ++n) {
      out[i][n] = 0.0;
      for (std::size_t q = 0; q < x.size(); ++q) {
        const double v = axis.centre(i) + 0.5 * axis.width(i) * x[q];
        out[i][n] += w[q] * weight(v) * std::exp(-0.5 * v * v / (vt * vt)) * legendre(n, x[q]);
      }
    }
  return out;
}

std::vector<double> VelocityTables::emission(int d, bool high, double vt,
                                             const std::function<double(double)>& sum) const {
  const int cells = grid_.local_velocity_cells();
  std::vector<std::vector<std::array<double, 3>>> parts;
  for (int a = 0; a < grid_.vdim; ++a)
    parts.push_back(projected(grid_.velocity(a), vt, [&](double v) {
      if (a != d) return 1.0;
      return (v > 0.0) == high ? 0.0 : std::abs(v);
    }));
  std::vector<double> out(static_cast<std::size_t>(cells) * modes(), 0.0);
  double particles = 0.0;
  for (int iv = 0; iv < cells; ++iv) {
    const auto at = global(iv);
    for (int k = 0; k < modes(); ++k) {
      const auto& e = basis_->exponents[k];
      double value = legendre(e[d], high ? 1.0 : -1.0), whole = 1.0;
      for (int a = 0; a < grid_.cdim; ++a) {
        if (a != d && e[a] != 0) value = 0.0;
        whole *= e[a] == 0 ? std::sqrt(2.0) * 0.5 * grid_.conf(a).width() : 0.0;
      }
      for (int a = 0; a < grid_.vdim; ++a) {
        value *= parts[a][at[a]][e[grid_.cdim + a]];
        whole *= integral(a, at[a], 0, e[grid_.cdim + a]);
      }
      out[static_cast<std::size_t>(iv) * modes() + k] = value;
      particles += value * whole;
    }
  }
  particles = sum(particles);
  for (double& value : out) value /= particles;
  return out;
}

std::vector<double> VelocityTables::maxwellian(double vt, const std::function<double(double)>& sum) const {
  const int cells = grid_.local_velocity_cells();
  std::vector<std::vector<std::array<double, 3>>> parts;
  for (int a = 0; a < grid_.vdim; ++a) parts.push_back(projected(grid_.velocity(a), vt, [](double) { return 1.0; }));
  std::vector<double> out(static_cast<std::size_t>(cells) * modes(), 0.0);
  double density = 0.0;
  for (int iv = 0; iv < cells; ++iv) {
    const auto at = global(iv);
    for (int k = 0; k < modes(); ++k) {
      const auto& e = basis_->exponents[k];
      double value = 1.0, whole = conf_mode_[k] == 0 ? 1.0 : 0.0;
      for (int a = 0; a < grid_.vdim; ++a) {
        value *= parts[a][at[a]][e[grid_.cdim + a]];
        whole *= integral(a, at[a], 0, e[grid_.cdim + a]);
      }
      out[static_cast<std::size_t>(iv) * modes() + k] = value;
      density += value * whole;
    }
  }
  density = sum(density);
  for (double& value : out) value /= density;
  return out;
}

}  // namespace cambium::kinetic
