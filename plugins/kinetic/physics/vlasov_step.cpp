// A step of a kinetic physics as a list of tasks.
#include <algorithm>

#include "plugins/kinetic/physics/broken_place.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

static Schedule::Task limiter_task(const char* name, Plasma& plasma, const Stages& stages) {
  const auto changed = together({stages.of_species("f", {0}), stages.of_species("moments", {0})});
  return {name, changed, together({changed, stages.of_fields({0})}), [&plasma](State&, StepInfo&) {
            bool limited = false;
            for (auto& s : plasma.species()) limited |= s->limit();
            if (limited && plasma.fields()) plasma.fields()->refresh(plasma.sources(0));
          }};
}

/// Operators that change distribution functions after the stages. Collisions take the limiter's: where f is not
/// negative, density and temperature are positive.
static void add_corrections(Plasma& plasma, CrossCollisions& between, const Stages& stages, const double& time,
                            const Comm& comm, Stages::Tasks& tasks) {
  const auto changed = together({stages.of_species("f", {0}), stages.of_species("moments", {0})});
  const auto some = [&plasma](auto&& has) {
    return std::any_of(plasma.species().begin(), plasma.species().end(), [&](const auto& s) { return has(*s); });
  };
  const bool limits = some([](const Species& s) { return s.limits(); });
  const bool collides = some([](const Species& s) { return s.collides(); });
  if (limits && (collides || between.any()))
    tasks.push_back(limiter_task("limiter: before collisions", plasma, stages));
  if (collides)
    tasks.push_back({"collisions: within species", changed, changed, [&plasma, &time](State&, StepInfo& info) {
                       in_step(time, info, [&] {
                         for (auto& s : plasma.species())
                           if (s->collides()) s->collide(info.dt);
                       });
                     }});
  if (between.any())
    tasks.push_back({"collisions: between species", changed, changed, [&between, &time, &comm](State&, StepInfo& info) {
                       in_step(time, info, [&] { between.act(info.dt, comm); });
                     }});
  if (limits) tasks.push_back(limiter_task("limiter: negative parts", plasma, stages));
}

void Vlasov::schedule(Schedule& schedule) {
  Stages::Tasks tasks;
  if (context_.comm.max(plasma_.fuses() ? 0.0 : 1.0) == 0.0)
    stages_.add_shared_pass(tasks);
  else {
    stages_.add_stage(0, tasks);
    stages_.add_stage(1, tasks);
  }
  std::vector<std::string> reads{"frequencies"}, writes;
  if (!step_size_.given())  // one that is given is kept
    for (const auto& task : tasks) reads = together({reads, task.reads}), writes = together({writes, task.writes});
  tasks.push_back({"timestep: again if too long", reads, writes, [this, again = tasks](State& state, StepInfo& info) {
                     const auto too_long = [&] {
                       const double frequency = std::max(stages_.fastest()[0], stages_.fastest()[1]);
                       require_finite(frequency, plasma_, time_, info, context_.comm);
                       return step_size_.too_long(frequency, time_, info);
                     };
                     while (too_long())
                       for (const auto& task : again) task.run(state, info);
                   }});
  stages_.add_stage(2, tasks);
  tasks.push_back({"timestep: of the next step", {"frequencies"}, {}, [this](State&, StepInfo& info) {
                     const auto& fastest = stages_.fastest();
                     const double frequency = *std::max_element(fastest.begin(), fastest.end());
                     require_finite(frequency, plasma_, time_, info, context_.comm);
                     step_size_.set_frequency(frequency);
                   }});
  add_corrections(plasma_, cross_collisions_, stages_, time_, context_.comm, tasks);
  tasks.push_back({"timestep: time reached", {}, {}, [this](State&, StepInfo& info) {
                     require_progress(time_, info);
                     in_step(time_, info, [&] { plasma_.exchanges().finish(info.dt, time_ + info.dt); });
                     last_step_ = info.dt;
                     time_ += info.dt;
                     info.time = time_;
                   }});
  if (growth_)
    tasks.push_back({"observables: growth rate", stages_.of_fields({0}), {}, [this](State&, StepInfo&) {
                       growth_->add(time_, plasma_.wave_energy());
                     }});
  for (auto& task : tasks) schedule.add(std::move(task));
}

}  // namespace cambium::kinetic
