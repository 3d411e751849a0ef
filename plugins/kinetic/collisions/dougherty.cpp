#include "plugins/kinetic/collisions/dougherty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/record/recorder.hpp"

namespace cambium::kinetic {

Dougherty::Dougherty(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency)
    : grid_(solver.grid()), conf_(conf), modes_(solver.basis().modes), cells_(grid_.local_velocity_cells()),
      frequency_(std::move(frequency)), conf_rule_(conf.exponents, solver.basis().order + 1) {
  for (const auto& e : solver.basis().exponents) {
    const std::vector<int> v(e.begin() + grid_.cdim, e.end()), x(e.begin(), e.begin() + grid_.cdim);
    auto at = std::find(groups_.begin(), groups_.end(), v);
    if (at == groups_.end()) groups_.push_back(v), at = groups_.end() - 1;
    const auto a = std::find(conf.exponents.begin(), conf.exponents.end(), x);
    mode_.push_back({static_cast<int>(at - groups_.begin()), static_cast<int>(a - conf.exponents.begin())});
  }
  make_lines();
  make_matrices();
}

void Dougherty::make_lines() {
  for (int d = 0; d < grid_.vdim; ++d)
    for (const auto& start : groups_) {
      if (start[d] != 0) continue;
      Line line;
      line.counts = std::all_of(start.begin(), start.end(), [](int n) { return n == 0; });
      for (int n = 0; n < 3; ++n) {
        auto e = start;
        e[d] = n;
        const auto at = std::find(groups_.begin(), groups_.end(), e);
        if (at == groups_.end()) break;
        line.group[n] = static_cast<int>(at - groups_.begin());
        line.modes = n + 1;
      }
      lines_[d].push_back(line);
    }
}

static double slope_of(int n, double xi) {
  const double p[] = {0.0, 1.0, 3.0 * xi};
  return std::sqrt(0.5 * (2 * n + 1)) * p[n];
}

/// Integrals of psi_k' psi_m, psi_k' xi psi_m and psi_k' psi_m'; values and slopes at the upper end; and a bound of the
/// eigenvalues of the diffusion.
void Dougherty::make_matrices() {
  std::vector<double> x, w;
  gauss(4, x, w);
  for (int k = 0; k < 3; ++k) {
    edge_[k] = legendre(k, 1.0), slope_[k] = slope_of(k, 1.0);
    for (int m = 0; m < 3; ++m)
      for (int q = 0; q < 4; ++q) {
        drift_[k][m] += w[q] * slope_of(k, x[q]) * legendre(m, x[q]);
        drift_xi_[k][m] += w[q] * slope_of(k, x[q]) * x[q] * legendre(m, x[q]);
        diffusion_[k][m] += w[q] * slope_of(k, x[q]) * slope_of(m, x[q]);
      }
  }
  largest_ = 76.0;  // computed once for quadratics with the penalty 6/h, on long lines: 74.7
}

Dougherty::Moments Dougherty::moments_of(const double* f) const {
  Moments m;
  for (int iv = 0; iv < cells_; ++iv) {
    const auto at = grid_.local_velocity(iv);
    for (int d = 0; d < grid_.vdim; ++d)
      for (const Line& line : lines_[d]) {
        if (!line.counts) continue;
        const double h = 0.5 * grid_.velocity(d).width(), c = grid_.velocity(d).centre(at[d]);
        const double f0 = value(f, iv, line, 0), f1 = value(f, iv, line, 1), f2 = value(f, iv, line, 2);
        if (d == 0) m.m0 += f0;
        m.m1[d] += c * f0 + h / std::sqrt(3.0) * f1;
        m.m2 +=
            (c * c + h * h / 3.0) * f0 + 2.0 * c * h / std::sqrt(3.0) * f1 + 2.0 / (3.0 * std::sqrt(5.0)) * h * h * f2;
        // Traces per sqrt(1/2), the factor that integration along this dimension puts in front of f0, and per half
        // width.
        if (at[d] == grid_.velocity(d).cells - 1) {
          const double top = (f0 + std::sqrt(3.0) * f1 + std::sqrt(5.0) * f2) / (2.0 * h);
          m.jump[d] += top, m.ends += grid_.velocity(d).upper * top;
        }
        if (at[d] == 0) {
          const double bottom = (f0 - std::sqrt(3.0) * f1 + std::sqrt(5.0) * f2) / (2.0 * h);
          m.jump[d] -= bottom, m.ends -= grid_.velocity(d).lower * bottom;
        }
      }
  }
  return m;
}

/// With D the difference of f at the ends of velocity space and E that of v f, summed over dimensions where needed, the
/// discrete operator changes the moments by
///   dM1/dt = -nu (M1 - u M0 + vt^2 D),   d(M2/2)/dt = -nu (M2 - u . M1 + vt^2 (E - vdim M0)).
Dougherty::State Dougherty::state_for(const Moments& m, int cell, const std::array<double, 3>& push,
                                      double heat) const {
  double square = 0.0, cross = 0.0;
  for (int d = 0; d < grid_.vdim; ++d)
    square += (m.m1[d] + push[d]) * m.m1[d] / m.m0, cross += m.m1[d] * m.jump[d] / m.m0;
  State s;
  s.vt2 = (m.m2 - square + heat) / (grid_.vdim * m.m0 - m.ends + cross);
  for (int d = 0; d < grid_.vdim; ++d) s.u[d] = (m.m1[d] + push[d] + s.vt2 * m.jump[d]) / m.m0;
  if (!(m.m0 > 0.0) || !(s.vt2 > 0.0))
    throw NumericalError(
        fmt::format("collisions: density {:g} and squared thermal speed {:g} in cell {} must be positive; use more "
                    "cells or 'positivity: true'",
                    m.m0, s.vt2, cell));
  return s;
}

double Dougherty::moment_unit() const {
  double unit = 1.0;
  for (int d = 0; d < grid_.vdim; ++d) unit *= std::sqrt(2.0) * 0.5 * grid_.velocity(d).width();
  return unit;
}

/// Adds the operator along dimension d on the line of cells that begins at `first`.
void Dougherty::add_line(const double* f, double* out, int d, const Line& line, int first, const State& s) const {
  const Axis& axis = grid_.velocity(d);
  int stride = 1;
  for (int e = d + 1; e < grid_.vdim; ++e) stride *= grid_.velocity(e).cells;
  const double h = axis.width(), scale = 2.0 / h, penalty = 6.0 / h;
  const int n = line.modes;
  auto add = [&](int iv, int k, double x) { out[static_cast<std::size_t>(iv) * groups_.size() + line.group[k]] += x; };
  for (int i = 0; i < axis.cells; ++i) {
    const int iv = first + i * stride;
    const double a = axis.centre(i) - s.u[d];
    for (int k = 0; k < n; ++k) {
      double sum = 0.0;
      for (int m = 0; m < n; ++m)
        sum += (scale * (a * drift_[k][m] + 0.5 * h * drift_xi_[k][m]) + s.vt2 * scale * scale * diffusion_[k][m]) *
               value(f, iv, line, m);
      add(iv, k, -sum);
    }
    if (i + 1 == axis.cells) continue;
    const int up = iv + stride;
    double left = 0.0, right = 0.0, gradient = 0.0;
    for (int m = 0; m < n; ++m) {
      const double sign = m % 2 ? -1.0 : 1.0;
      left += edge_[m] * value(f, iv, line, m), right += sign * edge_[m] * value(f, up, line, m);
      gradient += 0.5 * scale * slope_[m] * (value(f, iv, line, m) - sign * value(f, up, line, m));
    }
    const double face = a + 0.5 * h, jump = left - right;
    // The drift carries f towards u: from above where v > u.
    const double flux = face * (face > 0.0 ? right : left) + s.vt2 * (gradient - penalty * jump);
    for (int k = 0; k < n; ++k) {
      const double sign = k % 2 ? -1.0 : 1.0, symmetric = 0.5 * s.vt2 * scale * slope_[k] * jump;
      add(iv, k, scale * (edge_[k] * flux + symmetric));
      add(up, k, scale * (-sign * edge_[k] * flux - sign * symmetric));
    }
  }
}

void Dougherty::rate(const double* f, double* out, const State& s) const {
  std::fill(out, out + static_cast<std::size_t>(cells_) * groups_.size(), 0.0);
  for (int d = 0; d < grid_.vdim; ++d)
    for (int iv = 0; iv < cells_; ++iv) {
      if (grid_.local_velocity(iv)[d] != 0) continue;
      for (const Line& line : lines_[d]) add_line(f, out, d, line, iv, s);
    }
}

double Dougherty::stiffness(const State& s) const {
  double sum = 0.0;
  for (int d = 0; d < grid_.vdim; ++d) {
    const Axis& a = grid_.velocity(d);
    const double h = a.width(), fastest = std::max(std::abs(a.lower - s.u[d]), std::abs(a.upper - s.u[d]));
    sum += largest_ * s.vt2 / (h * h) + 10.0 * fastest / h;
  }
  return sum;
}

int Dougherty::substeps_for(double rate, int cell) {
  constexpr double reach = 2.4, most = 20000.0;  // of SSP-RK3 along the negative axis, nearly
  const double steps = std::ceil(rate / reach);
  if (!(steps > most)) return std::max(1, static_cast<int>(steps));
  throw NumericalError(
      fmt::format("collisions: operator 'dougherty' needs {:.2g} sub-steps in a step, by its frequency in cell {}; "
                  "lower 'frequency', take wider cells of velocity or a "
                  "shorter 'timestep', or, within a species, operator: bgk, which takes one at any frequency",
                  steps, cell));
}

void Dougherty::advance(std::vector<double>& f, double nu, double dt, int cell) {
  auto state_of = [&](const std::vector<double>& g) { return state_for(moments_of(g.data()), cell); };
  std::vector<double> a(f.size()), b(f.size()), k(f.size());
  const int steps = substeps_for(dt * nu * stiffness(state_of(f)), cell);
  substeps_ = std::max(substeps_, steps);
  const double step = nu * dt / steps;
  for (int n = 0; n < steps; ++n) {
    rate(f.data(), k.data(), state_of(f));
    for (std::size_t i = 0; i < f.size(); ++i) a[i] = f[i] + step * k[i];
    rate(a.data(), k.data(), state_of(a));
    for (std::size_t i = 0; i < f.size(); ++i) b[i] = 0.75 * f[i] + 0.25 * (a[i] + step * k[i]);
    rate(b.data(), k.data(), state_of(b));
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = f[i] / 3.0 + 2.0 / 3.0 * (b[i] + step * k[i]);
  }
}

void Dougherty::read(const Solver& solver, int ic, std::vector<double>& f) const {
  f.resize(cell_size());
  for (int iv = 0; iv < cells_; ++iv) solver.get(0, ic, iv, &f[static_cast<std::size_t>(iv) * modes_]);
}

void Dougherty::write(Solver& solver, int ic, const std::vector<double>& f) const {
  for (int iv = 0; iv < cells_; ++iv) solver.set(0, ic, iv, &f[static_cast<std::size_t>(iv) * modes_]);
}

void Dougherty::at_node(const std::vector<double>& f, int node, std::vector<double>& values) const {
  const std::size_t groups = groups_.size();
  values.assign(node_size(), 0.0);
  for (int iv = 0; iv < cells_; ++iv)
    for (int k = 0; k < modes_; ++k)
      values[iv * groups + mode_[k][0]] += f[iv * modes_ + k] * conf_rule_.basis(node, mode_[k][1]);
}

void Dougherty::add_change(const std::vector<double>& before, const std::vector<double>& after, int node,
                           std::vector<double>& change) const {
  const std::size_t groups = groups_.size();
  for (int iv = 0; iv < cells_; ++iv)
    for (int k = 0; k < modes_; ++k)
      change[iv * modes_ + k] += conf_rule_.weight(node) * conf_rule_.basis(node, mode_[k][1]) *
                                 (after[iv * groups + mode_[k][0]] - before[iv * groups + mode_[k][0]]);
}

void Dougherty::act(Solver& solver, double dt) {
  const Region region("Dougherty collisions", WorkKind::elementwise);
  solver.to_host_const(0);
  substeps_ = 0;
  std::vector<double> f, change(cell_size()), node, before;
  for (int ic = 0; ic < grid_.local_conf_cells(); ++ic) {
    const int cell = grid_.conf_index(grid_.local_conf(ic));
    read(solver, ic, f);
    std::fill(change.begin(), change.end(), 0.0);
    for (int q = 0; q < nodes(); ++q) {
      at_node(f, q, before);
      node = before;
      advance(node, frequency_[ic], dt, cell);
      add_change(before, node, q, change);
    }
    for (std::size_t k = 0; k < f.size(); ++k) f[k] += change[k];
    write(solver, ic, f);
  }
  solver.to_device(0);
}

}  // namespace cambium::kinetic
