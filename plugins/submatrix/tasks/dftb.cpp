#include "plugins/submatrix/tasks/dftb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/constants.hpp"
#include "core/io/csv.hpp"
#include "core/particles/elements.hpp"
#include "core/plugin/check.hpp"
#include "plugins/submatrix/dftb/citations.hpp"

namespace cambium::submatrix {

namespace {

using constants::angstrom_per_bohr;
constexpr double force_unit = ev_per_hartree / angstrom_per_bohr;
constexpr double debye_per_e_bohr = 2.541746473;  // CODATA 2018: e a0 over 1e-21 C m^2/s / c

}  // namespace

void DftbTask::examine(Check& check) {
  check.will_write({"atoms.csv", {Origin::stage, "dftb"}});
  if (!check.stage().tried) return;
  check.require_written_by("structure.file", params_.structure.file,
                           {{Origin::output, "extxyz"}, {Origin::physics, "md"}});
  if (check.waits(params_.structure.file)) return;
  const auto species = species_of(params_.structure, {}, check.context());
  if (!species) return;
  const DftbParameters parameters(params_.slater_koster, params_.shells, params_.repulsion, *species);
  if (params_.spin) spin_constants(*params_.spin, parameters.elements());
  if (params_.dispersion) dispersion_pairs(*params_.dispersion, parameters.elements());
}

Task::Outcome DftbTask::run(Context& context) {
  params_.structure.velocities = false;
  const Particles particles = build_structure(params_.structure, {}, context, &axes_);
  const DftbParameters parameters(params_.slater_koster, params_.shells, params_.repulsion, particles.species);
  const DftbAtoms atoms = gather_atoms(particles, params_.periodic, context.comm);
  for (const int type : atoms.type) symbol_.push_back(particles.species[type].symbol);
  volume_ = particles.box.volume();
  {
    const auto timer = context.timing.scope("dftb");
    state_ = ground_state(atoms, parameters, params_, context);
  }
  write(atoms, particles, context);
  return Outcome::done;
}

void DftbTask::write(const DftbAtoms& atoms, const Particles& particles, Context& context) const {
  if (!context.comm.root()) return;
  const auto timer = context.timing.scope("output");
  std::vector<io::Column> head{{"atom", "", "id in the structure"}, {"atomic_number", "", ""}};
  for (const char* axis : {"x", "y", "z"}) head.push_back({axis, "angstrom", "position"});
  head.push_back({"charge", "e", "Mulliken charge: electrons of the neutral atom less those found"});
  for (const char* shell : {"s", "p", "d"})
    head.push_back({fmt::format("electrons_{}", shell), "", "Mulliken electrons of the shell"});
  for (const char* axis : {"force_x", "force_y", "force_z"}) head.push_back({axis, "eV/angstrom", "force"});
  if (params_.spin) {
    head.push_back({"spin", "", "Mulliken electrons of spin up less those of spin down"});
    for (const char* shell : {"s", "p", "d"})
      head.push_back({fmt::format("spin_{}", shell), "", "the same of the shell"});
  }
  std::vector<std::vector<double>> columns(head.size());
  for (std::size_t a = 0; a < symbol_.size(); ++a) {
    std::array<double, 3> x, f;
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = atoms.x[3 * a + k] * angstrom_per_bohr - particles.box.origin[k];
      f[k] = state_->forces[3 * a + k] * force_unit;
    }
    x = axes_.vector(x.data());
    f = axes_.vector(f.data());
    std::vector<double> row{static_cast<double>(atoms.tag[a]),
                            static_cast<double>(atomic_number(symbol_[a])),
                            x[0],
                            x[1],
                            x[2],
                            -state_->excess[a],
                            state_->shells[3 * a],
                            state_->shells[3 * a + 1],
                            state_->shells[3 * a + 2],
                            f[0],
                            f[1],
                            f[2]};
    if (params_.spin) {
      row.push_back(state_->spins[a]);
      for (std::size_t l = 0; l < 3; ++l) row.push_back(state_->spin_shells[3 * a + l]);
    }
    for (std::size_t c = 0; c < row.size(); ++c) columns[c].push_back(row[c]);
  }
  io::write_csv((std::filesystem::path(context.run_directory) / "atoms.csv").string(), head, columns);
}

/// Results of a spin-polarised calculation only.
static void add_spin_results(const DftbState& s, std::vector<Result>& out) {
  double magnetisation = 0.0, sizes = 0.0;
  for (const double spin : s.spins) {
    magnetisation += spin;
    sizes += std::abs(spin);
  }
  out.push_back({.key = "spin_energy", .label = "energy of spins", .value = s.spin, .unit = "hartree", .digits = 12});
  out.push_back({.key = "magnetisation",
                 .label = "magnetisation, electrons of spin up less those of spin down",
                 .value = magnetisation,
                 .digits = 10});
  out.push_back({.key = "absolute_magnetisation",
                 .label = "sum of the sizes of the spins of atoms",
                 .value = sizes,
                 .digits = 10});
  out.push_back({.key = "fermi_level_down",
                 .label = "Fermi level of spin down",
                 .value = s.mu_down * ev_per_hartree,
                 .unit = "eV"});
}

std::vector<Result> DftbTask::results() const {
  constexpr int all = 12;
  const DftbState& s = *state_;
  std::vector<Result> out{
      {.key = "total_energy", .label = "total energy", .value = s.total, .unit = "hartree", .digits = all},
      {.key = "mermin_energy", .label = "Mermin free energy", .value = s.mermin, .unit = "hartree", .digits = all},
      {.key = "extrapolated_energy",
       .label = "energy extrapolated to 0 K",
       .value = s.total + 0.5 * s.entropy_term,
       .unit = "hartree",
       .digits = all},
      {.key = "band_energy", .label = "band energy", .value = s.band, .unit = "hartree", .digits = all},
      {.key = "uncharged_energy", .label = "energy H0", .value = s.uncharged, .unit = "hartree", .digits = all},
      {.key = "second_order_energy", .label = "energy SCC", .value = s.second_order, .unit = "hartree", .digits = all},
      {.key = "third_order_energy", .label = "energy 3rd", .value = s.third_order, .unit = "hartree", .digits = all},
      {.key = "repulsive_energy", .label = "repulsive energy", .value = s.repulsive, .unit = "hartree", .digits = all},
      {.key = "fermi_level", .label = "Fermi level", .value = s.mu * ev_per_hartree, .unit = "eV"},
      {.key = "gap", .label = "gap", .value = (s.lumo - s.homo) * ev_per_hartree, .unit = "eV"},
      {.key = "electrons", .label = "electrons", .value = s.electrons, .digits = 10},
      {.key = "cycles", .label = "self-consistency cycles", .value = static_cast<double>(s.cycles)}};
  if (params_.dispersion)
    out.push_back({.key = "dispersion_energy",
                   .label = "dispersion energy",
                   .value = s.dispersion,
                   .unit = "hartree",
                   .digits = all});
  if (params_.spin) add_spin_results(s, out);
  double largest = 0.0;
  for (double f : s.forces) largest = std::max(largest, std::abs(f) * force_unit);
  out.push_back({.key = "largest_force", .label = "largest force component", .value = largest, .unit = "eV/angstrom"});
  if (s.dipole) {
    const auto& d = *s.dipole;
    out.push_back({.key = "dipole",
                   .label = "dipole moment",
                   .value = debye_per_e_bohr * std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]),
                   .unit = "debye"});
  }
  if (params_.periodic)
    out.push_back({.key = "pressure",
                   .label = "pressure",
                   .value = (s.virial[0] + s.virial[4] + s.virial[8]) / 3.0 * ev_per_hartree / volume_ *
                            constants::bar_per_ev_per_a3,
                   .unit = "bar"});
  if (s.error)
    out.push_back({.key = "energy_error",
                   .label = "estimated error of the band energy",
                   .value = -1000.0 * ev_per_hartree * s.error->energy_change,
                   .unit = "meV/atom",
                   .uncertainty = 1000.0 * ev_per_hartree * s.error->margin / 1.96});
  return out;
}

std::vector<std::string> DftbTask::lines() const {
  const DftbState& s = *state_;
  std::vector<std::string> out{fmt::format("{} atoms, {} functions, {}", s.excess.size(), s.functions,
                                           params_.solver == DftbKeys::Solver::dense
                                               ? fmt::format("{} k-points", s.k_points)
                                           : params_.solver == DftbKeys::Solver::purification
                                               ? "purification"
                                               : fmt::format("submatrices of {:.0f} functions", s.mean_dimension))};
  constexpr std::size_t most = 30;
  if (s.excess.size() > most) return out;
  out.push_back(params_.spin ? "atom      charge [e]        spin  force [eV/angstrom]"
                             : "atom      charge [e]  force [eV/angstrom]");
  for (std::size_t a = 0; a < s.excess.size(); ++a) {
    std::array<double, 3> f;
    for (std::size_t k = 0; k < 3; ++k) f[k] = s.forces[3 * a + k] * force_unit;
    f = axes_.vector(f.data());
    const std::string spin = params_.spin ? fmt::format(" {:>11.6f}", s.spins[a]) : "";
    out.push_back(fmt::format("{:>4} {:<3} {:>11.6f}{}  {:>10.6f} {:>10.6f} {:>10.6f}", a + 1, symbol_[a], -s.excess[a],
                              spin, f[0], f[1], f[2]));
  }
  return out;
}

std::vector<Citation> DftbTask::citations() const { return dftb_citations(params_); }

}  // namespace cambium::submatrix
