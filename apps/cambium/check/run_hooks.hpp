#pragma once
#include <string>

#include "core/run/run.hpp"

namespace cambium {

/// Options with which the program runs the stages of a deck: later ones are checked before the first begins, and one
/// whose deck requests a profile is profiled. `deck`: the path that was typed.
RunOptions program_run(const std::string& deck, bool overwrite = false);

/// `cambium check`: constructs and examines every stage of a deck; runs and writes nothing. `path`
/// is the name of the deck in the count of problems. DeckError with all problems.
ExitCode check_deck(const ReadDeck& deck, const std::string& path, Context& context);

}  // namespace cambium
