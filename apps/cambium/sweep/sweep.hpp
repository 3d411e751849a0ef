#pragma once
#include <functional>
#include <string>

#include "apps/cambium/sweep/table.hpp"
#include "core/base/error.hpp"

namespace cambium {

/// The table as it is printed: number, values, folder and state of every run.
std::string table_text(const Sweep& sweep);

/// Runs the missing runs of a table, each in its folder, with the ranks divided into groups that take the next run not
/// yet begun. A stopped run resumes from its checkpoint; a failed one is reported and skipped unless options.retry.
/// Writes results.h5 and results.csv at the end. Exit code: 0 if all runs are done, 3 if stopped by a signal or the
/// wall time (run.walltime is that of the entire call), else the largest one of a failed run. Collective. InputError if
/// the folder holds another sweep.
ExitCode run_sweep(const Sweep& sweep, const SweepOptions& options, Registry& registry, Context& context);

/// Constructs every stage of every run, as `cambium check` does for one deck. InputError names the runs that are
/// refused.
ExitCode check_sweep(const Sweep& sweep, Registry& registry, Context& context);

}  // namespace cambium
