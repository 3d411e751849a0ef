#include "apps/cambium/sweep/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/run/run_directory.hpp"

namespace cambium {

namespace {

constexpr const char* script = R"(#!/bin/bash
# {count} runs of {deck}, one task of the array each. Submit it, and collect the results when all tasks have ended:
#   id=$(sbatch --parsable {file}) && sbatch --dependency=afterany:$id --wrap "{program} report {directory}"
# Add what your site requires: account, partition, modules. A task that is submitted again continues from its checkpoint.
#SBATCH --job-name={name}
#SBATCH --array=1-{count}
#SBATCH --ntasks={ranks}
#SBATCH --cpus-per-task=1
#SBATCH --time={time}
#SBATCH --signal=TERM@{lead}
#SBATCH --output={directory}/slurm_%a.txt
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
srun {command} --ranks-per-run {ranks} --row "$SLURM_ARRAY_TASK_ID"
code=$?
[ $code -eq 3 ] && scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"
exit $code
)";

}  // namespace

void write_slurm_script(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& command,
                        double seconds) {
  std::string words;
  for (const auto& word : command) {
    if (!words.empty()) words += ' ';
    words += shell_word(word);
  }
  const std::string name = sweep.root["run"]["name"].text();
  // Slurm counts in minutes and may send the signal up to one minute early. A short task that is stopped before its
  // first step would be queued again for ever.
  const auto limit = static_cast<long long>(seconds > 0.0 ? std::max(120.0, seconds) : 3600.0);
  io::write_file_atomically(
      options.slurm,
      fmt::format(script, fmt::arg("count", sweep.table.rows.size()), fmt::arg("deck", sweep.path),
                  fmt::arg("file", shell_word(options.slurm)), fmt::arg("program", shell_word(command.at(0))),
                  fmt::arg("directory", shell_word(sweep.directory)), fmt::arg("name", name.empty() ? "sweep" : name),
                  fmt::arg("ranks", options.ranks_per_run > 0 ? options.ranks_per_run : 1),
                  fmt::arg("time", fmt::format("{:02}:{:02}:{:02}", limit / 3600, limit / 60 % 60, limit % 60)),
                  fmt::arg("lead", std::min(180LL, limit / 4)), fmt::arg("command", words)));
}

}  // namespace cambium
