#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/driver/deck_file.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

struct RunOptions {
  std::string deck;        ///< path that was typed, for messages
  bool overwrite = false;  ///< an older run in the directory is moved aside
};

/// Runs every stage of a deck in order; with context.resume, continues at the stage that was under way. Holds the run
/// directory meanwhile (core/io/run/run_lock.hpp). InputError when another run holds it, or when it holds results and
/// is not to be overwritten, and when a stage behind the first one cannot work.
ExitCode run_stages(const ReadDeck& deck, const RunOptions& options, Context& context);

/// `cambium check`: see core/driver/checks. `path` names the deck in the count of problems.
ExitCode check_deck(const ReadDeck& deck, const std::string& path, Context& context);

}  // namespace cambium
