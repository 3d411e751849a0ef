#pragma once
#include <string>

#include "core/run/run.hpp"

namespace cambium {

/// How the program runs the stages of a deck: later ones are looked at before the first begins, and one whose deck asks
/// for a profile is watched. `deck`: the path that was typed.
RunOptions program_run(const std::string& deck, bool overwrite = false);

/// `cambium check`: makes every stage of a deck and asks whatever is Checked; runs and writes nothing. `path` names the
/// deck in the count of problems. DeckError with all problems.
ExitCode check_deck(const ReadDeck& deck, const std::string& path, Context& context);

}  // namespace cambium
