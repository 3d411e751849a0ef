#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/base/message_count.hpp"
#include "core/plugin/check.hpp"
#include "core/run/loop_cadence.hpp"
#include "core/run/simulate.hpp"
#include "core/run/thermo.hpp"
#include "core/run/thermo_file.hpp"

namespace cambium {

/// The time loop of a simulate stage.
class Loop {
 public:
  Loop(const Simulate::Params& params, Context& context);

  /// Prints the plan of the run: physics, potential, schedule with reads and writes, outputs.
  void report_plan() const;
  /// Checks the files to be written and, for small systems, the initial state, its compatibility with the writers, and
  /// two steps.
  void examine(Check& check);
  Task::Outcome run();

  // For the stage summary, after run().
  Task::Work work() const;
  std::vector<Result> results() const;     ///< collective
  std::vector<std::string> lines() const;  ///< collective
  std::vector<std::string> files() const;
  std::vector<Citation> citations() const { return physics_->citations(); }

 private:
  // loop_trial.cpp
  void promise_files(Check& check) const;
  Promise promise_of(const std::string& file, std::size_t k) const;
  bool make_first_state(Check& check);
  void time_steps(Check& check);
  void ask_writers();

  // loop.cpp
  void start_fresh();
  void resume(const std::string& checkpoint);
  void observe_and_print();
  void call_writers();
  void say_what_is_not_due() const;
  void say_what_is_missing() const;
  void end(const LoopCadence& cadence);
  bool wants_totals(std::int64_t step) const;
  bool over() const { return state_.step >= last_step_ || physics_->finished(); }
  void write_checkpoint();
  void save_parts(io::Group& root);
  void wait_for_disk();
  Task::Outcome advance_all(LoopCadence& cadence);
  [[noreturn]] void dump_and_rethrow(const NumericalError& error, std::int64_t step);

  const Simulate::Params& params_;
  Context& context_;
  State state_;
  std::unique_ptr<Physics> physics_;
  std::vector<std::unique_ptr<Writer>> writers_;
  Schedule schedule_;
  std::unique_ptr<ThermoLines> lines_;
  std::unique_ptr<ThermoFile> thermo_file_;
  std::int64_t last_step_ = 0;
  std::int64_t attempted_ = 0;  ///< the current step, or the last one
  std::int64_t ended_at_ = -1;  ///< the step with whose state the stage came to its end, once its outputs are written
  std::vector<double> values_;
  io::BackgroundFile disk_;  ///< of rank 0: the checkpoint that is still on its way
  double seconds_ = 0.0;     ///< that the loop took
  std::int64_t steps_ = 0;   ///< completed steps
  double waited_ = 0.0;      ///< seconds of these in messages and waits
  MessageTotals messages_;   ///< of the loop
};

}  // namespace cambium
