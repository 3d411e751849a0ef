#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/deck/choice.hpp"
#include "core/plugin/task.hpp"
#include "plugins/pretrain/archive/run_table.hpp"

namespace cambium::pretrain {

/// The stage with other values of its keys; each name is one of them.
deck::Choice<Task> with_parameters(const deck::Choice<Task>& stage, const std::map<std::string, double>& values);

/// Collective: runs the stage once for each set of parameters, in the folders run_1, run_2, ... of this stage, and
/// writes made.csv with the file fields.h5 of each. A resumed stage keeps the runs listed in that table. Returns
/// stopped_early if a run did.
Task::Outcome make_runs(const deck::Choice<Task>& stage, const std::vector<std::map<std::string, double>>& runs,
                        Context& context);

/// Checks one of these runs for `cambium check`.
void check_runs(const deck::Choice<Task>& stage, const std::map<std::string, double>& first, Context& context);

}  // namespace cambium::pretrain
