#include "plugins/kinetic/vlasov/vlasov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/kinetic/vlasov/outflow.hpp"
#include "plugins/kinetic/vlasov/regrid.hpp"

namespace cambium::kinetic {

Vlasov::Vlasov(const CommonParams& params, Context& context)
    : common_(params), context_(context), rank_sums_(context.comm) {
  if (const auto problem = problem_of_names(params.species); !problem.empty()) throw InputError(problem);
  for (const auto& s : params.species) species_.push_back(std::make_unique<Species>(params, s, context.comm));
  for (const auto& pair : params.collisions) make_collisions(pair);
  if (params.observables.growth_rate) growth_.emplace(*params.observables.growth_rate);
}

void Vlasov::set_external(const FieldFormulas& formulas) {
  std::vector<ExternalField::Felt> felt;
  for (const auto& s : species_)
    if (s->charge() != 0.0) felt.push_back({s->name(), s->solver().grid().vdim});
  external_ = ExternalField(conf(), formulas, common_.values());
  external_.require_felt(felt, context_.log);
}

void Vlasov::set_background(const std::string& text) {
  if (text.empty()) return;
  background_ = project_conf(conf(), Formula(text, conf_variables(conf().dimensions), common_.values()), 0.0);
}

void Vlasov::initialise(State& state, Context& context) {
  if (common_.start_from.empty()) {
    for (auto& s : species_) s->initialise(context);
    if (fields_) fields_->initialise(sources_and_walls(0));
  } else {
    start_from(common_.start_from);
  }
  time_ = state.time;
  warn_about_debye_length();
  // A stage of length zero tells the frequencies of the fresh state.
  const Stage none{0, 0, 2, 0.0, 1.0, 0.0};
  sweep(0, none, time_);
  gather(std::array{none.out}, {&fresh_[0], 1}, {&fastest_[0], 1});
  if (fields_) advance_fields(none);
  frequency_ = fastest_[0];
  record(time_);
}

void Vlasov::start_from(const std::string& path) {
  const io::File whole = io::File::open(path);
  const io::Group file =
      whole.group(whole.exists("physics") ? "physics" : "/");  // of a checkpoint, of the writer 'distribution'
  for (auto& s : species_) s->start_from(file, context_);
  const StoredGrid grid(file.dataset(species_.front()->name() + "/f"));
  const auto find = [&](const std::string& name) -> std::optional<std::vector<double>> {
    if (!file.exists(name)) return {};
    return regrid_field(grid, file.read<std::vector<double>>(name), conf());
  };
  if (fields_) fields_->start_from(file, find, sources_and_walls(0));
}

void Vlasov::restore(State& state, Context&, const io::Group& saved, bool) {
  for (auto& s : species_) s->load(saved);
  if (fields_) fields_->load(saved, sources(0));
  frequency_ = saved.read<double>("frequency");
  repeated_ = saved.read<std::int64_t>("repeated");
  time_ = state.time;
  if (growth_) growth_->load(saved);
}

void Vlasov::save(io::Group& group) const {
  for (const auto& s : species_) s->save(group);
  if (fields_) fields_->save(group);
  group.write("frequency", frequency_);
  group.write("repeated", repeated_);
  if (growth_) growth_->save(group);
}

double Vlasov::timestep(const State& state) const {
  double dt = common_.timestep ? *common_.timestep : common_.cfl / frequency_;
  if (common_.max_timestep) dt = std::min(dt, *common_.max_timestep);
  return EndTime{common_.end_time}.step(state.time, dt);
}

void Vlasov::make_collisions(const CrossCollisionParams& params) {
  Species* found[2] = {};
  for (int k = 0; k < 2; ++k)
    for (auto& s : species_)
      if (s->name() == params.species[k]) found[k] = s.get();
  std::string names;
  for (const auto& s : species_) names += (names.empty() ? "" : ", ") + s->name();
  for (int k = 0; k < 2; ++k)
    if (!found[k])
      throw InputError(
          fmt::format("collisions: there is no species '{}'; the species are {}", params.species[k], names));
  auto &a = *found[0], &b = *found[1];
  const std::string what = fmt::format("collisions of '{}' with '{}'", a.name(), b.name());
  if (a.solver().grid().vdim != b.solver().grid().vdim)
    throw InputError(fmt::format("{}: they have {} and {} velocity dimensions; give both the same number", what,
                                 a.solver().grid().vdim, b.solver().grid().vdim));
  for (const auto& pair : colliding_)
    if ((pair.a == &a && pair.b == &b) || (pair.a == &b && pair.b == &a))
      throw InputError(fmt::format("{} are given twice; one frequency determines both directions", what));
  const auto frequency = a.frequency_of(params.frequency, what);
  colliding_.push_back(
      {&a, &b, BetweenSpecies({a.dougherty_with({}), a.mass()}, {b.dougherty_with({}), b.mass()}, frequency)});
}

ForceField Vlasov::force_on(const Species& s, int slot, double time, int which) {
  ForceField force;
  force.charge_over_mass = s.charge() / s.mass();
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

bool Vlasov::fuses() const {
  if (fields_ && !fields_->ahead()) return false;
  for (const auto& s : species_)
    if (s->solver().fusing() != Solver::Fusing::pays) return false;
  return true;
}

Sources Vlasov::sources(int slot) const {
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
  return out;
}

Sources Vlasov::sources_and_walls(int slot) const {
  Sources out = sources(slot);
  if (!fields_ || fields_->collecting().empty()) return out;
  for (const auto& side : fields_->collecting()) {
    out.collected.push_back(0.0);
    for (const auto& s : species_)
      out.collected.back() += s->charge() * outflow(s->solver(), slot, side.dimension, side.high);
  }
  context_.comm.sum(out.collected);
  for (const auto& s : species_) out.carried += std::abs(s->charge()) * conf().integral(s->moment(0, slot).data());
  return out;
}

void Vlasov::warn_about_debye_length() const {
  if (!fields_) return;
  for (const auto& s : species_) {
    if (s->charge() == 0.0) continue;
    const double length = s->debye_length(epsilon0_);
    for (int d = 0; d < conf().dimensions; ++d) {
      const double spacing = conf().width[d] / (s->solver().basis().order + 1);
      if (spacing > length)
        context_.log.warn(
            fmt::format("species '{}': the Debye length {:.3g} is not resolved in dimension {}: cells of width {:.3g} "
                        "with {} degrees of freedom each; use at least {} cells to resolve it",
                        s->name(), length, d + 1, conf().width[d], s->solver().basis().order + 1,
                        static_cast<long>(std::ceil(conf().cells[d] * spacing / length))));
    }
  }
}

double Vlasov::field_energy() const {
  return fields_ ? fields_->electric_energy(0) + fields_->magnetic_energy(0) : 0.0;
}

void Vlasov::record(double time) {
  if (growth_) growth_->add(time, field_energy());
}

}  // namespace cambium::kinetic
