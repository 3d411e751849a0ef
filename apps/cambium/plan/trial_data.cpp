#include "apps/cambium/plan/trial_data.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "apps/cambium/check/run_hooks.hpp"
#include "core/base/error.hpp"
#include "core/run/run.hpp"

namespace cambium::train {

namespace fs = std::filesystem;

namespace {

ReadDeck first_stages(const std::string& path, const DeckOptions& options, std::size_t count, Registry& registry,
                      Context& context) {
  deck::Problems problems;
  const auto loaded = load_deck(written_deck(path, context.comm), options, registry, context, problems);
  problems.throw_if_any();
  const auto& all = loaded.root["stages"].items();
  std::vector<deck::Node> before(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  auto read = read_deck(loaded.root.with("stages", deck::Node::list(std::move(before))), path, loaded.named, registry,
                        context, problems);
  problems.throw_if_any();
  return read;
}

}  // namespace

TrialData::TrialData(const std::string& path, const DeckOptions& options, std::size_t stage, Registry& registry,
                     Context& context)
    : folder_((fs::temp_directory_path() / fmt::format("cambium_plan_{}", getpid())).string()),
      root_(context.comm.root()) {
  context.comm.broadcast(folder_);
  DeckOptions full = options;
  std::erase_if(full.overrides, [](const auto& override) { return override.starts_with("run.directory="); });
  full.directory = folder_;
  DeckOptions small = full;
  small.test_size = true;
  const auto makes = first_stages(path, small, stage, registry, context);
  context.log.info(fmt::format("stage{} 1{} run at the deck's test size for the shapes of {} data",
                               stage > 1 ? "s" : "", stage > 1 ? fmt::format(" to {}", stage) : "",
                               stage > 1 ? "their" : "its"));
  Log silent;
  Timing timing;
  Context own{context.comm, silent, timing, &registry};
  own.command_line = context.command_line;
  own.seed = static_cast<std::uint64_t>(makes.deck.run.seed);
  own.resolved_deck = makes.resolved;
  run_stages(makes, program_run(path), own);
  full_ = read_deck(path, full, registry, context);
  small_ = read_deck(path, small, registry, context);
}

TrialData::~TrialData() {
  std::error_code none;
  if (root_) fs::remove_all(folder_, none);
}

}  // namespace cambium::train
