// Every deck that ships, in the form in which a run stores it: all defaults are written there, and a restart reads it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "apps/cambium/check/run_hooks.hpp"
#include "apps/cambium/command_line/commands.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/deck_file.hpp"
#include "core/run/rounds.hpp"
#include "core/run/run.hpp"
#include "core/run/simulate.hpp"
#include "plugins/plugin_list.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> shipped_decks() {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(CAMBIUM_SOURCE_DIR "/inputs"))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

/// Whether all plugins of a deck are in this build.
bool is_built(const deck::Node& heading, const std::set<std::string>& plugins) {
  for (const auto& name : heading["plugins"].items())
    if (!plugins.contains(name.text())) return false;
  return true;
}

}  // namespace

TEST_CASE("the resolved form of every deck is read again, passes the check and resolves to itself") {
  Comm self(MPI_COMM_SELF);
  Log log(nullptr, true);
  Timing timing;
  Registry registry;
  registry.set_plugin("core");
  registry.add<Simulate>("simulate", "advance a physics in time");
  registry.add<Rounds>("loop", "stages repeated in rounds");
  add_core_writers(registry);
  register_everything(registry);
  std::istringstream words(BUILT_PLUGINS);
  const std::set<std::string> plugins{std::istream_iterator<std::string>(words), {}};
  const Scratch scratch;
  DeckOptions options;
  options.test_size = true;
  options.overrides = {"run.directory=" + scratch.file("run"), "sweep=null"};
  int decks = 0;
  for (const auto& path : shipped_decks()) {
    Context context{self, log, timing};
    context.registry = &registry;
    if (!is_built(deck_heading(written_deck(path, self), options), plugins)) continue;
    INFO(path);
    const auto resolved = read_deck(path, options, registry, context).resolved;
    const auto again = scratch.file("deck.yaml");
    std::ofstream(again) << resolved;
    ReadDeck read;
    REQUIRE_NOTHROW(read = read_deck(again, {}, registry, context));
    CHECK(read.resolved == resolved);
    context.seed = static_cast<std::uint64_t>(read.deck.run.seed);
    CHECK_NOTHROW(check_deck(read, again, context));
    ++decks;
  }
  CHECK(decks > 0);
}
