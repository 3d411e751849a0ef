#include "plugins/kinetic/fluids/fluid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::kinetic {

std::size_t Fluid::subcell(int across, int d, int along) const {
  int step = 1;
  for (int e = 0; e < d; ++e) step *= cells_.per_side();
  return static_cast<std::size_t>(across / step * step * cells_.per_side() + along * step + across % step);
}

Fluid::Row Fluid::primitive(int slot, std::size_t at) const {
  Row q{}, w{};
  for (int c = 0; c < equations_->components(); ++c) q[c] = state_[slot][c][at];
  equations_->to_primitive(q.data(), w.data());
  return w;
}

/// State of the subcell beyond the end of a rank's cells, `layer` 0 the next one.
Fluid::Row Fluid::ghost(int slot, int cell, int d, bool high, int across, int layer) const {
  const int next = conf_.neighbour(cell, d, high ? 1 : -1), side = cells_.per_side();
  const auto per_cell = static_cast<std::size_t>(cells_.per_cell());
  if (next >= 0) {
    const std::size_t sub = subcell(across, d, high ? layer : side - 1 - layer);
    if (next < conf_.count()) return primitive(slot, static_cast<std::size_t>(next) * per_cell + sub);
    Row q{}, w{};
    const std::size_t at = static_cast<std::size_t>(next - conf_.count()) * per_cell + sub;
    for (int c = 0; c < equations_->components(); ++c) q[c] = ghost_[c][at];
    equations_->to_primitive(q.data(), w.data());
    return w;
  }
  const Wall wall = high ? conf_.high_wall[d] : conf_.low_wall[d];
  const int mirrored = wall == Wall::reflect ? layer : 0;  // others: as it is at the wall
  const std::size_t sub = subcell(across, d, high ? side - 1 - mirrored : mirrored);
  Row w = primitive(slot, static_cast<std::size_t>(cell) * per_cell + sub);
  if (wall == Wall::reflect)
    for (int c = 0; c < equations_->components(); ++c) w[c] = equations_->odd(c, d) ? -w[c] : w[c];
  return w;
}

Fluid::Line Fluid::line(int slot, int cell, int d, int across) const {
  const int side = cells_.per_side();
  Line out;
  out.absorbs[0] = conf_.low_wall[d] == Wall::absorb && conf_.neighbour(cell, d, -1) < 0;
  for (int layer : {1, 0}) out.state.push_back(ghost(slot, cell, d, false, across, layer));
  for (int k = 0; k < conf_.own(d); ++k) {
    if (k > 0) cell = conf_.neighbour(cell, d, 1);
    for (int s = 0; s < side; ++s) {
      out.own.push_back(static_cast<std::size_t>(cell) * cells_.per_cell() + subcell(across, d, s));
      out.state.push_back(primitive(slot, out.own.back()));
    }
  }
  out.absorbs[1] = conf_.high_wall[d] == Wall::absorb && conf_.neighbour(cell, d, 1) < 0;
  for (int layer : {0, 1}) out.state.push_back(ghost(slot, cell, d, true, across, layer));
  return out;
}

/// Through the lower face of each subcell of the line and the upper one of the last.
std::vector<Fluid::Row> Fluid::fluxes(const Line& line, int d) const {
  const int n = equations_->components();
  const std::size_t faces = line.own.size() + 1;
  std::vector<Row> low(faces + 1), high(faces + 1), out(faces);  // traces of the subcells that touch these faces
  for (std::size_t k = 0; k <= faces; ++k) {
    const Row &below = line.state[k], &here = line.state[k + 1], &above = line.state[k + 2];
    for (int c = 0; c < n; ++c) {
      const double half = 0.5 * limited_slope(params_.limiter, here[c] - below[c], above[c] - here[c]);
      low[k][c] = here[c] - half;
      high[k][c] = here[c] + half;
    }
    if (!equations_->physical(low[k].data()) || !equations_->physical(high[k].data())) low[k] = high[k] = here;
  }
  for (bool upper : {false, true}) {  // at an absorbing wall both sides are the fluid: no inflow
    if (!line.absorbs[upper ? 1 : 0]) continue;
    Row& trace = upper ? high[faces - 1] : low[1];
    trace[1 + d] = upper ? std::max(trace[1 + d], 0.0) : std::min(trace[1 + d], 0.0);
    (upper ? low[faces] : high[0]) = trace;
  }
  for (std::size_t k = 0; k < faces; ++k) hll_flux(*equations_, high[k].data(), low[k + 1].data(), d, out[k].data());
  return out;
}

void Fluid::add_fluxes(int slot, int d) {
  const double inverse = 1.0 / cells_.width(d);
  for (const int cell : conf_.side(d, false))
    for (int across = 0; across < cells_.per_cell() / cells_.per_side(); ++across) {
      const Line row = line(slot, cell, d, across);
      const auto through = fluxes(row, d);
      for (std::size_t k = 0; k < row.own.size(); ++k) {
        for (int c = 0; c < equations_->components(); ++c)
          rate_[c][row.own[k]] += inverse * (through[k][c] - through[k + 1][c]);
        const double* w = row.state[k + 2].data();
        frequency_[row.own[k]] += equations_->physical(w)
                                      ? inverse * (std::abs(w[1 + d]) + equations_->sound_speed(w, d))
                                      : std::numeric_limits<double>::infinity();
      }
    }
}

/// Largest product of a step and a frequency for which SSP-RK3 is stable: of oscillations sqrt(3), of decay 2.5.
static constexpr double oscillating = 1.7, decaying = 2.5;

void Fluid::add_field_sources(int slot, const ForceField& force, double epsilon0) {
  const double a = charge_ / mass_;
  std::vector<double> field[6];
  for (int c = 0; c < 6; ++c) {
    const double* from = c < 3 ? force.electric[c] : force.magnetic[c - 3];
    if (from && a != 0.0) field[c] = cells_.means(from);
  }
  for (std::size_t k = 0; k < cells_.count(); ++k) {
    Row q{}, change{};
    for (int c = 0; c < equations_->components(); ++c) q[c] = state_[slot][c][k];
    MomentEquations::Fields fields;
    double square = 0.0;
    for (int c = 0; c < 3; ++c) {
      if (!field[c].empty()) fields.electric[c] = field[c][k];
      if (!field[3 + c].empty()) fields.magnetic[c] = field[3 + c][k];
      square += fields.magnetic[c] * fields.magnetic[c];
    }
    equations_->add_sources(q.data(), a, fields, change.data());
    for (int c = 0; c < equations_->components(); ++c) rate_[c][k] += change[c];
    const Row w = primitive(slot, k);
    frequency_[k] += (std::abs(a) * std::sqrt(square) + std::sqrt(a * a * q[0] / epsilon0)) / oscillating +
                     equations_->relaxation(w.data()) / decaying;
  }
}

double Fluid::stage(const Stage& s, const ForceField& force, double epsilon0) {
  if (halo_ && halo_->any()) halo_->exchange(state_[s.in], ghost_);
  for (auto& rate : rate_) std::fill(rate.begin(), rate.end(), 0.0);
  std::fill(frequency_.begin(), frequency_.end(), 0.0);
  for (int d = 0; d < conf_.dimensions; ++d) add_fluxes(s.in, d);
  add_field_sources(s.in, force, epsilon0);
  for (std::size_t c = 0; c < rate_.size(); ++c)
    for (std::size_t k = 0; k < cells_.count(); ++k) {
      const double base = s.a == 0.0 ? 0.0 : s.a * state_[s.base][c][k];
      state_[s.out][c][k] = base + s.b * state_[s.in][c][k] + s.c * rate_[c][k];
    }
  double fastest = 0.0;
  for (const double f : frequency_)
    fastest = std::isfinite(f) ? std::max(fastest, f) : std::numeric_limits<double>::infinity();
  return fastest;
}

void Fluid::add_sources(int slot, std::vector<double>& charge, std::vector<double> (&current)[3]) const {
  const double a = charge_ / mass_;
  if (a == 0.0) return;
  const auto density = cells_.expansion(state_[slot][0]);
  for (std::size_t k = 0; k < density.size(); ++k) charge[k] += a * density[k];
  for (int d = 0; d < 3; ++d) {
    current[d].resize(conf_.size(), 0.0);
    cells_.add_projection(state_[slot][1 + d], a, current[d]);
  }
}

double Fluid::collected(int slot, const WallSide& side) const {
  const int d = side.dimension;
  double sum = 0.0;
  for (const int cell : conf_.side(d, false)) {
    if (conf_.place(cell)[d] != 0 && !side.high) continue;
    if (side.high && conf_.first[d] + conf_.own(d) != conf_.cells[d]) continue;
    for (int across = 0; across < cells_.per_cell() / cells_.per_side(); ++across) {
      const auto through = fluxes(line(slot, cell, d, across), d);
      sum += side.high ? through.back()[0] : -through.front()[0];
    }
  }
  return charge_ / mass_ * sum * cells_.volume() / cells_.width(d);
}

}  // namespace cambium::kinetic
