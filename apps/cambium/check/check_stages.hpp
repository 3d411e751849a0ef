#pragma once
#include <string>
#include <vector>

#include "core/deck/choice.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"

namespace cambium {

/// The stages of a deck, as input of a check.
struct StagesToCheck {
  std::string directory;                   ///< of the run
  std::vector<deck::Choice<Task>> stages;  ///< in order
  std::vector<std::string> folders;        ///< of each, inside the directory
  std::string deck;                        ///< for the count of problems: "deck.yaml"
};

/// `cambium check`: constructs and examines every stage, and logs the findings; runs and writes
/// nothing. DeckError with all problems.
void check_stages(const StagesToCheck& stages, Context& context);

/// The same before a run, without log, for the stages from `first` on: an hour of training is not lost to a later
/// stage. For the stages before `first` only their output files are examined. Collective, as check_stages() is.
void check_later_stages(const StagesToCheck& stages, std::size_t first, Context& context);

}  // namespace cambium
