#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/driver/deck_file.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Runs every stage of a deck in order; with context.resume, continues at the stage that was under way.
ExitCode run_stages(const ReadDeck& deck, Context& context);

/// Constructs every stage, prints its schedule, runs and writes nothing.
ExitCode check_stages(const ReadDeck& deck, Context& context);

}  // namespace cambium
