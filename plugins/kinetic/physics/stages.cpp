#include "plugins/kinetic/physics/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cambium::kinetic {

Stages::Stages(Plasma& plasma, Precision precision, const Comm& comm)
    : plasma_(plasma), precision_(precision), rank_sums_(comm, plasma.ranks().column()) {}

double Stages::start(double time) {
  const Stage none{0, 0, 2, 0.0, 1.0, 0.0};
  sweep(0, none, time);
  gather(std::array{none.out}, {&fresh_[0], 1}, {&fastest_[0], 1});
  if (plasma_.fields()) advance_fields(none, time, time);
  return fastest_[0];
}

/// Names of the fields of a slot: what a step begins and ends with, and what its stages lead to.
static std::string in_slot(const std::string& name, int slot) {
  return slot == 0 ? name : fmt::format("{}_{}", name, slot);
}

/// A shape without an address, for arrays that are not stored as rows.
static TensorRef shape_of(std::initializer_list<std::int64_t> shape, DType type) {
  TensorRef out;
  out.dtype = type;
  for (const auto extent : shape) out.shape[out.rank++] = extent;
  for (std::int64_t k = out.rank - 1, stride = 1; k >= 0; stride *= out.shape[k--]) out.stride[k] = stride;
  return out;
}

void Stages::declare(State& state) {
  const auto type = precision_ == Precision::float32 ? DType::f32 : DType::f64;
  for (int slot = 0; slot < 3; ++slot) {
    for (const auto& s : plasma_.species()) {
      state.add({in_slot(s->name() + "/f", slot), At::cell, "", "distribution function: cells of this rank, modes",
                 false, [&s = *s, type] {
                   const auto& grid = s.solver().grid();
                   return shape_of(
                       {std::int64_t{grid.local_conf_cells()} * grid.local_velocity_cells(), s.solver().basis().modes},
                       type);
                 }});
      const auto doc = "density, particle flux and energy: cells of this rank, components, modes";
      state.add({in_slot(s->name() + "/moments", slot), At::cell, "", doc, false, [&s = *s, slot] {
                   TensorRef out = shape_of({s.conf().count(), s.components(), s.conf().modes()}, DType::f64);
                   out.data = s.moments(slot).data();
                   return out;
                 }});
    }
    for (const auto& s : plasma_.fluids())
      state.add(
          {in_slot(s->name() + "/fluid", slot), At::cell, "",
           "moments of a fluid: components, cells of this rank, subcells", false, [&s = *s] {
             return shape_of({s.equations().components(), s.cells().grid().count(), s.cells().per_cell()}, DType::f64);
           }});
    if (plasma_.fields())
      state.add(
          {in_slot("fields", slot), At::cell, "", "electric and magnetic field: components, cells of this rank, modes",
           false, [this, slot] {
             return shape_of({components_of_fields(slot), plasma_.conf().count(), plasma_.conf().modes()}, DType::f64);
           }});
  }
  state.add({"frequencies", At::global, "1/time",
             "the largest sum of frequencies of each stage: what a step must be shorter than", false, [this] {
               TensorRef out = shape_of({3}, DType::f64);
               out.data = fastest_.data();
               return out;
             }});
}

std::int64_t Stages::components_of_fields(int slot) const {
  std::int64_t count = 0;
  for (int c = 0; c < 3; ++c)
    count += (plasma_.fields()->electric(slot, c) != nullptr) + (plasma_.fields()->magnetic(slot, c) != nullptr);
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
/// The same of f[out].
static constexpr double end_of[] = {1.0, 0.5, 1.0};

std::vector<std::string> together(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> out;
  for (const auto& list : lists)
    for (const auto& name : list)
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  return out;
}

std::vector<std::string> Stages::of_species(const std::string& what, std::initializer_list<int> slots) const {
  std::vector<std::string> out;
  for (const auto& s : plasma_.species())
    for (int slot : slots) out.push_back(in_slot(s->name() + "/" + what, slot));
  return out;
}

std::vector<std::string> Stages::of_fluids(std::initializer_list<int> slots) const {
  std::vector<std::string> out;
  for (const auto& s : plasma_.fluids())
    for (int slot : slots) out.push_back(in_slot(s->name() + "/fluid", slot));
  return out;
}

std::vector<std::string> Stages::of_fields(std::initializer_list<int> slots) const {
  std::vector<std::string> out;
  for (int slot : slots)
    if (plasma_.fields()) out.push_back(in_slot("fields", slot));
  return out;
}

void Stages::add_fields(int k, Tasks& tasks) {
  if (!plasma_.fields()) return;
  const Stage s = stage_of(k, 0.0);
  const int from = plasma_.fields()->ahead() ? s.in : s.out;
  std::vector<std::string> reads = together({of_species("moments", {from}), of_fluids({from})});
  if (!plasma_.fields()->collecting().empty()) reads = together({of_species("f", {s.in}), of_fluids({s.in}), reads});
  if (plasma_.fields()->ahead() || !plasma_.fields()->collecting().empty())
    reads = together({reads, of_fields({s.base, s.in})});  // they have a memory
  tasks.push_back(
      {fmt::format("fields: stage {}", k + 1), reads, of_fields({s.out}), [this, k](State& state, StepInfo& info) {
         advance_fields(stage_of(k, info.dt), state.time + beginning_of[k] * info.dt, state.time + end_of[k] * info.dt);
       }});
}

void Stages::add_stage(int k, Tasks& tasks) {
  const Stage s = stage_of(k, 0.0);
  const auto summed = together({of_species("moments", {s.out}), {"frequencies"}});
  tasks.push_back({fmt::format("sweep: stage {}", k + 1),
                   together({of_species("f", {s.base, s.in}), of_fluids({s.base, s.in}), of_fields({s.in})}),
                   together({of_species("f", {s.out}), of_fluids({s.out}), summed}),
                   [this, k](State& state, StepInfo& info) {
                     sweep(k, stage_of(k, info.dt), state.time + beginning_of[k] * info.dt);
                   }});
  tasks.push_back({fmt::format("moments: stage {}", k + 1), summed, summed, [this, k, out = s.out](State&, StepInfo&) {
                     gather(std::array{out}, {&fresh_[k], 1}, {&fastest_[k], 1});
                   }});
  add_fields(k, tasks);
}

void Stages::add_shared_pass(Tasks& tasks) {
  const auto summed = together({of_species("moments", {1, 2}), {"frequencies"}});
  add_fields(0, tasks);
  tasks.push_back({"sweep: stages 1 and 2", together({of_species("f", {0}), of_fluids({0}), of_fields({0, 1})}),
                   together({of_species("f", {2}), of_fluids({1, 2}), summed}),
                   [this](State& state, StepInfo& info) { sweep_twice(state.time, info.dt); }});
  tasks.push_back({"moments: stages 1 and 2", summed, summed, [this](State&, StepInfo&) {
                     gather(std::array{1, 2}, {fresh_.data(), 2}, {fastest_.data(), 2});
                   }});
  add_fields(1, tasks);
}

void Stages::sweep(int k, const Stage& stage, double time) {
  fastest_[k] = plasma_.fields() ? plasma_.fields()->frequency() : 0.0;
  fresh_[k].clear();
  for (auto& s : plasma_.species()) {
    fresh_[k].emplace_back(s->moments(stage.out).size(), 0.0);
    fastest_[k] =
        std::max(fastest_[k], s->solver().stage(stage, plasma_.force_on(*s, stage.in, time, 0), fresh_[k].back()));
  }
  advance_fluids(k, stage, time, 0);
  fastest_[k] += plasma_.exchanges().add(k, stage, time, fresh_[k]);
}

void Stages::sweep_twice(double time, double dt) {
  for (int k : {0, 1}) {
    fastest_[k] = plasma_.fields() ? plasma_.fields()->frequency() : 0.0;
    fresh_[k].clear();
  }
  const Stage first = stage_of(0, dt), second = stage_of(1, dt);
  for (auto& s : plasma_.species()) {
    for (int k : {0, 1}) fresh_[k].emplace_back(s->moments(0).size(), 0.0);
    const auto found = s->solver().stages(
        {first, plasma_.force_on(*s, first.in, time + beginning_of[0] * dt, 0), &fresh_[0].back()},
        {second, plasma_.force_on(*s, second.in, time + beginning_of[1] * dt, 1), &fresh_[1].back()});
    for (int k : {0, 1}) fastest_[k] = std::max(fastest_[k], found[k]);
  }
  advance_fluids(0, first, time + beginning_of[0] * dt, 0);
  advance_fluids(1, second, time + beginning_of[1] * dt, 1);
}

void Stages::advance_fluids(int k, const Stage& stage, double time, int which) {
  for (auto& s : plasma_.fluids())
    fastest_[k] =
        std::max(fastest_[k], s->stage(stage, plasma_.force_on(*s, stage.in, time, which), plasma_.epsilon0()));
}

void Stages::advance_fields(const Stage& stage, double time, double after) {
  Sources then = plasma_.fields()->ahead() ? Sources{} : plasma_.sources(stage.out);
  then.time = after;
  plasma_.fields()->stage(stage, plasma_.sources_and_walls(stage.in, time), then);
}

static bool all_finite(const std::vector<double>& values) {
  double sum = 0.0;  // zero times infinity, and times NaN, is NaN
  for (double x : values) sum += 0.0 * x;
  return sum == 0.0;
}

void Stages::gather(std::span<const int> slots, std::span<std::vector<std::vector<double>>> fresh,
                    std::span<double> fastest) {
  std::vector<std::span<double>> sums;
  for (std::size_t k = 0; k < slots.size(); ++k)
    for (auto& moments : fresh[k]) {
      sums.emplace_back(moments);
      if (!all_finite(moments)) fastest[k] = std::numeric_limits<double>::infinity();  // a maximum would drop NaN
    }
  rank_sums_.reduce(sums, fastest);
  for (std::size_t k = 0; k < slots.size(); ++k)
    for (std::size_t i = 0; i < plasma_.species().size(); ++i)
      plasma_.species()[i]->moments(slots[k]) = std::move(fresh[k][i]);
}

}  // namespace cambium::kinetic
