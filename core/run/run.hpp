#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/parallel/context.hpp"
#include "core/run/deck_file.hpp"

namespace cambium {

/// Observer of a stage, with its lines for the summary: lines, and files that were written.
struct StageNotes {
  std::vector<std::string> lines, files;
};

struct RunOptions {
  std::string deck;        ///< path that was typed, for messages
  bool overwrite = false;  ///< an older run in the directory is moved aside
  /// Checks the stages from `first` on before any of them begins, and throws if one cannot work. Collective.
  std::function<void(const ReadDeck& deck, std::size_t first, Context& context)> check_later = {};
  /// Starts profiling a stage, if the deck requests it; calling the result ends it. Both are collective.
  std::function<std::function<StageNotes()>(Context& context)> watch = {};
};

/// Runs every stage of a deck in order; with context.resume, continues at the current stage. Locks the run directory
/// meanwhile (core/io/run_lock.hpp). InputError if another run holds it, if it holds results and is not to be
/// overwritten, and if a later stage cannot work.
ExitCode run_stages(const ReadDeck& deck, const RunOptions& options, Context& context);

}  // namespace cambium
