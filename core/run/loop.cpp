#include "core/run/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"
#include "core/base/wait_clock.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/node.hpp"
#include "core/io/checkpoint.hpp"
#include "core/io/reading.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/advance.hpp"
#include "core/run/resume_point.hpp"
#include "core/run/schedule_check.hpp"
#include "core/run/summary/load_line.hpp"
#include "core/run/summary/message_line.hpp"
#include "core/run/summary/stage_files.hpp"

namespace cambium {

/// Two writers of one file would write into each other's.
static void require_own_files(const std::vector<std::unique_ptr<Writer>>& writers, const Simulate::Params& params) {
  std::map<std::string, std::size_t> first;
  for (std::size_t k = 0; k < writers.size(); ++k)
    for (const auto& file : writers[k]->files()) {
      const auto [at, is_new] = first.emplace(file, k);
      if (is_new || at->second == k) continue;
      throw KeyError(
          "simulate.output.same_file", deck::child_path("output", k),
          fmt::format(
              "output[{}] ({}) and output[{}] ({}) both write {}: leave one of them out, or, where the type has "
              "the key 'file', give it another name",
              at->second, params.output[at->second].type, k, params.output[k].type, file));
    }
}

/// Error text that explains how to set the end of a run.
static std::string missing_end(const Simulate::Params& params, const Context& context) {
  const auto* type = context.registry->find(Physics::kind, params.physics.type);
  const bool by_time = type && type->schema.find("end_time");
  return fmt::format("key 'steps' is missing: physics '{}' has no end of its own; specify when to stop, {}",
                     params.physics.type, by_time ? "by steps: 1000 or by end_time" : "for example by steps: 1000");
}

Loop::Loop(const Simulate::Params& params, Context& context) : params_(params), context_(context) {
  physics_ = context.registry->make<Physics>(params.physics, context);
  for (const auto& choice : params.output) writers_.push_back(context.registry->make<Writer>(choice, context));
  require_own_files(writers_, params);
  if (!params.steps && !physics_->ends())
    throw KeyError("simulate.steps.missing", "steps", missing_end(params, context));
  if (params.checkpoint.asynchronous && params.checkpoint.transfer != io::Transfer::gather)
    throw KeyError(
        "simulate.checkpoint.asynchronous", "checkpoint.asynchronous",
        "checkpoint.asynchronous keeps the whole file in the memory of rank 0, and transfer: collective is for files "
        "that are too large for that; leave out one of the two");
  if (params.checkpoint.asynchronous && params.checkpoint.compress)
    throw KeyError(
        "simulate.checkpoint.compress", "checkpoint.compress",
        "checkpoint.asynchronous keeps the file in memory, and compress writes it to the disk twice; leave out "
        "one of the two");
  last_step_ = params.steps.value_or(std::numeric_limits<std::int64_t>::max());
  physics_->declare(state_, context);
  for (std::size_t k = 0; k < writers_.size(); ++k)
    deck::about_key("simulate.output", deck::child_path("output", k), [&] { writers_[k]->attach(*physics_); });
  physics_->schedule(schedule_);
  const auto observables = physics_->observables();
  values_.resize(observables.size());
  lines_ = std::make_unique<ThermoLines>(observables, physics_->time_unit());
}

void Loop::report_plan() const {
  auto& log = context_.log;
  log.info(physics_->summary());
  log.info(params_.steps ? fmt::format("schedule of one step ({} steps):", *params_.steps) : "schedule of one step:");
  for (const auto& line : describe_schedule(schedule_, state_)) log.info(line);
  for (std::size_t k = 0; k < writers_.size(); ++k)
    log.info(fmt::format("output {} every {} steps", params_.output[k].type, writers_[k]->every()));
  say_what_is_not_due();
}

/// Outputs that the stage ends before.
void Loop::say_what_is_not_due() const {
  for (std::size_t k = 0; params_.steps && k < writers_.size(); ++k) {
    const std::int64_t every = writers_[k]->every(), first = writers_[k]->first(), last = *params_.steps;
    if (first > last)
      context_.log.warn(
          fmt::format("output[{}] ({}) begins at step {}, and the stage ends at step {}: it takes no "
                      "sample; lower 'start_step' or 'start_time', or give more steps",
                      k, params_.output[k].type, first, last));
    else if (every <= last || last == 0)
      continue;
    else if (writers_[k]->shows_end())
      context_.log.info(
          fmt::format("output[{}] ({}) is due every {} steps, and the stage ends at step {}: it shows the initial "
                      "state and the last one",
                      k, params_.output[k].type, every, last));
    else
      context_.log.warn(
          fmt::format("output[{}] ({}) is due every {} steps, and the stage ends at step {}: step 0 is its "
                      "only sample; lower 'every' or give more steps",
                      k, params_.output[k].type, every, last));
  }
}

/// Reports files of an output that were never written: the event it waits for, such as a time, is beyond the end.
void Loop::say_what_is_missing() const {
  if (!context_.comm.root()) return;
  for (std::size_t k = 0; k < writers_.size(); ++k)
    for (const auto& file : writers_[k]->files()) {
      if (file.find('<') != std::string::npos) continue;
      std::error_code ignored;
      if (std::filesystem::exists(std::filesystem::path(context_.run_directory) / file, ignored)) continue;
      context_.log.warn(
          fmt::format("output[{}] ({}) has written no {}: the stage ended at step {}, time {:g}, before its "
                      "first sample was due",
                      k, params_.output[k].type, file, state_.step, state_.time));
    }
}

void Loop::start_fresh() {
  const Region region("first state", WorkKind::host);
  physics_->initialise(state_, context_);
  ask_writers();
  context_.log.info(physics_->summary());
  thermo_file_ = std::make_unique<ThermoFile>(context_, physics_->observables(), physics_->time_unit());
  context_.log.info(lines_->header());
  context_.log.info(lines_->units());
  observe_and_print();
  call_writers();
  say_what_is_not_due();
}

void Loop::observe_and_print() {
  const auto timer = context_.timing.scope("output");
  if (context_.stop) context_.stop->require_directory();
  physics_->measure(state_, context_, values_);
  context_.log.info(lines_->row(state_.step, state_.time, values_));
  thermo_file_->append(state_.step, state_.time, values_);
}

void Loop::call_writers() {
  const auto timer = context_.timing.scope("output");
  for (const auto& writer : writers_)
    if (state_.step % writer->every() == 0) writer->observe(state_, state_.step, state_.time);
}

bool Loop::wants_totals(std::int64_t step) const {
  return std::any_of(writers_.begin(), writers_.end(),
                     [&](const auto& writer) { return writer->reads_totals() && step % writer->every() == 0; });
}

/// Keys that a resumed simulation may change: how long, how often is written, how the ranks are laid out.
static constexpr std::string_view free_keys[] = {"steps", "end_time", "thermo",        "checkpoint",
                                                 "ranks", "balance",  "output[].every"};

Task::Outcome Loop::run() {
  context_.timing.reset();
  const auto checkpoint = resume_point(context_, free_keys, "");
  try {
    if (checkpoint)
      resume(*checkpoint);
    else
      start_fresh();
    if (context_.resume && !checkpoint)
      context_.log.info(fmt::format("no checkpoint in {}: this stage began at step 0", context_.run_directory));
  } catch (const NumericalError& error) {
    dump_and_rethrow(error, state_.step);  // that of the checkpoint, once it was read
  }
  context_.timing.reset();
  attempted_ = state_.step;
  LoopCadence cadence({state_.step, params_.steps, params_.checkpoint.every}, context_);
  auto outcome = Task::Outcome::done;
  const WaitClock waits;
  const MessageCount messages;
  try {
    outcome = advance_all(cadence);
    wait_for_disk();
    seconds_ = cadence.seconds();
    steps_ = cadence.steps_at(state_.step);
    waited_ = waits.seconds();
    messages_ = messages.totals();
    if (outcome == Task::Outcome::done) end(cadence);
  } catch (const NumericalError& error) {
    dump_and_rethrow(error, attempted_);
  }
  const Region region("finish output", WorkKind::host);
  for (const auto& writer : writers_) writer->finish(state_);
  if (outcome == Task::Outcome::done) say_what_is_missing();
  return outcome;
}

/// Final state of the stage, whatever 'every' is: a row of observables, a frame in each output that shows states, a
/// checkpoint. A stage that is stopped will be resumed and gets the checkpoint only.
void Loop::end(const LoopCadence& cadence) {
  if (ended_at_ == state_.step) return;  // resumed from that checkpoint
  const Region region("last state", WorkKind::host);
  const bool row = !cadence.due(state_.step, params_.thermo.every);
  const bool made_here = cadence.steps_at(state_.step) > 0, asked = !row || wants_totals(state_.step);
  if (state_.step > 0 && !(made_here && asked)) physics_->complete(state_, context_);
  if (row) observe_and_print();
  {
    const auto timer = context_.timing.scope("output");
    for (const auto& writer : writers_)
      if (writer->shows_end()) writer->observe_end(state_, state_.step, state_.time);
  }
  ended_at_ = state_.step;
  if (!params_.checkpoint.at_end) return;
  write_checkpoint();
  wait_for_disk();
}

Task::Outcome Loop::advance_all(LoopCadence& cadence) {
  const Region region("between sections", WorkKind::host);
  const std::int64_t thermo = params_.thermo.every;
  while (!over()) {
    attempted_ = state_.step + 1;
    advance(schedule_, *physics_, state_, context_.timing, cadence.due(attempted_, thermo) || wants_totals(attempted_));
    if (cadence.due(state_.step, thermo)) observe_and_print();
    call_writers();
    if (over() && params_.checkpoint.at_end) break;  // the last state has a checkpoint of its own
    if (cadence.stops_after(state_.step, [this] { write_checkpoint(); })) return Task::Outcome::stopped_early;
    cadence.show_progress(state_.step, params_.steps ? 0.0 : physics_->progress(state_));
  }
  return Task::Outcome::done;
}

Task::Work Loop::work() const {
  const auto step = physics_->work(state_);
  return {step.items, step.name, steps_, seconds_, physics_->timestep(state_), physics_->time_unit()};
}

std::vector<Result> Loop::results() const {
  auto out = physics_->results();
  if (context_.comm.size() == 1) return out;
  if (const auto load = rank_load(seconds_, waited_, context_.comm); load && steps_ > 0) append(out, load->results());
  if (const auto messages = step_messages(messages_, static_cast<double>(steps_), context_.comm))
    append(out, messages->results());
  return out;
}

std::vector<std::string> Loop::lines() const {
  auto lines = physics_->report();
  if (context_.comm.size() == 1) return lines;
  if (const auto load = rank_load(seconds_, waited_, context_.comm); load && steps_ > 0) lines.push_back(load->line());
  if (const auto messages = step_messages(messages_, static_cast<double>(steps_), context_.comm))
    lines.push_back(messages->line());
  return lines;
}

std::vector<std::string> Loop::files() const {
  std::vector<std::string> out{"thermo.csv"};
  for (const auto& writer : writers_)
    for (const auto& file : writer->files()) out.push_back(file);
  return out;
}

/// Name of a writer's group in a checkpoint.
static std::string writer_group(std::size_t k) { return fmt::format("writers/{}", k); }

/// Parts of a checkpoint that are not fields of the state.
void Loop::save_parts(io::Group& root) {
  auto group = root.create_group("physics");
  physics_->save(group);
  if (ended_at_ == state_.step) group.set_attribute("ended", ended_at_);
  thermo_file_->save_mark(root);
  for (std::size_t k = 0; k < writers_.size(); ++k) {
    auto own = root.create_group(writer_group(k));
    writers_[k]->save(own);
  }
}

void Loop::write_checkpoint() {
  const auto timer = context_.timing.scope("output");
  const auto require = [this] {
    if (context_.stop) context_.stop->require_directory(true);
  };
  const auto prune = [this] { prune_checkpoints(context_.run_directory, params_.checkpoint.keep); };
  io::on_root(context_.comm, require);
  physics_->prepare_checkpoint(state_, context_);
  const auto path = (std::filesystem::path(context_.run_directory) / checkpoint_name(state_.step)).string();
  const auto provenance = io::provenance_of(context_);
  const auto save = [this](io::Group& root) { save_parts(root); };
  if (params_.checkpoint.asynchronous) {
    io::write_checkpoint_later(path, state_, context_.comm, provenance, save, disk_, require, prune);
    return;
  }
  io::write_checkpoint(path, state_, context_.comm, provenance, save, params_.checkpoint.transfer,
                       params_.checkpoint.compress);
  if (context_.comm.root()) prune();
}

/// Collective: a checkpoint that could not be written is an error of the run.
void Loop::wait_for_disk() {
  const Region region("wait for a checkpoint", WorkKind::files);
  io::on_root(context_.comm, [this] { disk_.wait(); });
}

void Loop::resume(const std::string& path) {
  const Region region("resumed state", WorkKind::host);
  const io::Checkpoint checkpoint(path, context_.comm);
  std::optional<io::TableMark> table;
  io::reading(path, [&] {
    checkpoint.restore(state_, [&](std::int64_t rows) { physics_->resize(state_, rows); });
    physics_->restore(state_, context_, checkpoint.file().group("physics"), checkpoint.same_ranks());
    for (std::size_t k = 0; k < writers_.size(); ++k) {
      writers_[k]->load(checkpoint.file().group(writer_group(k)));
      writers_[k]->resume(state_.step);
    }
    table = io::table_mark(checkpoint.file(), "thermo");
    const auto saved = checkpoint.file().group("physics");
    if (saved.has_attribute("ended")) ended_at_ = saved.attribute<std::int64_t>("ended");
  });
  thermo_file_ =
      std::make_unique<ThermoFile>(context_, physics_->observables(), physics_->time_unit(), state_.step, table);
  context_.log.info(physics_->summary());
  context_.log.info(fmt::format("resumed at step {} from {}{}", state_.step, path,
                                checkpoint.same_ranks() ? "" : " (written by another number of ranks)"));
  if (!checkpoint.sealed())
    context_.log.info("this checkpoint has no checksum: an earlier version wrote it, or it was changed since");
  if (params_.steps && state_.step > *params_.steps)
    context_.log.warn(
        fmt::format("the run has done {} steps, more than steps: {}; its state and its files are those of "
                    "step {}; begin a new run for fewer",
                    state_.step, *params_.steps, state_.step));
  context_.log.info(lines_->header());
  context_.log.info(lines_->units());
  say_what_is_not_due();
}

/// State of a step that could not be completed, under its number.
void Loop::dump_and_rethrow(const NumericalError& error, std::int64_t step) {
  if (step > state_.step) {
    state_.time += physics_->timestep(state_);
    state_.step = step;
  }
  const auto path = (std::filesystem::path(context_.run_directory) / fmt::format("failed.{}.h5", step)).string();
  io::write_checkpoint(path, state_, context_.comm, io::provenance_of(context_), [&](io::Group& root) {
    auto group = root.create_group("physics");
    physics_->save(group);
  });
  throw NumericalError(fmt::format("{}; the state is in {}", error.what(), path), error.elsewhere());
}

}  // namespace cambium
