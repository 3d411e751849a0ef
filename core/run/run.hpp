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
  /// Looks at the stages from a number on before any of them begins, and throws where one cannot work. Collective.
  std::function<void(const ReadDeck& deck, std::size_t first, Context& context)> check_later = {};
  /// Begins to watch a stage, where the deck asks for a profile; what it gives ends that. Collective, both.
  std::function<std::function<StageNotes()>(Context& context)> watch = {};
};

/// Runs every stage of a deck in order; with context.resume, continues at the stage that was under way. Holds the run
/// directory meanwhile (core/io/run_lock.hpp). InputError when another run holds it, or when it holds results and
/// is not to be overwritten, and when a stage behind the first one cannot work.
ExitCode run_stages(const ReadDeck& deck, const RunOptions& options, Context& context);

}  // namespace cambium
