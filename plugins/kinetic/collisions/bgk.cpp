#include "plugins/kinetic/collisions/bgk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/base/record/recorder.hpp"
#include "plugins/kinetic/collisions/on_ranks.hpp"

namespace cambium::kinetic {

Bgk::Bgk(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency)
    : grid_(solver.grid()), conf_(conf), modes_(solver.basis().modes), components_(grid_.vdim + 2),
      frequency_(std::move(frequency)), phase_rule_(solver.basis().exponents, solver.basis().order + 1),
      conf_rule_(conf.exponents, solver.basis().order + 1), points_(solver.basis().order + 1),
      exponents_(solver.basis().exponents) {
  maxwellian_.resize(static_cast<std::size_t>(grid_.local_conf_cells()) * grid_.local_velocity_cells() * modes_);
  for (int d = 0; d < grid_.vdim; ++d) longest_ = std::max(longest_, grid_.velocity(d).count);
  factors_.resize(static_cast<std::size_t>(conf_rule_.nodes()) * grid_.vdim * longest_ * points_);
  density_.resize(conf_rule_.nodes());
}

/// At every node of a conf cell: n, and exp(-(v-u)^2/(2 vt^2)) / sqrt(2 pi vt^2) along each velocity dimension.
void Bgk::velocity_factors(int ic, const std::vector<double>& moments) {
  const int n = conf_.modes(), nodes = conf_rule_.nodes();
  const double* m = &moments[static_cast<std::size_t>(ic) * components_ * n];
  std::vector<std::vector<double>> values(components_, std::vector<double>(nodes));
  for (int c = 0; c < components_; ++c) conf_rule_.evaluate(m + c * n, values[c].data());
  for (int q = 0; q < nodes; ++q) {
    const double density = values[0][q];
    double square = 0.0;
    for (int d = 0; d < grid_.vdim; ++d) square += std::pow(values[1 + d][q] / density, 2);
    const double vt2 = (values[1 + grid_.vdim][q] / density - square) / grid_.vdim;
    if (!(density > 0.0) || !(vt2 > 0.0))
      throw NumericalError(
          fmt::format("collisions: density {:g} and squared thermal speed {:g} in cell {} must be positive; use more "
                      "cells or 'positivity: true'",
                      density, vt2, grid_.conf_index(grid_.local_conf(ic))));
    density_[q] = density;
    for (int d = 0; d < grid_.vdim; ++d) {
      const Axis& axis = grid_.velocity(d);
      const double u = values[1 + d][q] / density;
      for (int i = 0; i < axis.count; ++i)
        for (int p = 0; p < points_; ++p) {
          const double xi = phase_rule_.xi(p, 0);  // the first dimension runs fastest: its points are those of the line
          const double v = axis.centre(axis.first + i) + 0.5 * axis.width() * xi;
          factors_[((static_cast<std::size_t>(q) * grid_.vdim + d) * longest_ + i) * points_ + p] =
              std::exp(-0.5 * (v - u) * (v - u) / vt2) / std::sqrt(2.0 * constants::pi * vt2);
        }
    }
  }
}

void Bgk::project_maxwellian(const std::vector<double>& moments) {
  const int nodes = phase_rule_.nodes(), conf_nodes = conf_rule_.nodes();
  std::vector<double> values(nodes);
  for (int ic = 0; ic < grid_.local_conf_cells(); ++ic) {
    velocity_factors(ic, moments);
    for (int iv = 0; iv < grid_.local_velocity_cells(); ++iv) {
      const auto cell = grid_.local_velocity(iv);
      for (int q = 0; q < nodes; ++q) {
        const int at = q % conf_nodes;
        double value = density_[at];
        for (int d = 0, rest = q / conf_nodes; d < grid_.vdim; ++d, rest /= points_)
          value *= factors_[((static_cast<std::size_t>(at) * grid_.vdim + d) * longest_ + cell[d]) * points_ +
                            rest % points_];
        values[q] = value;
      }
      phase_rule_.project(values.data(),
                          &maxwellian_[(static_cast<std::size_t>(ic) * grid_.local_velocity_cells() + iv) * modes_]);
    }
  }
}

/// M0, M1 and M2 of the projected Maxwellian from its modes up to degree two in velocity.
std::vector<double> Bgk::moments_of_maxwellian(const Comm& column) const {
  const int n = conf_.modes(), nv = grid_.local_velocity_cells();
  std::vector<double> out(conf_.size() * components_, 0.0);
  double jacobian = 1.0;
  for (int d = 0; d < grid_.vdim; ++d) jacobian *= std::sqrt(2.0) * 0.5 * grid_.velocity(d).width();
  for (int ic = 0; ic < grid_.local_conf_cells(); ++ic) {
    double* to = &out[static_cast<std::size_t>(ic) * components_ * n];
    for (int iv = 0; iv < nv; ++iv) {
      const auto cell = grid_.local_velocity(iv);
      const double* f = &maxwellian_[(static_cast<std::size_t>(ic) * nv + iv) * modes_];
      for (int k = 0; k < modes_; ++k) {
        const auto& e = exponents_[k];
        const auto begin = e.begin() + grid_.cdim;
        const int degree = *std::max_element(begin, e.end());
        int total = 0, along = 0;
        for (int d = 0; d < grid_.vdim; ++d)
          if (begin[d]) total += begin[d], along = d;
        if (total != degree) continue;  // two velocity factors: no moment up to the second sees them
        const auto conf = std::find(conf_.exponents.begin(), conf_.exponents.end(), std::vector<int>(e.begin(), begin));
        const int a = static_cast<int>(conf - conf_.exponents.begin());
        const Axis& axis = grid_.velocity(along);
        const double w = axis.centre(axis.first + cell[along]), h = 0.5 * axis.width(), value = jacobian * f[k];
        double* energy = to + (1 + grid_.vdim) * n + a;
        if (degree == 0) {
          to[a] += value;
          for (int d = 0; d < grid_.vdim; ++d) {
            const Axis& v = grid_.velocity(d);
            const double wd = v.centre(v.first + cell[d]), hd = 0.5 * v.width();
            to[(1 + d) * n + a] += wd * value;
            *energy += (wd * wd + hd * hd / 3.0) * value;
          }
        } else if (degree == 1) {
          to[(1 + along) * n + a] += h / std::sqrt(3.0) * value;
          *energy += 2.0 * w * h / std::sqrt(3.0) * value;
        } else if (degree == 2) {
          *energy += 2.0 / (3.0 * std::sqrt(5.0)) * h * h * value;
        }
      }
    }
  }
  if (column.size() > 1) column.sum(out);
  return out;
}

void Bgk::act(Solver& solver, double dt, const std::vector<double>& moments, const Ranks& ranks) {
  const Region region("BGK collisions", WorkKind::transcendental);
  std::vector<double> target = moments;  // of the Maxwellian before it is projected
  double scale = 0.0;
  for (double m : moments) scale = std::max(scale, std::abs(m));
  scale = ranks.all.max(scale);
  for (iterations_ = 1;; ++iterations_) {
    on_ranks(ranks.all, [&] { project_maxwellian(target); });
    const auto found = moments_of_maxwellian(ranks.column);
    double worst = 0.0;
    for (std::size_t k = 0; k < target.size(); ++k) {
      worst = std::max(worst, std::abs(moments[k] - found[k]));
      target[k] += moments[k] - found[k];
    }
    if (ranks.all.max(worst) < 3e-15 * scale || iterations_ == 30) break;
  }
  solver.to_host_const(0);
  std::vector<double> f(modes_);
  const int nv = grid_.local_velocity_cells();
  for (int ic = 0; ic < grid_.local_conf_cells(); ++ic) {
    const double stays = std::exp(-frequency_[ic] * dt);
    for (int iv = 0; iv < nv; ++iv) {
      const double* m = &maxwellian_[(static_cast<std::size_t>(ic) * nv + iv) * modes_];
      solver.get(0, ic, iv, f.data());
      for (int k = 0; k < modes_; ++k) f[k] = m[k] + (f[k] - m[k]) * stays;
      solver.set(0, ic, iv, f.data());
    }
  }
  solver.to_device(0);
}

}  // namespace cambium::kinetic
