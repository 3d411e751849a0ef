#pragma once
#include <functional>
#include <string>

#include "apps/cambium/sweep/table.hpp"
#include "core/base/error.hpp"

namespace cambium {

/// The table as it is printed: number, values, folder and state of every run.
std::string table_text(const Sweep& sweep);

/// Runs what is missing of a table, each run in its folder, the ranks divided among them: groups of ranks take the next
/// run that nobody has begun. A run that was stopped goes on from its checkpoint; one that failed is named and left
/// alone unless options.retry. Writes results.h5 and results.csv at the end. Exit code: 0 when all runs are done, 3
/// when stopped by a signal or the wall time (run.walltime is that of the whole call), else the largest one of a run
/// that failed. Collective. InputError when the folder holds another sweep.
ExitCode run_sweep(const Sweep& sweep, const SweepOptions& options, Registry& registry, Context& context);

/// Constructs every stage of every run, as `cambium check` does of one deck. InputError names the runs that are
/// refused.
ExitCode check_sweep(const Sweep& sweep, Registry& registry, Context& context);

}  // namespace cambium
