#pragma once
#include <string>
#include <vector>

#include "core/deck/choice.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"

namespace cambium {

/// The stages of a deck as a check sees them.
struct StagesToCheck {
  std::string directory;                   ///< of the run
  std::vector<deck::Choice<Task>> stages;  ///< in order
  std::vector<std::string> folders;        ///< of each, inside the directory
  std::string deck;                        ///< for the count of problems: "deck.yaml"
};

/// `cambium check`: makes every stage, asks whatever is Checked, and says what it found through the log; runs and
/// writes nothing. DeckError with all problems.
void check_stages(const StagesToCheck& stages, Context& context);

/// The same before a run, in silence, of the stages from `first` on: an hour of training is not lost to a stage behind
/// it. The stages before `first` are only asked what they write. Collective, as check_stages() is.
void check_later_stages(const StagesToCheck& stages, std::size_t first, Context& context);

}  // namespace cambium
