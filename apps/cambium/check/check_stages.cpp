#include "apps/cambium/check/check_stages.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "apps/cambium/check/check_page.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/placed_error.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

namespace {

/// Constructs and examines one stage; its problems are added to `check`.
void check_stage(const StagesToCheck& all, std::size_t k, bool tried, Check& check) {
  Context& context = check.context();
  const auto& choice = all.stages[k];
  context.run_directory = (std::filesystem::path(all.directory) / all.folders[k]).string();
  Check::Stage stage;
  stage.name = choice.type;
  stage.folder = all.folders[k];
  stage.keys = choice.node;
  stage.tried = tried;
  check.begin(std::move(stage));
  check.resolve_paths(choice.node, all.folders);
  check.look(choice.node, [&] {
    const auto task = context.registry->make<Task>(choice, context);
    task->examine(check);
    if (!check.stage().says_files) check.not_looked_at("files that it may write: the type announces none");
  });
}

void throw_if_any(const Check& check, const std::string& deck) {
  const auto& problems = check.problems();
  if (problems.empty()) return;
  throw deck::PlacedError(problems,
                          fmt::format("{} problem{} in {}", problems.size(), problems.size() == 1 ? "" : "s", deck));
}

/// A file with the name of a folder of the run would end the run at its start. Links are followed.
void refuse_file_as_folder(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path place = fs::absolute(directory);
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  if (fs::is_directory(place, error) || !fs::exists(place, error)) return;
  throw KeyError("run.directory.file", "run.directory",
                 fmt::format("the run cannot make its folder '{}', because '{}' is a file; choose another with "
                             "run.directory=PATH",
                             directory, place.string()));
}

}  // namespace

void check_stages(const StagesToCheck& all, Context& context) {
  refuse_file_as_folder(all.directory);
  context.dry_run = true;
  Check check(all.directory, context);
  for (std::size_t k = 0; k < all.stages.size(); ++k) {
    context.log.info(fmt::format("\n--- stage {} of {}: {}", k + 1, all.stages.size(), all.stages[k].type));
    check_stage(all, k, true, check);
    for (const auto& line : lines_of(check.stage())) context.log.info(line);
  }
  throw_if_any(check, all.deck);
  if (!check.unseen().empty()) context.log.info("\nnot checked:");
  for (const auto& line : check.unseen()) context.log.info("  " + line);
}

void check_later_stages(const StagesToCheck& all, std::size_t first, Context& world) {
  if (first >= all.stages.size()) return;
  Log silent;
  Timing timing;
  Context quiet{world.comm, silent, timing, world.registry, world.seed, all.directory, world.resolved_deck};
  quiet.dry_run = true;
  Check check(all.directory, quiet);
  for (std::size_t k = 0; k < all.stages.size(); ++k) check_stage(all, k, k >= first, check);
  throw_if_any(check, all.deck);
}

}  // namespace cambium
