#pragma once
#include "core/plugin/command.hpp"

namespace cambium {
class Registry;
}

namespace cambium::train {

/// `cambium suite check LOG...`: checks training logs against the rules, and reports the score of several and their
/// convergence against reference points. `cambium suite report RUNS...`: a page of scores and phases. `cambium suite
/// run BENCHMARK`: data, trainings over seeds, batches and ranks, and that page. The registry, with all types named in
/// decks, must outlive the command.
Command suite_command(Registry& registry);

}  // namespace cambium::train
