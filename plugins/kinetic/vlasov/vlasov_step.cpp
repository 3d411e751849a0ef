// A step of a kinetic physics as a list of tasks, and the fields that they read and write.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "plugins/kinetic/vlasov/vlasov.hpp"

namespace cambium::kinetic {

/// Names of the fields of a slot: what a step begins and ends with, and what its stages lead to.
static std::string in_slot(const std::string& name, int slot) {
  return slot == 0 ? name : fmt::format("{}_{}", name, slot);
}

/// A shape without an address: of arrays that do not lie in memory as rows.
static TensorRef shape_of(std::initializer_list<std::int64_t> shape, DType type) {
  TensorRef out;
  out.dtype = type;
  for (const auto extent : shape) out.shape[out.rank++] = extent;
  for (std::int64_t k = out.rank - 1, stride = 1; k >= 0; stride *= out.shape[k--]) out.stride[k] = stride;
  return out;
}

void Vlasov::declare(State& state, Context&) {
  const auto type = common_.precision == Precision::float32 ? DType::f32 : DType::f64;
  for (int slot = 0; slot < 3; ++slot) {
    for (const auto& s : species_) {
      state.add({in_slot(s->name() + "/f", slot), At::cell, "", "distribution function: cells of this rank, modes",
                 false, [&s = *s, type] {
                   const auto& grid = s.solver().grid();
                   return shape_of(
                       {std::int64_t{grid.local_conf_cells()} * grid.local_velocity_cells(), s.solver().basis().modes},
                       type);
                 }});
      const auto doc = "density, particle flux and energy: all cells of configuration space, components, modes";
      state.add({in_slot(s->name() + "/moments", slot), At::global, "", doc, false, [&s = *s, slot] {
                   TensorRef out = shape_of({s.conf().count(), s.components(), s.conf().modes()}, DType::f64);
                   out.data = s.moments(slot).data();
                   return out;
                 }});
    }
    if (fields_)
      state.add({in_slot("fields", slot), At::global, "",
                 "electric and magnetic field: components, all cells of configuration space, modes", false,
                 [this, slot] {
                   return shape_of({components_of_fields(slot), conf().count(), conf().modes()}, DType::f64);
                 }});
  }
  state.add({"frequencies", At::global, "1/time",
             "the largest sum of frequencies of each stage: what a step must be shorter than", false, [this] {
               TensorRef out = shape_of({3}, DType::f64);
               out.data = fastest_.data();
               return out;
             }});
}

std::int64_t Vlasov::components_of_fields(int slot) const {
  std::int64_t count = 0;
  for (int c = 0; c < 3; ++c)
    count += (fields_->electric(slot, c) != nullptr) + (fields_->magnetic(slot, c) != nullptr);
  return count;
}

/// Stage k of SSP-RK3 (Shu and Osher 1988).
static Stage stage_of(int k, double dt) {
  if (k == 0) return {0, 0, 1, 0.0, 1.0, dt};
  if (k == 1) return {1, 0, 2, 0.75, 0.25, 0.25 * dt};
  return {2, 0, 0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 * dt};
}

/// The time that f[in] of a stage belongs to, after that of the step's beginning and in units of its length.
static constexpr double beginning_of[] = {0.0, 1.0, 0.5};

/// Each name once, in order of first appearance.
static std::vector<std::string> together(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> out;
  for (const auto& list : lists)
    for (const auto& name : list)
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  return out;
}

std::vector<std::string> Vlasov::of_species(const std::string& what, std::initializer_list<int> slots) const {
  std::vector<std::string> out;
  for (const auto& s : species_)
    for (int slot : slots) out.push_back(in_slot(s->name() + "/" + what, slot));
  return out;
}

std::vector<std::string> Vlasov::of_fields(std::initializer_list<int> slots) const {
  std::vector<std::string> out;
  for (int slot : slots)
    if (fields_) out.push_back(in_slot("fields", slot));
  return out;
}

void Vlasov::add_fields(int k, Tasks& tasks) {
  if (!fields_) return;
  const Stage s = stage_of(k, 0.0);
  std::vector<std::string> reads = of_species("moments", {fields_->ahead() ? s.in : s.out});
  if (!fields_->collecting().empty()) reads = together({of_species("f", {s.in}), reads});
  if (fields_->ahead() || !fields_->collecting().empty())
    reads = together({reads, of_fields({s.base, s.in})});  // they have a memory
  tasks.push_back({fmt::format("fields: stage {}", k + 1), reads, of_fields({s.out}),
                   [this, k](State&, StepInfo& info) { advance_fields(stage_of(k, info.dt)); }});
}

void Vlasov::add_stage(int k, Tasks& tasks) {
  const Stage s = stage_of(k, 0.0);
  const auto summed = together({of_species("moments", {s.out}), {"frequencies"}});
  tasks.push_back(
      {fmt::format("sweep: stage {}", k + 1), together({of_species("f", {s.base, s.in}), of_fields({s.in})}),
       together({of_species("f", {s.out}), summed}),
       [this, k](State&, StepInfo& info) { sweep(k, stage_of(k, info.dt), time_ + beginning_of[k] * info.dt); }});
  tasks.push_back({fmt::format("moments: stage {}", k + 1), summed, summed, [this, k, out = s.out](State&, StepInfo&) {
                     gather(std::array{out}, {&fresh_[k], 1}, {&fastest_[k], 1});
                   }});
  add_fields(k, tasks);
}

void Vlasov::add_shared_pass(Tasks& tasks) {
  const auto summed = together({of_species("moments", {1, 2}), {"frequencies"}});
  add_fields(0, tasks);
  tasks.push_back({"sweep: stages 1 and 2", together({of_species("f", {0}), of_fields({0, 1})}),
                   together({of_species("f", {2}), summed}), [this](State&, StepInfo& info) { sweep_twice(info.dt); }});
  tasks.push_back({"moments: stages 1 and 2", summed, summed, [this](State&, StepInfo&) {
                     gather(std::array{1, 2}, {fresh_.data(), 2}, {fastest_.data(), 2});
                   }});
  add_fields(1, tasks);
}

void Vlasov::schedule(Schedule& schedule) {
  Tasks tasks;
  if (context_.comm.max(fuses() ? 0.0 : 1.0) == 0.0)
    add_shared_pass(tasks);
  else
    add_stage(0, tasks), add_stage(1, tasks);
  std::vector<std::string> reads{"frequencies"}, writes;
  if (!common_.timestep)  // one that is given is kept
    for (const auto& task : tasks) reads = together({reads, task.reads}), writes = together({writes, task.writes});
  tasks.push_back({"timestep: again if too long", reads, writes, [this, again = tasks](State& state, StepInfo& info) {
                     while (too_long(info))
                       for (const auto& task : again) task.run(state, info);
                   }});
  add_stage(2, tasks);
  tasks.push_back({"timestep: of the next step", {"frequencies"}, {}, [this](State&, StepInfo& info) {
                     frequency_ = *std::max_element(fastest_.begin(), fastest_.end());
                     require_finite(frequency_, info.step);
                   }});
  add_corrections(tasks);
  tasks.push_back({"timestep: time reached", {}, {}, [this](State&, StepInfo& info) {
                     last_step_ = info.dt;
                     time_ += info.dt;
                     info.time = time_;
                   }});
  if (growth_)
    tasks.push_back({"observables: growth rate", of_fields({0}), {}, [this](State&, StepInfo&) { record(time_); }});
  for (auto& task : tasks) schedule.add(std::move(task));
}

/// What changes distribution functions after the stages.
void Vlasov::add_corrections(Tasks& tasks) {
  const auto changed = together({of_species("f", {0}), of_species("moments", {0})});
  const auto some = [this](auto&& has) {
    return std::any_of(species_.begin(), species_.end(), [&](const auto& s) { return has(*s); });
  };
  if (some([](const Species& s) { return s.collides(); }))
    tasks.push_back({"collisions: within species", changed, changed, [this](State&, StepInfo& info) {
                       for (auto& s : species_)
                         if (s->collides()) s->collide(info.dt);
                     }});
  if (!colliding_.empty())
    tasks.push_back({"collisions: between species", changed, changed, [this](State&, StepInfo& info) {
                       for (auto& pair : colliding_) {
                         pair.op.act(pair.a->solver(), pair.b->solver(), info.dt);
                         pair.a->compute_moments(), pair.b->compute_moments();
                       }
                     }});
  if (some([](const Species& s) { return s.limits(); }))
    tasks.push_back(
        {"limiter: negative parts", changed, together({changed, of_fields({0})}), [this](State&, StepInfo&) {
           bool limited = false;
           for (auto& s : species_) limited |= s->limit();
           if (limited && fields_) fields_->refresh(sources(0));
         }});
}

void Vlasov::require_stable(double dt, double frequency) const {
  if (common_.timestep && dt * frequency > 1.0 + 1e-9)
    throw InputError(
        fmt::format("timestep = {:g} is above the stability limit {:.4g} at time {:.6g}; give a smaller 'timestep', or "
                    "leave it out and the step is chosen",
                    *common_.timestep, 1.0 / frequency, time_));
}

void Vlasov::require_finite(double frequency, std::int64_t step) const {
  if (!std::isfinite(frequency))
    throw NumericalError(
        fmt::format("the distribution function is not finite any more at step {}, time {:.6g}", step, time_));
}

bool Vlasov::too_long(StepInfo& info) {
  const double limit = std::max(1.0, common_.cfl) * 1.01, need = std::max(fastest_[0], fastest_[1]);
  require_finite(need, info.step);
  require_stable(info.dt, need);
  if (info.dt * need <= limit || common_.timestep) return false;
  info.dt = common_.cfl / need;
  ++repeated_;
  return true;
}

void Vlasov::sweep(int k, const Stage& stage, double time) {
  fastest_[k] = fields_ ? fields_->frequency() : 0.0;
  fresh_[k].clear();
  for (auto& s : species_) {
    fresh_[k].emplace_back(s->moments(stage.out).size(), 0.0);
    fastest_[k] = std::max(fastest_[k], s->solver().stage(stage, force_on(*s, stage.in, time, 0), fresh_[k].back()));
  }
}

void Vlasov::sweep_twice(double dt) {
  for (int k : {0, 1}) fastest_[k] = fields_ ? fields_->frequency() : 0.0, fresh_[k].clear();
  const Stage first = stage_of(0, dt), second = stage_of(1, dt);
  for (auto& s : species_) {
    for (int k : {0, 1}) fresh_[k].emplace_back(s->moments(0).size(), 0.0);
    const auto found =
        s->solver().stages({first, force_on(*s, first.in, time_ + beginning_of[0] * dt, 0), &fresh_[0].back()},
                           {second, force_on(*s, second.in, time_ + beginning_of[1] * dt, 1), &fresh_[1].back()});
    for (int k : {0, 1}) fastest_[k] = std::max(fastest_[k], found[k]);
  }
}

void Vlasov::advance_fields(const Stage& stage) {
  fields_->stage(stage, sources_and_walls(stage.in), fields_->ahead() ? Sources{} : sources(stage.out));
}

static bool all_finite(const std::vector<double>& values) {
  double sum = 0.0;  // zero times infinity, and times NaN, is NaN
  for (double x : values) sum += 0.0 * x;
  return sum == 0.0;
}

void Vlasov::gather(std::span<const int> slots, std::span<std::vector<std::vector<double>>> fresh,
                    std::span<double> fastest) {
  std::vector<std::span<double>> sums;
  for (auto& stage : fresh) sums.insert(sums.end(), stage.begin(), stage.end());
  rank_sums_.reduce(sums, fastest);
  for (std::size_t k = 0; k < slots.size(); ++k)
    for (std::size_t i = 0; i < species_.size(); ++i) {
      auto& moments = species_[i]->moments(slots[k]) = std::move(fresh[k][i]);
      if (!all_finite(moments)) fastest[k] = std::numeric_limits<double>::infinity();  // a maximum would drop NaN
    }
}

}  // namespace cambium::kinetic
