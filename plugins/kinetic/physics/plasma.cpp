#include "plugins/kinetic/physics/plasma.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/kinetic/species/regrid.hpp"
#include "plugins/kinetic/species/totals.hpp"

namespace cambium::kinetic {

/// Where parameters of the deck take the place of densities and temperatures in frequencies and rates.
static void warn_of_hidden_names(const CommonParams& params, Log& log) {
  const auto values = params.values();
  std::vector<std::string> all;
  for (const auto& s : params.species) {
    for (const char* of : {"n_", "T_"}) all.push_back(of + s.name);
    if (s.collisions)
      warn_of_hidden(s.collisions->frequency, fmt::format("species '{}': the collision frequency", s.name), {"n", "T"},
                     values, log);
  }
  for (const auto& pair : params.collisions)
    warn_of_hidden(pair.frequency, fmt::format("collisions of '{}'", fmt::join(pair.species, "' with '")), all, values,
                   log);
  for (const auto& reaction : params.reactions) warn_of_hidden(reaction.rate, "reactions: the rate", all, values, log);
}

Plasma::Plasma(const CommonParams& params, Context& context) : common_(params), context_(context) {
  if (const auto problem = problem_of_names(params.species, params.fluid_species); !problem.empty())
    throw KeyError("kinetic.species.names", "species", problem);
  for (const auto& s : params.species) species_.push_back(std::make_unique<Species>(params, s, context.comm));
  exchanges_ = std::make_unique<Exchanges>(params, species_, context);
  add_fluids();
  warn_of_hidden_names(params, context.log);
}

void Plasma::add_fluids() {
  if (!common_.fluid_species.empty() && !common_.start_from.empty())
    throw KeyError("kinetic.fluid.start_from", "start_from",
                   "start_from: fluid species cannot begin from another run; remove 'fluid_species' or 'start_from'");
  const PhaseGrid& grid = species_.front()->solver().grid();
  for (std::size_t k = 0; k < common_.fluid_species.size(); ++k)
    deck::about_key("", deck::child_path("fluid_species", k), [&] {
      fluids_.push_back(
          std::make_unique<Fluid>(common_.fluid_species[k], common_.values(), conf(), common_.basis.order, &ranks()));
      fluids_.back()->connect(grid, context_.comm);
    });
}

void Plasma::set_fields(std::unique_ptr<FieldModel> fields, double epsilon0) {
  fields_ = std::move(fields);
  epsilon0_ = epsilon0;
}

std::vector<ExternalField::Felt> Plasma::charged() const {
  std::vector<ExternalField::Felt> out;
  for (const auto& s : species_)
    if (s->charge() != 0.0) out.push_back({s->name(), s->solver().grid().vdim});
  for (const auto& s : fluids_)
    if (s->charge() != 0.0) out.push_back({s->name(), 3});
  return out;
}

void Plasma::set_external(const FieldFormulas& formulas) {
  external_ =
      deck::about_key("kinetic.formula", "external", [&] { return ExternalField(conf(), formulas, common_.values()); });
  external_.require_felt(charged(), context_.log);
}

void Plasma::set_background(const std::string& text) {
  if (text.empty()) return;
  const auto formula = deck::about_key("kinetic.formula", "background", [&] {
    return Formula(text, conf_variables(conf().dimensions), common_.values());
  });
  background_ = project_conf(conf(), formula, 0.0);
}

void Plasma::initialise() {
  exchanges_->prepare();
  for (std::size_t k = 0; k < fluids_.size(); ++k)
    deck::about_key("", deck::child_path("fluid_species", k), [&] { fluids_[k]->initialise(); });
  if (common_.start_from.empty()) {
    for (std::size_t k = 0; k < species_.size(); ++k)
      deck::about_key("kinetic.species", deck::child_path("species", k), [&] { species_[k]->initialise(context_); });
    if (fields_) fields_->initialise(sources_and_walls(0, 0.0));
  } else {
    deck::about_key("kinetic.start_from", "start_from", [&] { start_from(common_.start_from); });
  }
  warn_about_net_charge();
  warn_about_gauss();
  warn_about_debye_length();
}

void Plasma::start_from(const std::string& path) {
  const io::File whole = io::File::open(path);
  const io::Group file =
      whole.group(whole.exists("physics") ? "physics" : "/");  // of a checkpoint, of the writer 'distribution'
  for (auto& s : species_) s->start_from(file, context_);
  const StoredGrid grid(file.dataset(species_.front()->name() + "/f"));
  const auto find = [&](const std::string& name) -> std::optional<std::vector<double>> {
    if (!file.exists(name)) return {};
    return regrid_field(grid, file.read<std::vector<double>>(name), conf());
  };
  if (fields_) fields_->start_from(file, find, sources_and_walls(0, 0.0));
}

void Plasma::load(const io::Group& group, double time) {
  for (auto& s : species_) s->load(group);
  for (auto& s : fluids_) s->load(group);
  exchanges_->load(group);
  exchanges_->prepare();
  if (!fields_) return;
  Sources own = sources(0);
  own.time = time;
  fields_->load(group, own);
}

void Plasma::save(io::Group& group) const {
  for (const auto& s : species_) s->save(group);
  for (const auto& s : fluids_) s->save(group);
  exchanges_->save(group);
  if (fields_) fields_->save(group);
}

ForceField Plasma::force_on(const Species& s, int slot, double time, int which) {
  return force(s.charge() / s.mass(), slot, time, which);
}
ForceField Plasma::force_on(const Fluid& s, int slot, double time, int which) {
  return force(s.charge() / s.mass(), slot, time, which);
}

ForceField Plasma::force(double charge_over_mass, int slot, double time, int which) {
  ForceField force;
  force.charge_over_mass = charge_over_mass;
  force.upwind = common_.acceleration_flux == CommonParams::AccelerationFlux::upwind;
  for (int c = 0; c < 6; ++c) {
    const double* own = !fields_ ? nullptr : c < 3 ? fields_->electric(slot, c) : fields_->magnetic(slot, c - 3);
    const auto& given = external_.at(c, time);
    if (!given.empty()) {
      auto& total = total_[which][c] = given;
      for (std::size_t k = 0; own && k < given.size(); ++k) total[k] += own[k];
      own = total.data();
    }
    (c < 3 ? force.electric[c] : force.magnetic[c - 3]) = own;
  }
  return force;
}

bool Plasma::fuses() const {
  if (exchanges_->any() || (fields_ && !fields_->ahead())) return false;
  for (const auto& s : species_)
    if (s->solver().fusing() != Solver::Fusing::pays) return false;
  return true;
}

Sources Plasma::sources(int slot) const {
  Sources out;
  const ConfGrid& grid = conf();
  out.charge = background_.empty() ? std::vector<double>(grid.size(), 0.0) : background_;
  const int n = grid.modes();
  for (const auto& s : species_) {
    const int components = s->components();
    const auto& m = s->moments(slot);
    for (int c = 0; c < components - 2; ++c) out.current[c].resize(grid.size(), 0.0);
    for (int cell = 0; cell < grid.count(); ++cell)
      for (int k = 0; k < n; ++k) {
        const std::size_t row = static_cast<std::size_t>(cell) * components;
        out.charge[cell * n + k] += s->charge() * m[row * n + k];
        for (int c = 0; c < components - 2; ++c) out.current[c][cell * n + k] += s->charge() * m[(row + 1 + c) * n + k];
      }
  }
  for (const auto& s : fluids_) s->add_sources(slot, out.charge, out.current);
  return out;
}

Sources Plasma::sources_and_walls(int slot, double time) const {
  Sources out = sources(slot);
  out.time = time;
  if (!fields_ || fields_->collecting().empty()) return out;
  for (const auto& side : fields_->collecting()) {
    out.collected.push_back(exchanges_->collected(slot, side.dimension, side.high, time));
    if (ranks().column().root())
      for (const auto& s : fluids_) out.collected.back() += s->collected(slot, side);
  }
  context_.comm.sum(out.collected);
  for (const auto& s : species_) out.carried += std::abs(s->charge()) * conf().integral(s->moment(0, slot).data());
  for (const auto& s : fluids_) out.carried += std::abs(s->charge()) * s->totals()[0];
  out.carried = ranks().row().sum(out.carried);
  return out;
}

double Plasma::charge_without_signs() const {
  double sum = 0.0;
  for (const auto& s : species_) sum += std::abs(s->charge()) * conf().integral(s->moment(0, 0).data());
  for (const auto& s : fluids_) sum += std::abs(s->charge()) * s->totals()[0];
  return ranks().row().sum(sum);
}

/// Charges that the deck gives completely should add up to nothing where the mean is neutralised. A single species with
/// charge is meant to have a neutral background.
void Plasma::warn_about_net_charge() const {
  if (!fields_ || !fields_->neutralises()) return;
  int charged = 0;
  for (const auto& s : species_) charged += s->charge() != 0.0;
  for (const auto& s : fluids_) charged += s->charge() != 0.0;
  const double total = ranks().row().sum(conf().integral(sources(0).charge.data()));
  double without_signs = background_.empty() ? 0.0 : std::abs(conf().integral(background_.data()));
  without_signs = ranks().row().sum(without_signs) + charge_without_signs();
  if ((charged < 2 && background_.empty()) || std::abs(total) <= 1e-6 * without_signs) return;
  context_.log.warn(
      fmt::format("species and background have a net charge of {:.4g} ({:.3g} of their charges without signs), which a "
                  "uniform background neutralises; correct the densities, or add it to 'background'",
                  total, std::abs(total) / without_signs));
}

/// Maxwell's equations keep div E - rho/epsilon0 as it is at first, which is an immobile charge. A uniform one may be
/// meant; one that varies over the domain, as an E of 0 beside a density wave has it, rarely is. By means of cells: a
/// coarse E that fits has errors of a tenth.
void Plasma::warn_about_gauss() const {
  const auto divergence = fields_ ? fields_->divergence() : std::vector<double>();
  if (divergence.empty()) return;
  const auto charge = sources(0).charge;
  const auto n = static_cast<std::size_t>(conf().modes());
  const double cells = conf().whole_count();
  std::vector<double> sums(4, 0.0);  // of charge and of what is missing in epsilon0 div E, and of their squares
  for (std::size_t k = 0; k < charge.size(); k += n) {
    const double missing = charge[k] - epsilon0_ * divergence[k];
    sums[0] += charge[k] / cells;
    sums[1] += missing / cells;
  }
  ranks().row().sum(std::span<double>(sums.data(), 2));
  for (std::size_t k = 0; k < charge.size(); k += n) {
    sums[2] += std::pow(charge[k] - sums[0], 2) / cells;
    sums[3] += std::pow(charge[k] - epsilon0_ * divergence[k] - sums[1], 2) / cells;
  }
  ranks().row().sum(std::span<double>(sums.data() + 2, 2));
  const double to_mean = std::pow(0.5, 0.5 * conf().dimensions);  // of the first mode
  const double varying = to_mean * std::sqrt(sums[2]), missing = to_mean * std::sqrt(sums[3]);
  const double all = charge_without_signs() / (cells * conf().cell_volume());
  if (!(missing > 1e-5 * all) || missing <= 0.3 * varying) return;
  context_.log.warn(fmt::format(
      "fields: the initial E does not satisfy Gauss's law: epsilon0 div E and the charge density differ by {:.3g} "
      "(root mean square, without a uniform part; the charge density varies by {:.3g}), which stays in the fields as "
      "an immobile charge; give 'fields.E' with this charge density",
      missing, varying));
}

/// Of a fluid on all ranks, by the means over the domain.
static double debye_length_of(const Fluid& fluid, const ConfGrid& conf, double epsilon0, const Comm& row) {
  const auto totals = fluid.totals();
  const double particles = row.sum(totals.front()), pressure = row.sum(totals.back());
  const double density = particles / (conf.whole_count() * conf.cell_volume());
  return std::sqrt(epsilon0 * pressure / particles / (density * fluid.charge() * fluid.charge()));
}

void Plasma::warn_about_debye_length() const {
  if (!fields_) return;
  const int points = species_.front()->solver().basis().order + 1;
  const auto warn = [&](const std::string& name, double length) {
    for (int d = 0; d < conf().dimensions; ++d) {
      const double spacing = conf().width[d] / points;
      if (spacing <= length || !(length > 0.0)) continue;
      context_.log.warn(
          fmt::format("species '{}': the Debye length {:.3g} is not resolved in dimension {}: cells of width {:.3g} "
                      "with {} degrees of freedom each; use at least {} cells to resolve it",
                      name, length, d + 1, conf().width[d], points,
                      static_cast<long>(std::ceil(conf().cells[d] * spacing / length))));
    }
  };
  for (const auto& s : species_)
    if (s->charge() != 0.0) warn(s->name(), Totals(*s).debye_length(epsilon0_));
  for (const auto& s : fluids_)
    if (s->charge() != 0.0) warn(s->name(), debye_length_of(*s, conf(), epsilon0_, ranks().row()));
}

double Plasma::wave_energy() const {
  return fields_ ? fields_->electric_energy(0) + fields_->magnetic_wave_energy(0) : 0.0;
}

}  // namespace cambium::kinetic
