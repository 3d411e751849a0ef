#pragma once
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/run/deck_file.hpp"

namespace cambium::train {

/// Arguments of `cambium suite run`.
struct SuiteRun {
  std::string what;                   ///< a benchmark, mlperf_hpc, or a deck
  DeckOptions deck;                   ///< overrides; the size at which the tests run decks
  int seeds = 10;                     ///< runs of each batch, with seeds 1, 2, ...
  std::vector<std::int64_t> batches;  ///< that of the deck when empty
  std::vector<int> ranks;             ///< of one run, in turn; all there are when empty
  std::string into = "runs/suite";    ///< a folder for each benchmark comes here
};

/// Decks of benchmarks shipped with the program: those whose stage train has a submission to `what`, or to any
/// benchmark of the rules if it is mlperf_hpc. `what` itself if it is a deck. Collective. InputError if there is none,
/// and if a deck has no submission.
std::vector<std::string> benchmark_decks(const std::string& what, const Comm& comm);

/// For each deck, runs the stages before the training once, as staging, which is not part of any score; then the
/// training as a sweep over seeds, batches and numbers of ranks. Resumes an earlier call that was stopped. Adds the
/// folders of the runs to `folders`. Collective. The exit code of run_sweep.
ExitCode run_suite(const SuiteRun& asked, Registry& registry, Context& context, std::vector<std::string>& folders);

}  // namespace cambium::train
