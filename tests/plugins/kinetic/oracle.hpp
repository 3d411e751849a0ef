#pragma once
// A plain, slow right-hand side of the Vlasov equation: every integral by Gauss quadrature, every face from both sides,
// nothing shared with the generated kernels but the list of exponents.
#include <cmath>
#include <random>
#include <vector>

#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

inline double legendre_slope(int n, double xi) {
  const double p[] = {0.0, 1.0, 3.0 * xi};
  return std::sqrt(0.5 * (2 * n + 1)) * p[n];
}

/// f of all cells of a single rank: [conf cell][velocity cell][mode].
struct Cells {
  PhaseGrid grid;
  BasisInfo basis;
  std::vector<double> f;
  Cells(const PhaseGrid& g, const BasisInfo& b)
      : grid(g), basis(b), f(static_cast<std::size_t>(g.conf_cells()) * g.local_velocity_cells() * b.modes) {}
  double* at(int ic, int iv) {
    return &f[(static_cast<std::size_t>(ic) * grid.local_velocity_cells() + iv) * basis.modes];
  }
  void fill(unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> u(-1.0, 1.0);
    for (auto& x : f) x = u(engine);
  }
  void to(Solver& s, int slot) {
    for (int ic = 0; ic < s.grid().local_conf_cells(); ++ic)
      for (int iv = 0; iv < s.grid().local_velocity_cells(); ++iv)
        s.set(slot, ic, iv, at(whole_conf(s, ic), whole_velocity(s, iv)));
    s.to_device(slot);
  }
  /// Index in the whole grid of a cell of a rank's part.
  int whole_conf(const Solver& s, int ic) const { return s.grid().conf_index(s.grid().local_conf(ic)); }
  int whole_velocity(const Solver& s, int iv) const {
    const auto v = s.grid().local_velocity(iv);
    int index = 0;
    for (int d = 0; d < grid.vdim; ++d) index = index * grid.velocity(d).cells + s.grid().velocity(d).first + v[d];
    return index;
  }
};

class Oracle {
 public:
  /// Fields as in ForceField, on the whole grid.
  Oracle(Cells& cells, const ForceField& force, int points = 4)
      : c_(cells), force_(force), dims_(cells.grid.dimensions()), rule_(cells.basis.exponents, points),
        points_(points) {}

  /// L(f) of a cell.
  std::vector<double> rhs(int ic, int iv) {
    std::vector<double> out(c_.basis.modes, 0.0), z(dims_);
    for (int q = 0; q < rule_.nodes(); ++q) {
      for (int d = 0; d < dims_; ++d) z[d] = rule_.xi(q, d);
      const double f = value(ic, iv, z);
      for (int d = 0; d < dims_; ++d) {
        const double flux = speed(ic, iv, d, z) * f * rule_.weight(q) * 2.0 / width(iv, d);
        for (int k = 0; k < c_.basis.modes; ++k) out[k] += flux * slope(k, d, z);
      }
    }
    for (int d = 0; d < dims_; ++d)
      for (int side : {-1, 1}) face(ic, iv, d, side, out);
    return out;
  }

  double value(int ic, int iv, const std::vector<double>& z) {
    const double* f = c_.at(ic, iv);
    double sum = 0.0;
    for (int k = 0; k < c_.basis.modes; ++k) sum += f[k] * psi(k, z);
    return sum;
  }
  double psi(int k, const std::vector<double>& z) const {
    double value = 1.0;
    for (int d = 0; d < dims_; ++d) value *= legendre(c_.basis.exponents[k][d], z[d]);
    return value;
  }
  double velocity(int iv, int e, const std::vector<double>& z) const {
    const Axis& a = c_.grid.velocity(e);
    return a.centre(c_.grid.local_velocity(iv)[e]) + 0.5 * width(iv, c_.grid.cdim + e) * z[c_.grid.cdim + e];
  }
  /// Of velocity cell iv in dimension d of phase space.
  double width(int iv, int d) const {
    const Axis& a = c_.grid.axis[d];
    return d < c_.grid.cdim ? a.width() : a.width(c_.grid.local_velocity(iv)[d - c_.grid.cdim]);
  }

 private:
  double slope(int k, int d, const std::vector<double>& z) const {
    double value = legendre_slope(c_.basis.exponents[k][d], z[d]);
    for (int e = 0; e < dims_; ++e)
      if (e != d) value *= legendre(c_.basis.exponents[k][e], z[e]);
    return value;
  }
  double conf_value(const double* field, int ic, const std::vector<double>& z) const {
    if (!field) return 0.0;
    double sum = 0.0;
    for (int k = 0; k < c_.basis.conf; ++k) {
      double chi = 1.0;
      for (int d = 0; d < c_.grid.cdim; ++d) chi *= legendre(c_.basis.conf_exponents[k][d], z[d]);
      sum += field[ic * c_.basis.conf + k] * chi;
    }
    return sum;
  }
  /// Speed along dimension d: v, or (q/m)(E + v x B) by the determinant.
  double speed(int ic, int iv, int d, const std::vector<double>& z) const {
    if (d < c_.grid.cdim) return velocity(iv, d, z);
    double v[3] = {0, 0, 0}, b[3];
    for (int e = 0; e < c_.grid.vdim; ++e) v[e] = velocity(iv, e, z);
    for (int e = 0; e < 3; ++e) b[e] = conf_value(force_.magnetic[e], ic, z);
    const double cross[3] = {v[1] * b[2] - v[2] * b[1], v[2] * b[0] - v[0] * b[2], v[0] * b[1] - v[1] * b[0]};
    const int e = d - c_.grid.cdim;
    return force_.charge_over_mass * (conf_value(force_.electric[e], ic, z) + cross[e]);
  }
  /// Bound of the speed of a velocity face: largest value at the conf nodes for the centre velocity, and |B| h.
  double bound(int ic, int iv, int d) const {
    const std::vector<double> line = c_.basis.order == 1 ? std::vector<double>{-1, 1} : std::vector<double>{-1, 0, 1};
    int nodes = 1;
    for (int k = 0; k < c_.grid.cdim; ++k) nodes *= static_cast<int>(line.size());
    double most = 0.0, most_b[3] = {0, 0, 0};
    for (int q = 0; q < nodes; ++q) {
      std::vector<double> z(dims_, 0.0);
      for (int k = 0, rest = q; k < c_.grid.cdim; ++k, rest /= static_cast<int>(line.size()))
        z[k] = line[rest % line.size()];
      most = std::max(most, std::abs(speed(ic, iv, d, z)));
      for (int b = 0; b < 3; ++b) most_b[b] = std::max(most_b[b], std::abs(conf_value(force_.magnetic[b], ic, z)));
    }
    for (int e = 0; e < c_.grid.vdim; ++e)
      if (e != d - c_.grid.cdim)
        most +=
            std::abs(force_.charge_over_mass) * 0.5 * width(iv, c_.grid.cdim + e) * most_b[3 - e - (d - c_.grid.cdim)];
    return most;
  }

  double psi_without(int k, int d, const std::vector<double>& z) const {
    double value = 1.0;
    for (int e = 0; e < dims_; ++e)
      if (e != d) value *= legendre(c_.basis.exponents[k][e], z[e]);
    return value;
  }
  /// The side from which the acceleration comes, chosen at three Gauss nodes a dimension and projected to the modes
  /// without xi_d.
  std::vector<double> upwind(int ic, int iv, int other_v, int d, int side) {
    std::vector<double> out(c_.basis.modes, 0.0);
    const Projection rule(std::vector<std::vector<int>>(1, std::vector<int>(dims_ - 1, 0)), 3);
    for (int q = 0; q < rule.nodes(); ++q) {
      std::vector<double> here(dims_);
      for (int e = 0, k = 0; e < dims_; ++e) here[e] = e == d ? side : rule.xi(q, k++);
      auto there = here;
      there[d] = -side;
      const bool outwards = speed(ic, iv, d, here) * side > 0.0;
      const double f = outwards ? value(ic, iv, here) : value(ic, other_v, there);
      for (int k = 0; k < c_.basis.modes; ++k)
        if (c_.basis.exponents[k][d] == 0) out[k] += rule.weight(q) * f * psi_without(k, d, here);
    }
    return out;
  }

  void face(int ic, int iv, int d, int side, std::vector<double>& out) {
    const auto& grid = c_.grid;
    int other_c = ic, other_v = iv;
    if (d < grid.cdim) {
      auto at = grid.local_conf(ic);
      at[d] = (at[d] + side + grid.axis[d].cells) % grid.axis[d].cells;
      other_c = grid.conf_index(at);
    } else {
      int stride = 1;
      for (int e = d - grid.cdim + 1; e < grid.vdim; ++e) stride *= grid.velocity(e).cells;
      const int next = grid.local_velocity(iv)[d - grid.cdim] + side;
      if (next < 0 || next >= grid.axis[d].cells) return;  // no flux through the ends of velocity space
      other_v = iv + side * stride;
    }
    const std::vector<double> side_modes =
        force_.upwind && d >= grid.cdim ? upwind(ic, iv, other_v, d, side) : std::vector<double>{};
    std::vector<std::vector<int>> others(1, std::vector<int>(dims_ - 1, 0));
    const Projection rule(others, points_);
    for (int q = 0; q < rule.nodes(); ++q) {
      std::vector<double> here(dims_);
      for (int e = 0, k = 0; e < dims_; ++e) here[e] = e == d ? side : rule.xi(q, k++);
      auto there = here;
      there[d] = -side;
      const double f = value(ic, iv, here), g = value(other_c, other_v, there), a = speed(ic, iv, d, here);
      double flux;
      if (d < grid.cdim) {
        const bool outwards = velocity(iv, d, std::vector<double>(dims_, 0.0)) * side > 0.0;
        flux = a * (outwards ? f : g);
      } else if (force_.upwind) {
        double value = 0.0;
        for (int k = 0; k < c_.basis.modes; ++k) value += side_modes[k] * psi_without(k, d, here);
        flux = a * value;
      } else {
        flux = 0.5 * a * (f + g) - 0.5 * bound(ic, iv, d) * (g - f) * side;
      }
      for (int k = 0; k < c_.basis.modes; ++k)
        out[k] -= side * psi(k, here) * flux * rule.weight(q) * 2.0 / width(iv, d);
    }
  }

  Cells& c_;
  ForceField force_;
  int dims_;
  Projection rule_;
  int points_;
};

/// A small grid with uneven numbers of cells.
inline PhaseGrid small_grid(int cdim, int vdim) {
  PhaseGrid g;
  g.cdim = cdim;
  g.vdim = vdim;
  const int cells[] = {3, 2, 2}, speeds[] = {4, 2, 2};
  for (int d = 0; d < cdim; ++d) {
    g.axis[d].lower = -0.3;
    g.axis[d].upper = 1.0 + d;
    g.axis[d].cells = g.axis[d].count = cells[d];
  }
  for (int d = 0; d < vdim; ++d) {
    Axis& a = g.axis[cdim + d];
    a.lower = -1.5 - 0.5 * d;
    a.upper = -a.lower;
    a.cells = a.count = speeds[d];
  }
  return g;
}

/// The same with velocity cells of different widths; `mirrored`: at 0.
inline PhaseGrid stretched_grid(int cdim, int vdim, bool mirrored = false) {
  PhaseGrid g = small_grid(cdim, vdim);
  for (int d = 0; d < vdim; ++d) {
    Axis& a = g.axis[cdim + d];
    if (a.cells == 4)
      a.edges =
          mirrored ? std::vector<double>{-1.5, -0.4, 0.0, 0.4, 1.5} : std::vector<double>{-1.5, -0.4, 0.0, 0.7, 1.9};
    else
      a.edges = {a.lower, 0.0, mirrored ? a.upper : 0.6 * a.upper};
    a.upper = a.edges.back();
  }
  return g;
}

/// Random fields on the whole grid, and a ForceField that points to them.
struct RandomFields {
  std::vector<double> values[6];
  ForceField force;
  RandomFields(const PhaseGrid& g, const BasisInfo& b, double charge_over_mass, bool magnetic) {
    std::mt19937 engine(7);
    std::uniform_real_distribution<double> u(-1.0, 1.0);
    force.charge_over_mass = charge_over_mass;
    for (int c = 0; c < 6; ++c) {
      values[c].resize(static_cast<std::size_t>(g.conf_cells()) * b.conf);
      for (auto& x : values[c]) x = u(engine);
      if (c < 3)
        force.electric[c] = values[c].data();
      else if (magnetic)
        force.magnetic[c - 3] = values[c].data();
    }
  }
};

}  // namespace cambium::kinetic
