#include "plugins/kinetic/fields/poisson.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"

namespace cambium::kinetic {

/// Points without an element.
static const ConfGrid& flat(const ConfGrid& grid) {
  if (grid.dimensions > 2)
    throw InputError("vlasov_poisson solves for the potential in one or two dimensions; in three use vlasov_maxwell");
  return grid;
}

static bool periodic(const ConfGrid& grid) {
  bool out = true;
  for (int d = 0; d < grid.dimensions; ++d) out &= grid.low_wall[d] == Wall::periodic;
  return out;
}

/// For a plane with walls; null elsewhere.
static const WallUnknowns* unknowns_of(const std::optional<WallPoisson>& whole,
                                       const std::optional<StripPoisson>& strips) {
  if (strips) return &strips->unknowns();
  return whole ? &whole->unknowns() : nullptr;
}

Poisson::Poisson(const ConfGrid& grid, double epsilon0, const PotentialWalls& walls, const ConfRanks* ranks,
                 WallDrives drives)
    : grid_(flat(grid)), whole_(grid.whole()), ranks_(ranks), epsilon0_(epsilon0), element_(grid), given_(walls),
      voltages_(std::move(drives.voltages)), circuits_(std::move(drives.circuits)), phi_(grid.size()) {
  for (auto& slot : e_)
    for (int d = 0; d < grid.dimensions; ++d) slot[d].assign(grid.size(), 0.0);
  if (ranks_ && grid.dimensions == 1)
    line_.emplace(grid, element_, walls, *ranks_);
  else if (ranks_ && ranks_->row().size() > 1 && periodic(grid))
    plane_.emplace(grid_, element_, *ranks_);
  else if (ranks_ && ranks_->row().size() > 1)
    strips_.emplace(grid_, element_, walls, *ranks_);
  else if (periodic(grid))
    periodic_.emplace(whole_, element_);
  else
    walls_.emplace(whole_, element_, walls);
  if (line_) neutral_ = line_->neutral();
  if (const auto* unknowns = unknowns_of(walls_, strips_)) neutral_ = unknowns->neutral;
  for (auto& slot : wall_charge_) slot.assign(floating().size(), 0.0);
  wall_potential_.assign(floating().size(), 0.0);
  for (auto& slot : potential_of_slot_) slot = wall_potential_;
  find_frequency();
}

std::size_t Poisson::place_of(const WallSide& side) const {
  std::size_t w = 0;
  while (floating()[w].dimension != side.dimension || floating()[w].high != side.high) ++w;
  return w;
}

/// The potential of a wall per unit of its charge determines the frequency of its circuit.
void Poisson::find_frequency() {
  const std::vector<double> nothing(grid_.size(), 0.0);
  for (std::size_t k = 0; k < circuits_.all().size(); ++k) {
    const std::size_t w = place_of(circuits_.all()[k].wall);
    solve(nothing, 0);
    const double before = wall_potential_[w];
    wall_charge_[0][w] = 1.0;
    solve(nothing, 0);
    wall_charge_[0][w] = 0.0;
    frequency_ += circuits_.frequency(k, wall_potential_[w] - before);
  }
}

void Poisson::set_voltages() {
  for (const auto& [wall, voltage] : voltages_) {
    (wall.high ? given_.upper : given_.lower)[wall.dimension].potential = voltage(time_);
    if (line_) line_->set_potential(wall.high, voltage(time_));
  }
  if (voltages_.empty()) return;
  if (walls_) walls_->set_potentials(element_, given_);
  if (strips_) strips_->set_potentials(element_, given_);
}

std::span<const WallSide> Poisson::floating() const {
  if (line_) return line_->floating();
  const auto* unknowns = unknowns_of(walls_, strips_);
  return unknowns ? std::span<const WallSide>(unknowns->floating) : std::span<const WallSide>();
}

/// For plasma and walls over the volume, where no wall has a fixed potential.
double Poisson::mean_charge(const std::vector<double>& charge, int slot) const {
  if (!neutral_) return 0.0;
  double volume = whole_.count();
  for (int d = 0; d < grid_.dimensions; ++d) volume *= grid_.width[d];
  double mean = sum(grid_.integral(charge.data())) / volume;
  for (double q : wall_charge_[slot]) mean += q / volume;
  return mean;
}

std::vector<double> Poisson::loads(const ConfGrid& grid, const std::vector<double>& charge, double mean) const {
  const auto n = static_cast<std::size_t>(grid.modes()), local = element_.nodes.size();
  double jacobian = 1.0, one = 1.0;
  for (int d = 0; d < grid.dimensions; ++d) {
    jacobian *= 0.5 * grid.width[d];
    one *= std::sqrt(2.0);
  }
  std::vector<double> out;
  for (std::size_t cell = 0; cell < static_cast<std::size_t>(grid.count()); ++cell)
    for (std::size_t i = 0; i < local; ++i) {
      double load = -mean * one * element_.shape[i * n];
      for (std::size_t k = 0; k < n; ++k) load += element_.shape[i * n + k] * charge[cell * n + k];
      out.push_back(load * (jacobian / epsilon0_));
    }
  return out;
}

std::vector<double> Poisson::solve_whole(const std::vector<double>& loads, int slot) {
  using Complex = PeriodicPoisson::Complex;
  const auto& nodes = element_.nodes;
  const int local = static_cast<int>(nodes.size());
  std::vector<std::vector<Complex>> right(element_.kinds, std::vector<Complex>(periodic_ ? whole_.count() : 0, 0.0));
  std::vector<double> line(walls_ ? walls_->size() : 0, 0.0), out;
  auto load = loads.begin();
  for (int cell = 0; cell < whole_.count(); ++cell)
    for (int i = 0; i < local; ++i, ++load)
      if (periodic_)
        right[nodes[i].kind][periodic_->owner(cell, nodes[i])] += *load;
      else
        line[walls_->number(cell, i)] += *load;
  if (periodic_)
    periodic_->solve(right);
  else
    walls_->solve(line, wall_charge_[slot], epsilon0_, wall_potential_);
  for (int own = 0; own < grid_.count(); ++own) {
    const int cell = whole_.index(grid_.place(own));
    for (int i = 0; i < local; ++i)
      out.push_back(periodic_ ? right[nodes[i].kind][periodic_->owner(cell, nodes[i])].real()
                              : line[walls_->number(cell, i)]);
  }
  return out;
}

/// The expansions of a potential that is known at the nodes of each cell, and of its field.
void Poisson::keep(const std::vector<double>& at_nodes, int slot) {
  const int n = grid_.modes(), local = static_cast<int>(element_.nodes.size());
  for (int cell = 0; cell < grid_.count(); ++cell) {
    double* phi = &phi_[static_cast<std::size_t>(cell) * n];
    for (int k = 0; k < n; ++k) phi[k] = 0.0;
    for (int i = 0; i < local; ++i)
      for (int k = 0; k < n; ++k)
        phi[k] += at_nodes[static_cast<std::size_t>(cell) * local + i] * element_.shape[i * n + k];
    for (int d = 0; d < grid_.dimensions; ++d) {
      double* e = &e_[slot][d][static_cast<std::size_t>(cell) * n];
      for (int k = 0; k < n; ++k) e[k] = 0.0;
      element_.slope[d].add(-1.0, phi, e);
    }
  }
}

void Poisson::solve(const std::vector<double>& charge, int slot) {
  const Region region("Poisson equation", WorkKind::elementwise);
  set_voltages();
  const double mean = mean_charge(charge, slot);
  if (line_) {
    auto values = loads(grid_, charge, mean);
    line_->solve(values, wall_charge_[slot], epsilon0_, wall_potential_);
    keep(values, slot);
  } else if (plane_) {
    keep(plane_->solve(loads(grid_, charge, mean)), slot);
  } else if (strips_) {
    keep(strips_->solve(loads(grid_, charge, mean), wall_charge_[slot], epsilon0_, wall_potential_), slot);
  } else {
    keep(solve_whole(loads(whole_, charge, mean), slot), slot);
  }
  const auto* unknowns = unknowns_of(walls_, strips_);
  if ((unknowns && unknowns->constant_is_free) || (line_ && line_->constant_is_free())) centre_potential();
  potential_of_slot_[slot] = wall_potential_;
}

/// Only planes of symmetry: the mean of the potential is zero.
void Poisson::centre_potential() {
  const int n = grid_.modes();
  double mean = 0.0;
  for (int cell = 0; cell < grid_.count(); ++cell) mean += phi_[static_cast<std::size_t>(cell) * n] / whole_.count();
  mean = sum(mean);
  for (int cell = 0; cell < grid_.count(); ++cell) phi_[static_cast<std::size_t>(cell) * n] -= mean;
}

void Poisson::initialise(const Sources& sources) {
  require_neutral(sources);
  time_ = sources.time;
  solve(sources.charge, 0);
}

void Poisson::stage(const Stage& s, const Sources& before, const Sources& after) {
  for (std::size_t w = 0; w < floating().size(); ++w)
    wall_charge_[s.out][w] = s.a * wall_charge_[s.base][w] + s.b * wall_charge_[s.in][w] + s.c * before.collected[w];
  std::vector<double> potentials;
  for (std::size_t k = 0; k < circuits_.all().size(); ++k) {
    const std::size_t w = place_of(circuits_.all()[k].wall);
    potentials.push_back(potential_of_slot_[s.in][w]);
    wall_charge_[s.out][w] += s.c * circuits_.current(k, s.in, potentials[k], before.time);
  }
  circuits_.stage(s, potentials, before.time);
  time_ = after.time;
  solve(after.charge, s.out);
}

/// Field lines need two ends: where no wall has a fixed potential, walls and plasma are neutral together.
void Poisson::require_neutral(const Sources& sources) const {
  if (!neutral_ || floating().empty()) return;
  double total = sum(grid_.integral(sources.charge.data()));
  for (double q : wall_charge_[0]) total += q;
  if (std::abs(total) > 1e-3 * sources.carried)
    throw KeyError(
        "vlasov_poisson.neutral", "wall_potential",
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
  for (std::size_t w = 0; w < floating().size(); ++w) {
    out.push_back({"wall_potential_" + side_name(floating()[w]), "potential of the floating wall", wall_potential_[w]});
    out.push_back({"wall_charge_" + side_name(floating()[w]), "charge of the floating wall", wall_charge_[0][w]});
  }
  for (std::size_t k = 0; k < circuits_.all().size(); ++k) {
    const WallSide& side = circuits_.all()[k].wall;
    out.push_back({"circuit_current_" + side_name(side), "current from the circuit into the wall",
                   circuits_.current(k, 0, potential_of_slot_[0][place_of(side)], time_)});
  }
  return out;
}

void Poisson::save(io::Group& group) const {
  if (!floating().empty()) group.write("field/wall_charge", wall_charge_[0]);
  circuits_.save(group);
}

void Poisson::load(const io::Group& group, const Sources& sources) {
  if (!floating().empty()) wall_charge_[0] = group.read<std::vector<double>>("field/wall_charge");
  circuits_.load(group);
  time_ = sources.time;
  solve(sources.charge, 0);
}

void Poisson::start_from(const io::Group& file, const Find&, const Sources& sources) {
  if (!floating().empty() && file.exists("field/wall_charge")) {
    const auto stored = file.read<std::vector<double>>("field/wall_charge");
    if (stored.size() != floating().size())
      throw KeyError("kinetic.start_from.walls", "",
                     fmt::format("start_from: {} walls floated there and {} do here; give the same walls",
                                 stored.size(), floating().size()));
    wall_charge_[0] = stored;
    circuits_.load(file);
  }
  initialise(sources);
}

double Poisson::electric_energy(int slot) const {
  double squares = 0.0;
  for (int d = 0; d < grid_.dimensions; ++d) squares += grid_.product_integral(e_[slot][d].data(), e_[slot][d].data());
  return 0.5 * epsilon0_ * sum(squares);
}

std::vector<FieldModel::Named> Poisson::output() const {
  std::vector<Named> out{{"potential", phi_.data()}};
  const char* names[] = {"Ex", "Ey", "Ez"};
  for (int d = 0; d < grid_.dimensions; ++d) out.push_back({names[d], e_[0][d].data()});
  return out;
}

}  // namespace cambium::kinetic
