#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/deck/choice.hpp"
#include "core/plugin/task.hpp"
#include "plugins/pretrain/archive/run_table.hpp"

namespace cambium::pretrain {

/// The stage with other values of its keys: each name is a key of its own.
deck::Choice<Task> with_parameters(const deck::Choice<Task>& stage, const std::map<std::string, double>& values);

/// Collective: runs the stage once for each set of parameters, in the folders run_1, run_2 and so on of this stage, and
/// writes made.csv with the file fields.h5 of each. A resumed stage keeps the runs that are in that table.
/// stopped_early where a run was.
Task::Outcome make_runs(const deck::Choice<Task>& stage, const std::vector<std::map<std::string, double>>& runs,
                        Context& context);

/// One stage of these runs as `cambium check` shows it.
void check_runs(const deck::Choice<Task>& stage, const std::map<std::string, double>& first, Context& context);

}  // namespace cambium::pretrain
