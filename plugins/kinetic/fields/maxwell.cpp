#include "plugins/kinetic/fields/maxwell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "plugins/kinetic/fields/cells_file.hpp"

namespace cambium::kinetic {

static const char* component_names[] = {"Ex", "Ey", "Ez", "Bx", "By", "Bz", "phi", "psi"};

Maxwell::Maxwell(const ConfGrid& grid, const Options& options, const ConfRanks* ranks, std::optional<ConfHalo> halo)
    : grid_(grid), options_(options), ranks_(ranks) {
  if (halo && halo->any()) halo_ = std::move(halo);
  for (auto& slot : field_)
    for (auto& c : slot) c.assign(grid.size(), 0.0);
  if (any_open())
    for (auto& c : outside_) c.assign(grid.size(), 0.0);
  const double c2 = options.light_speed * options.light_speed;
  for (int d = 0; d < grid.dimensions; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;  // curl: (d, e, f) is a right-handed triple
    terms_.push_back({d, Ex + e, Bx + f, -c2});
    terms_.push_back({d, Ex + f, Bx + e, c2});
    terms_.push_back({d, Bx + e, Ex + f, 1.0});
    terms_.push_back({d, Bx + f, Ex + e, -1.0});
    if (options.clean_electric > 0.0) {
      terms_.push_back({d, Ex + d, phi, -options.clean_electric * c2});
      terms_.push_back({d, phi, Ex + d, -options.clean_electric});
    }
    if (options.clean_magnetic > 0.0) {
      terms_.push_back({d, Bx + d, psi, -options.clean_magnetic});
      terms_.push_back({d, psi, Bx + d, -options.clean_magnetic * c2});
    }
  }
  make_operators();
}

/// Weak derivative with mean values at the faces: with q+ and q- the traces at the ends of a cell,
///   (dq/dx)_k = (2/dx) [ -integral(chi_k' q) + chi_k(+1) (q+ + q_high-)/2 - chi_k(-1) (q- + q_low+)/2 ].
void Maxwell::make_operators() {
  for (int d = 0; d < grid_.dimensions; ++d)
    for (int k = 0; k < grid_.modes(); ++k)
      for (int m = 0; m < grid_.modes(); ++m) {
        bool same = true;
        for (int e = 0; e < grid_.dimensions; ++e) same &= e == d || grid_.exponents[k][e] == grid_.exponents[m][e];
        if (!same) continue;
        const int a = grid_.exponents[k][d], b = grid_.exponents[m][d];
        const double norm = std::sqrt((2.0 * a + 1) * (2.0 * b + 1)) / 2.0, scale = 2.0 / grid_.width[d];
        const double sa = a % 2 ? -1.0 : 1.0, sb = b % 2 ? -1.0 : 1.0;  // chi(-1) / chi(+1)
        const double volume = a > b && (a - b) % 2 ? 2.0 * norm : 0.0;
        Operators& o = operators_[d];
        auto put = [&](SparseMatrix& matrix, double value) {
          if (value != 0.0) matrix.entries.push_back({k, m, scale * value});
        };
        put(o.own, -volume + 0.5 * norm * (1.0 - sa * sb));
        put(o.high, 0.5 * norm * sb);
        put(o.low, -0.5 * norm * sa);
        put(o.jump_own, -0.5 * norm * (1.0 + sa * sb));
        put(o.jump_high, 0.5 * norm * sb);
        put(o.jump_low, 0.5 * norm * sa);
        put(o.own_at_low, -0.5 * norm * sa * sb);
        put(o.own_at_high, -0.5 * norm);
      }
}

const double* Maxwell::beyond(int cell, int d, int step, int component, int slot, std::vector<double>& image) const {
  const int next = grid_.neighbour(cell, d, step), n = grid_.modes();
  const auto& field = field_[slot][component];
  if (next >= grid_.count()) return &ghost_[component][static_cast<std::size_t>(next - grid_.count()) * n];
  if (next >= 0) return &field[static_cast<std::size_t>(next) * n];
  // The mirror image has on the face what the cell has there: of the fields at first beyond an open wall; of the fields
  // now beyond a perfect conductor, with signs so that tangential E and normal B vanish.
  const bool outside = open(d, step > 0);
  const double* own = (outside ? outside_[component] : field).data() + static_cast<std::size_t>(cell) * n;
  const bool odd = !outside && (component < Bx    ? component - Ex != d
                                : component < phi ? component - Bx == d
                                                  : component == phi);
  image.resize(n);
  for (int k = 0; k < n; ++k) image[k] = own[k] * ((grid_.exponents[k][d] % 2 != 0) != odd ? -1.0 : 1.0);
  return image.data();
}

bool Maxwell::open(int d, bool high) const {
  const Wall wall = high ? grid_.high_wall[d] : grid_.low_wall[d];
  return wall == Wall::absorb || wall == Wall::copy;
}

bool Maxwell::any_open() const {
  bool any = false;
  for (int d = 0; d < grid_.dimensions; ++d) any |= open(d, false) || open(d, true);
  return any;
}

void Maxwell::remember_outside() {
  if (any_open())
    for (int c = 0; c < components; ++c) outside_[c] = field_[0][c];
}

void Maxwell::differentiate(const Term& term, int slot, std::vector<double>& out) const {
  const Operators& o = operators_[term.dimension];
  const int n = grid_.modes();
  std::vector<double> image;
  for (int cell = 0; cell < grid_.count(); ++cell) {
    double* to = &out[static_cast<std::size_t>(cell) * n];
    o.own.add(term.factor, &field_[slot][term.source][static_cast<std::size_t>(cell) * n], to);
    o.low.add(term.factor, beyond(cell, term.dimension, -1, term.source, slot, image), to);
    o.high.add(term.factor, beyond(cell, term.dimension, 1, term.source, slot, image), to);
  }
}

double Maxwell::jump_speed(int d, int component) const {
  if (component == phi || component == Ex + d) return options_.clean_electric * options_.light_speed;
  if (component == psi || component == Bx + d) return options_.clean_magnetic * options_.light_speed;
  return options_.light_speed;
}

void Maxwell::penalise(int d, int component, double speed, int slot, std::vector<double>& out) const {
  const Operators& o = operators_[d];
  const int n = grid_.modes();
  std::vector<double> image;
  for (int cell = 0; cell < grid_.count(); ++cell) {
    double* to = &out[static_cast<std::size_t>(cell) * n];
    o.jump_own.add(speed, &field_[slot][component][static_cast<std::size_t>(cell) * n], to);
    o.jump_low.add(speed, beyond(cell, d, -1, component, slot, image), to);
    o.jump_high.add(speed, beyond(cell, d, 1, component, slot, image), to);
  }
}

/// Only the faces on open walls.
void Maxwell::penalise_open_walls(int d, int component, double speed, int slot, std::vector<double>& out) const {
  const Operators& o = operators_[d];
  const int n = grid_.modes();
  std::vector<double> image;
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (bool high : {false, true}) {
      if (!open(d, high) || grid_.place(cell)[d] != (high ? grid_.cells[d] - 1 : 0)) continue;
      double* to = &out[static_cast<std::size_t>(cell) * n];
      (high ? o.own_at_high : o.own_at_low)
          .add(speed, &field_[slot][component][static_cast<std::size_t>(cell) * n], to);
      (high ? o.jump_high : o.jump_low).add(speed, beyond(cell, d, high ? 1 : -1, component, slot, image), to);
    }
}

void Maxwell::derivative(int slot, std::vector<double> (&out)[components]) const {
  for (auto& c : out) c.assign(grid_.size(), 0.0);
  for (const auto& term : terms_) differentiate(term, slot, out[term.target]);
  for (int d = 0; d < grid_.dimensions; ++d)
    for (int c = 0; c < components; ++c) {
      const double speed = jump_speed(d, c);
      if (speed == 0.0) continue;
      if (options_.upwind)
        penalise(d, c, speed, slot, out[c]);
      else if (open(d, false) || open(d, true))
        penalise_open_walls(d, c, speed, slot, out[c]);
    }
}

void Maxwell::exchange(int slot) {
  if (!halo_) return;
  const auto told = static_cast<std::size_t>(told_components(options_));
  halo_->exchange(std::span<const std::vector<double>>(field_[slot], told),
                  std::span<std::vector<double>>(ghost_, told));
}

bool Maxwell::neutralises() const {
  bool all = true;
  for (int d = 0; d < grid_.dimensions; ++d) all &= grid_.low_wall[d] == Wall::periodic;
  return all;
}

std::vector<double> Maxwell::divergence() {
  exchange(0);
  std::vector<double> out(grid_.size(), 0.0);
  for (int d = 0; d < grid_.dimensions; ++d) differentiate({d, phi, Ex + d, 1.0}, 0, out);
  return out;
}

void Maxwell::stage(const Stage& s, const Sources& before, const Sources&) {
  std::vector<double> rate[components];
  if (options_.driven) {
    exchange(s.in);
    derivative(s.in, rate);
    for (int c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < before.current[c].size(); ++k)
        rate[Ex + c][k] -= before.current[c][k] / options_.epsilon0;
    if (options_.clean_electric > 0.0)
      for (std::size_t k = 0; k < rate[phi].size(); ++k)
        rate[phi][k] += options_.clean_electric * before.charge[k] / options_.epsilon0;
  }
  for (int c = 0; c < components; ++c)
    for (std::size_t k = 0; k < grid_.size(); ++k) {
      const double change = options_.driven ? s.c * rate[c][k] : 0.0;
      const double base = s.a == 0.0 ? 0.0 : s.a * field_[s.base][c][k];
      field_[s.out][c][k] = base + s.b * field_[s.in][c][k] + change;
    }
}

double Maxwell::square(int slot, int first) const {
  double sum = 0.0;
  for (int c = first; c < first + 3; ++c) sum += grid_.product_integral(field_[slot][c].data(), field_[slot][c].data());
  return ranks_ ? ranks_->row().sum(sum) : sum;
}

/// Cell by cell, since the difference of the two energies has no digits left where the mean is much the larger.
double Maxwell::magnetic_wave_energy(int slot) const {
  const auto n = static_cast<std::size_t>(grid_.modes());
  std::vector<double> mean(3, 0.0);  // of the first coefficients
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < grid_.size(); k += n) mean[c] += field_[slot][Bx + c][k] / grid_.whole_count();
  if (ranks_) ranks_->row().sum(mean);
  double sum = 0.0;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> wave = field_[slot][Bx + c];
    for (std::size_t k = 0; k < wave.size(); k += n) wave[k] -= mean[c];
    sum += grid_.product_integral(wave.data(), wave.data());
  }
  if (ranks_) sum = ranks_->row().sum(sum);
  return 0.5 * options_.epsilon0 * options_.light_speed * options_.light_speed * sum;
}

double Maxwell::frequency() const {
  if (!options_.driven) return 0.0;
  const double fastest = options_.light_speed * std::max({1.0, options_.clean_electric, options_.clean_magnetic});
  double sum = 0.0;
  for (int d = 0; d < grid_.dimensions; ++d) sum += (2 * grid_.highest() + 1) * fastest / grid_.width[d];
  return sum;
}

std::vector<FieldModel::Named> Maxwell::output() const {
  std::vector<Named> out;
  for (int c = 0; c < phi; ++c) out.push_back({component_names[c], field_[0][c].data()});
  return out;
}

void Maxwell::save(io::Group& group) const {
  const auto write = [&](const std::string& name, const std::vector<double>& own) {
    if (ranks_)
      write_cells(group, "field/" + name, *ranks_, grid_, own, grid_.modes());
    else
      group.write("field/" + name, own);
  };
  for (int c = 0; c < components; ++c) {
    write(component_names[c], field_[0][c]);
    if (any_open()) write(std::string("outside_") + component_names[c], outside_[c]);
  }
}

void Maxwell::load(const io::Group& group, const Sources&) {
  remember_outside();  // those of the deck; a checkpoint from before open walls had them stored none
  const auto read = [&](const std::string& name) {
    const std::int64_t found = group.dataset("field/" + name).elements(),
                       count = std::int64_t{grid_.whole_count()} * grid_.modes();
    if (found != count)
      throw InputError(
          fmt::format("'{}': the field {} holds {} values, expected {}; the file is damaged or was changed, resume "
                      "from another one",
                      group.file(), name, found, count));
    return read_cells(group, "field/" + name, grid_, grid_.modes());
  };
  for (int c = 0; c < components; ++c) {
    const std::string name = component_names[c];
    field_[0][c] = read(name);
    if (any_open() && group.exists("field/outside_" + name)) outside_[c] = read("outside_" + name);
  }
}

void Maxwell::start_from(const io::Group&, const Find& find, const Sources&) {
  for (int c = 0; c < components; ++c)
    if (auto values = find(std::string("field/") + component_names[c])) field_[0][c] = std::move(*values);
  remember_outside();
  for (int c = 0; c < components && any_open(); ++c)
    if (auto values = find(std::string("field/outside_") + component_names[c])) outside_[c] = std::move(*values);
}

}  // namespace cambium::kinetic
