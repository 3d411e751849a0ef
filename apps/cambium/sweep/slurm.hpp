#pragma once
#include <string>

#include "apps/cambium/sweep/table.hpp"

namespace cambium {

/// Writes a script for `sbatch` in which each run of the table is a task of a job array: `command` (what was typed,
/// without --slurm) with --row of its own, for `seconds` each (an hour where these are 0). What a site wants besides
/// (account, partition, modules) is left to be put in. InputError where the file cannot be written.
void write_slurm_script(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& command,
                        double seconds);

}  // namespace cambium
