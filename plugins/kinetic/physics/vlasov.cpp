#include "plugins/kinetic/physics/vlasov.hpp"

#include <vector>

namespace cambium::kinetic {

Vlasov::Vlasov(const CommonParams& params, Context& context)
    : common_(params), context_(context), plasma_(params, context), cross_collisions_(params.collisions, plasma_),
      stages_(plasma_, params.precision, context.comm), step_size_(params) {
  if (params.observables.growth_rate) growth_.emplace(*params.observables.growth_rate);
}

void Vlasov::declare(State& state, Context&) { stages_.declare(state); }

void Vlasov::initialise(State& state, Context&) {
  plasma_.initialise();
  time_ = state.time;
  step_size_.set_frequency(stages_.start(time_));
  if (growth_) growth_->add(time_, plasma_.wave_energy());
}

void Vlasov::restore(State& state, Context&, const io::Group& saved, bool) {
  plasma_.load(saved, state.time);
  step_size_.load(saved);
  time_ = state.time;
  if (growth_) growth_->load(saved);
  // Earlier versions did not store the first line; the changes are then those since the restart.
  const auto lines =
      saved.exists("conserved/totals") ? saved.read<std::vector<double>>("conserved/totals") : std::vector<double>();
  if (lines.size() != 4) return;
  measured_ = true;
  first_energy_ = lines[0];
  last_energy_ = lines[1];
  first_particles_ = lines[2];
  last_particles_ = lines[3];
}

void Vlasov::save(io::Group& group) const {
  plasma_.save(group);
  step_size_.save(group);
  if (growth_) growth_->save(group);
  if (measured_)
    group.write("conserved/totals", std::vector<double>{first_energy_, last_energy_, first_particles_, last_particles_})
        .set_attribute("doc", "total energy and particles of the first and of the last line of thermo.csv");
}

}  // namespace cambium::kinetic
