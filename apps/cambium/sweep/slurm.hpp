#pragma once
#include <string>

#include "apps/cambium/sweep/table.hpp"

namespace cambium {

/// Writes a script for `sbatch` in which each run of the table is a task of a job array: `command` (as typed, without
/// --slurm) with --row of its own, for `seconds` each (an hour if 0). Site-specific options (account, partition,
/// modules) are to be added by the user. InputError if the file cannot be written.
void write_slurm_script(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& command,
                        double seconds);

}  // namespace cambium
