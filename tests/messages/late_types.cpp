// A library of types that is loaded late, with one function as it should be and others as they should not.
#include <nlohmann/json.hpp>

#include "core/plugin/bench.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"

using namespace cambium;

struct Heavy : Task {
  struct Params {
    int times = 0;
    static void describe(deck::Describe<Params>& d) { d("times", &Params::times, "how often").def(1); }
  };
  Heavy(const Params&, Context&) {}
  void examine(Check&) override {}
  decltype(std::declval<Task&>().run(std::declval<Context&>())) run(Context&) override { return {}; }
};

static Bench bench(const char* name) {
  return {name, "measures nothing", [](const BenchOptions&, Context&) { return nlohmann::json(); }};
}

extern "C" {

void add_heavy(Registry& registry) {
  registry.add<Heavy>("heavy", "takes long to load").synonyms({"slow"});
  registry.renamed<Task>("weighty", "heavy");
  registry.add_bench(bench("heavy_bench"));
}

void add_others(Registry& registry) {
  add_heavy(registry);
  registry.add<Heavy>("unannounced", "nobody was told");
}

void add_nothing(Registry&) {}

void add_tool(Registry& registry) {
  add_heavy(registry);
  registry.add_command({"heavy", "tool", "a tool", [](std::vector<std::string>, Context&) { return 0; }});
}

void add_benches(Registry& registry) {
  registry.add<Heavy>("other", "takes long to load, too");
  registry.add_bench(bench("other_bench"));
}
}
