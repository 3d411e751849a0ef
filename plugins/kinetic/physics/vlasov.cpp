#include "plugins/kinetic/physics/vlasov.hpp"

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
  if (growth_) growth_->add(time_, plasma_.field_energy());
}

void Vlasov::restore(State& state, Context&, const io::Group& saved, bool) {
  plasma_.load(saved, state.time);
  step_size_.load(saved);
  time_ = state.time;
  if (growth_) growth_->load(saved);
}

void Vlasov::save(io::Group& group) const {
  plasma_.save(group);
  step_size_.save(group);
  if (growth_) growth_->save(group);
}

}  // namespace cambium::kinetic
