#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "core/base/timing.hpp"
#include "core/deck/placed_error.hpp"
#include "core/plugin/check.hpp"
#include "core/run/advance.hpp"
#include "core/run/loop.hpp"

namespace cambium {

void Loop::promise_files(Check& check) const {
  std::vector<std::string> columns{"step", "time"};
  for (const auto& observable : physics_->observables()) columns.push_back(observable.name);
  const Origin stage{Origin::stage, "simulate"};
  for (const char* name : {"thermo.csv", "thermo.h5"}) check.will_write({name, stage, columns});
  const auto every = params_.checkpoint.every, last = params_.steps.value_or(0);
  Promise restarts{"restart.*.h5", {Origin::physics, params_.physics.type}, {}, every, last};
  if (every > 0) check.will_write(restarts);
  restarts.every = last;
  if (params_.checkpoint.at_end && (every == 0 || last % every != 0 || last == 0)) check.will_write(restarts);
}

/// For a file of the writer k, such as "distribution.<step>.h5".
Promise Loop::promise_of(const std::string& file, std::size_t k) const {
  Promise out{file, {Origin::output, params_.output[k].type}};
  const auto from = file.find('<'), to = file.find('>');
  if (from == std::string::npos || to == std::string::npos) return out;
  out.name = file.substr(0, from) + "*" + file.substr(to + 1);
  if (file.substr(from, to + 1 - from) == "<step>") {
    out.every = writers_[k]->every();
    out.last = params_.steps.value_or(0);
  }
  return out;
}

/// False, with the reason in the report, if it is not constructed.
bool Loop::make_first_state(Check& check) {
  const auto& keys = params_.physics.node;
  if (!dynamic_cast<Checked*>(physics_.get())) {
    check.not_looked_at(
        fmt::format("the initial state: physics '{}' does not declare what it needs", params_.physics.type));
    return false;
  }
  const auto before = check.stage().problems;
  check.ask(physics_.get(), keys);
  if (const auto path = check.waits(keys)) {
    check.not_looked_at(fmt::format("the initial state: it follows from '{}', which is still to be written", *path));
    return false;
  }
  if (check.stage().problems > before) return false;
  if (!check.small()) {
    check.not_looked_at("the initial state: it is too large to be made for a check");
    return false;
  }
  return check.look(keys, [&] {
    physics_->initialise(state_, context_);
    physics_->measure(state_, context_, values_);
  });
}

static std::string count_of(double steps) { return fmt::format("{:.6g} step{}", steps, steps == 1.0 ? "" : "s"); }

/// Times the second of two steps, since the first one includes one-time costs.
void Loop::time_steps(Check& check) {
  double seconds = 0.0;
  const bool went = check.look(params_.physics.node, [&] {
    for (int k = 0; k < 2 && state_.step < last_step_ && !physics_->finished(); ++k) {
      const double begun = wall_seconds();
      advance(schedule_, *physics_, state_, context_.timing, false);
      seconds = wall_seconds() - begun;
    }
    physics_->measure(state_, context_, values_);
  });
  if (!went || seconds <= 0.0) return;
  std::optional<double> steps;
  if (params_.steps) steps = static_cast<double>(*params_.steps);
  const double done = physics_->progress(state_);
  if (!steps && done > 0.0) steps = std::ceil(static_cast<double>(state_.step) / done);
  if (!steps) return;
  check.duration(*steps * seconds,
                 fmt::format("{} as long as the second one took here, without output", count_of(*steps)));
}

/// At run time: checks the writers against the actual state, before an hour is spent on the way to their first sample.
void Loop::ask_writers() {
  Check check(std::filesystem::path(context_.run_directory).parent_path().string(), context_);
  check.begin({});
  check.set_first_state(&state_);
  for (std::size_t k = 0; k < writers_.size(); ++k) check.ask(writers_[k].get(), params_.output[k].node);
  if (!check.problems().empty()) throw deck::PlacedError(check.problems());
}

void Loop::examine(Check& check) {
  promise_files(check);
  const bool made = make_first_state(check);
  if (made) check.set_first_state(&state_);
  for (std::size_t k = 0; k < writers_.size(); ++k) {
    check.ask(writers_[k].get(), params_.output[k].node);
    for (const auto& file : writers_[k]->files()) check.will_write(promise_of(file, k));
  }
  check.set_first_state(nullptr);
  if (made && check.small()) time_steps(check);
}

}  // namespace cambium
