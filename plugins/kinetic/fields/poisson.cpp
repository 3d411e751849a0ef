#include "plugins/kinetic/fields/poisson.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/fields/dense.hpp"
#include "plugins/kinetic/fields/fourier.hpp"

namespace cambium::kinetic {

Poisson::Poisson(const ConfGrid& grid, double epsilon0, const PotentialWalls& walls)
    : grid_(grid), epsilon0_(epsilon0), phi_(grid.size()) {
  for (int d = 0; d < grid.dimensions; ++d) periodic_ &= grid.low_wall[d] == Wall::periodic;
  if (grid.dimensions > 2)
    throw InputError("vlasov_poisson solves for the potential in one or two dimensions; in three use vlasov_maxwell");
  for (auto& slot : e_)
    for (int d = 0; d < grid.dimensions; ++d) slot[d].assign(grid.size(), 0.0);
  make_element();
  if (periodic_)
    make_symbols();
  else
    make_banded(walls);
}

/// Nodes of the element: corners, and for order 2 the middles of edges (and of the cell in one dimension).
void Poisson::make_element() {
  const int p = grid_.highest(), dims = grid_.dimensions;
  std::vector<std::array<double, 2>> at;
  auto node = [&](double x, double y, int kind, int sx, int sy) {
    auto steps = [p](double xi) { return static_cast<int>(std::lround(0.5 * p * (xi + 1.0))); };
    nodes_.push_back({kind, {sx, sy}, {steps(x), steps(y)}}), at.push_back({x, y});
  };
  for (int sy = 0; sy < (dims > 1 ? 2 : 1); ++sy)
    for (int sx = 0; sx < 2; ++sx) node(2 * sx - 1, 2 * sy - 1, 0, sx, sy);
  kinds_ = 1;
  if (p == 2) {
    for (int sy = 0; sy < (dims > 1 ? 2 : 1); ++sy) node(0, 2 * sy - 1, 1, 0, sy);
    if (dims > 1)
      for (int sx = 0; sx < 2; ++sx) node(2 * sx - 1, 0, 2, sx, 0);
    kinds_ = dims > 1 ? 3 : 2;
  }
  const int n = static_cast<int>(nodes_.size());
  if (n != grid_.modes()) throw InputError("vlasov_poisson in two dimensions needs the serendipity family");
  // Row i of the inverse of V_ki = chi_k(node i): shape i = sum_k shape_[i][k] chi_k is one at node i, zero at the
  // others.
  std::vector<double> v(n * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      double value = 1.0;
      for (int d = 0; d < dims; ++d) value *= legendre(grid_.exponents[k][d], at[i][d]);
      v[k * n + i] = value;
    }
  shape_ = inverse(v, n);
  for (int d = 0; d < dims; ++d)
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        // chi_b' = (2/dx) sum_a chi_a integral(chi_a chi_b')
        bool others_equal = true;
        for (int e = 0; e < dims; ++e) others_equal &= e == d || grid_.exponents[a][e] == grid_.exponents[b][e];
        const int ia = grid_.exponents[a][d], ib = grid_.exponents[b][d];
        if (others_equal && ib > ia && (ib - ia) % 2)
          slope_[d].entries.push_back({a, b, std::sqrt((2.0 * ia + 1) * (2.0 * ib + 1)) * 2.0 / grid_.width[d]});
      }
  stiffness_.assign(n * n, 0.0);
  double jacobian = 1.0;
  for (int d = 0; d < dims; ++d) jacobian *= 0.5 * grid_.width[d];
  for (int d = 0; d < dims; ++d) {
    std::vector<double> g(n * n, 0.0);
    for (int i = 0; i < n; ++i) slope_[d].add(1.0, &shape_[i * n], &g[i * n]);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) stiffness_[i * n + j] += jacobian * g[i * n + k] * g[j * n + k];
  }
}

void Poisson::make_symbols() {
  const int n = static_cast<int>(nodes_.size());
  inverse_.resize(grid_.count());
  for (int cell = 0; cell < grid_.count(); ++cell) {
    const auto k = grid_.place(cell);
    std::vector<Complex> s(kinds_ * kinds_, 0.0);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double phase = 0.0;
        for (int d = 0; d < grid_.dimensions; ++d)
          phase += 2.0 * constants::pi * k[d] * (nodes_[j].shift[d] - nodes_[i].shift[d]) / grid_.cells[d];
        s[nodes_[i].kind * kinds_ + nodes_[j].kind] += stiffness_[i * n + j] * std::polar(1.0, phase);
      }
    if (cell == 0) {  // constants are free: the first kind of nodes is pinned to zero for the mean
      for (int j = 0; j < kinds_; ++j) s[j] = s[j * kinds_] = 0.0;
      s[0] = 1.0;
    }
    inverse_[cell] = inverse(s, kinds_);
    if (cell == 0) inverse_[cell][0] = 0.0;
  }
}

void Poisson::transform(std::vector<Complex>& field, int sign) const {
  const int nx = grid_.cells[0], ny = grid_.cells[1];
  std::vector<Complex> line;
  for (int x = 0; x < nx && ny > 1; ++x) {
    line.assign(field.begin() + x * ny, field.begin() + (x + 1) * ny);
    fourier(line, sign);
    std::copy(line.begin(), line.end(), field.begin() + x * ny);
  }
  for (int y = 0; y < ny; ++y) {
    line.resize(nx);
    for (int x = 0; x < nx; ++x) line[x] = field[x * ny + y];
    fourier(line, sign);
    for (int x = 0; x < nx; ++x) field[x * ny + y] = line[x];
  }
}

void Poisson::solve_periodic(std::vector<std::vector<Complex>>& right) const {
  for (auto& r : right) transform(r, -1);
  std::vector<Complex> in(kinds_);
  for (int cell = 0; cell < grid_.count(); ++cell) {
    for (int a = 0; a < kinds_; ++a) in[a] = right[a][cell];
    for (int a = 0; a < kinds_; ++a) {
      right[a][cell] = 0.0;
      for (int b = 0; b < kinds_; ++b) right[a][cell] += inverse_[cell][a * kinds_ + b] * in[b] / double(grid_.count());
    }
  }
  for (auto& r : right) transform(r, 1);
}

void Poisson::solve(const std::vector<double>& charge, int slot) {
  const int n = grid_.modes(), local = static_cast<int>(nodes_.size());
  double jacobian = 1.0, one = 1.0, volume = grid_.count();
  for (int d = 0; d < grid_.dimensions; ++d)
    jacobian *= 0.5 * grid_.width[d], one *= std::sqrt(2.0), volume *= grid_.width[d];
  double mean = neutral_ ? grid_.integral(charge.data()) / volume : 0.0;
  if (neutral_)
    for (double q : wall_charge_[slot]) mean += q / volume;
  std::vector<std::vector<Complex>> right(kinds_, std::vector<Complex>(grid_.count(), 0.0));
  std::vector<double> line(band_.size(), 0.0);
  auto periodic_node = [&](int cell, int i) {
    auto at = grid_.place(cell);
    for (int d = 0; d < grid_.dimensions; ++d) at[d] = (at[d] + nodes_[i].shift[d]) % grid_.cells[d];
    return grid_.index(at);
  };
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (int i = 0; i < local; ++i) {
      double load = -mean * one * shape_[i * n];
      for (int k = 0; k < n; ++k) load += shape_[i * n + k] * charge[static_cast<std::size_t>(cell) * n + k];
      load *= jacobian / epsilon0_;
      if (periodic_)
        right[nodes_[i].kind][periodic_node(cell, i)] += load;
      else
        line[number_[static_cast<std::size_t>(cell) * local + i]] += load;
    }
  if (periodic_)
    solve_periodic(right);
  else
    solve_walls(line, slot);
  for (int cell = 0; cell < grid_.count(); ++cell) {
    double* phi = &phi_[static_cast<std::size_t>(cell) * n];
    for (int k = 0; k < n; ++k) phi[k] = 0.0;
    for (int i = 0; i < local; ++i) {
      const double value = periodic_ ? right[nodes_[i].kind][periodic_node(cell, i)].real()
                                     : line[number_[static_cast<std::size_t>(cell) * local + i]];
      for (int k = 0; k < n; ++k) phi[k] += value * shape_[i * n + k];
    }
    for (int d = 0; d < grid_.dimensions; ++d) {
      double* e = &e_[slot][d][static_cast<std::size_t>(cell) * n];
      for (int k = 0; k < n; ++k) e[k] = 0.0;
      slope_[d].add(-1.0, phi, e);
    }
  }
  if (!periodic_ && conductors_.empty()) centre_potential();
}

/// Only planes of symmetry: the mean of the potential is zero.
void Poisson::centre_potential() {
  const int n = grid_.modes();
  double mean = 0.0;
  for (int cell = 0; cell < grid_.count(); ++cell) mean += phi_[static_cast<std::size_t>(cell) * n] / grid_.count();
  for (int cell = 0; cell < grid_.count(); ++cell) phi_[static_cast<std::size_t>(cell) * n] -= mean;
}

void Poisson::initialise(const Sources& sources) {
  require_neutral(sources);
  solve(sources.charge, 0);
}

void Poisson::stage(const Stage& s, const Sources& before, const Sources& after) {
  for (std::size_t w = 0; w < floating_.size(); ++w)
    wall_charge_[s.out][w] = s.a * wall_charge_[s.base][w] + s.b * wall_charge_[s.in][w] + s.c * before.collected[w];
  solve(after.charge, s.out);
}

/// Field lines need two ends: where no wall has a fixed potential, walls and plasma are neutral together.
void Poisson::require_neutral(const Sources& sources) const {
  if (!neutral_ || floating_.empty()) return;
  double total = grid_.integral(sources.charge.data());
  for (double q : wall_charge_[0]) total += q;
  if (std::abs(total) > 1e-3 * sources.carried)
    throw InputError(
        fmt::format("no wall has a fixed potential, so plasma and floating walls must be neutral together, but they "
                    "have the charge {:.4g} (their particles, without signs: {:.4g}); give the missing species or "
                    "'background', or a wall its potential",
                    total, sources.carried));
}

static std::string side_name(const WallSide& side) {
  return fmt::format("{}_{}", side.high ? "upper" : "lower", "xyz"[side.dimension]);
}

std::vector<FieldModel::Reading> Poisson::readings() const {
  std::vector<Reading> out;
  for (std::size_t w = 0; w < floating_.size(); ++w) {
    out.push_back({"wall_potential_" + side_name(floating_[w]), "potential of the floating wall", wall_potential_[w]});
    out.push_back(
        {"wall_charge_" + side_name(floating_[w]), "charge that the floating wall has absorbed", wall_charge_[0][w]});
  }
  return out;
}

void Poisson::save(io::Group& group) const {
  if (!floating_.empty()) group.write("field/wall_charge", wall_charge_[0]);
}

void Poisson::load(const io::Group& group, const Sources& sources) {
  if (!floating_.empty()) wall_charge_[0] = group.read<std::vector<double>>("field/wall_charge");
  solve(sources.charge, 0);
}

void Poisson::start_from(const io::Group& file, const Find&, const Sources& sources) {
  if (!floating_.empty() && file.exists("field/wall_charge")) {
    const auto stored = file.read<std::vector<double>>("field/wall_charge");
    if (stored.size() != floating_.size())
      throw InputError(fmt::format("start_from: {} walls floated there and {} do here; give the same walls",
                                   stored.size(), floating_.size()));
    wall_charge_[0] = stored;
  }
  initialise(sources);
}

double Poisson::electric_energy(int slot) const {
  double sum = 0.0;
  for (int d = 0; d < grid_.dimensions; ++d) sum += grid_.product_integral(e_[slot][d].data(), e_[slot][d].data());
  return 0.5 * epsilon0_ * sum;
}

std::vector<FieldModel::Named> Poisson::output() const {
  std::vector<Named> out{{"potential", phi_.data()}};
  const char* names[] = {"Ex", "Ey", "Ez"};
  for (int d = 0; d < grid_.dimensions; ++d) out.push_back({names[d], e_[0][d].data()});
  return out;
}

}  // namespace cambium::kinetic
