#pragma once
#include "core/plugin/command.hpp"

namespace cambium::train {

/// `cambium suite check LOG...`: logs of trainings against the rules, the score of several, and their convergence
/// against reference points. `cambium suite report RUNS...`: a page of scores and phases.
Command suite_command();

}  // namespace cambium::train
