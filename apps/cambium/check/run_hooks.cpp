#include "apps/cambium/check/run_hooks.hpp"

#include <memory>

#include "apps/cambium/check/check_stages.hpp"
#include "apps/cambium/profile/stage_profile.hpp"

namespace cambium {

static StagesToCheck to_check(const ReadDeck& read, const std::string& deck) {
  return {read.deck.run.directory, read.deck.stages, read.deck.stage_folders(), deck};
}

RunOptions program_run(const std::string& deck, bool overwrite) {
  RunOptions options{deck, overwrite};
  options.check_later = [deck](const ReadDeck& read, std::size_t first, Context& context) {
    check_later_stages(to_check(read, deck), first, context);
  };
  options.watch = [](Context& context) -> std::function<StageNotes()> {
    return [profile = std::make_shared<StageProfile>(context)] {
      StageNotes notes;
      notes.lines = profile->finish();
      notes.files = profile->files();
      return notes;
    };
  };
  return options;
}

ExitCode check_deck(const ReadDeck& read, const std::string& deck, Context& context) {
  check_stages(to_check(read, deck), context);
  context.log.info("\nthe deck is sound; nothing was run");
  return ExitCode::done;
}

}  // namespace cambium
