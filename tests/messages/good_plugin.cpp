#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"

namespace {

using namespace cambium;

struct Nothing : Task {
  struct Params {
    int times = 0;
    static void describe(deck::Describe<Params>& d) { d("times", &Params::times, "how often").def(1); }
  };
  Nothing(const Params&, Context&) {}
  void examine(Check&) override {}
  decltype(std::declval<Task&>().run(std::declval<Context&>())) run(Context&) override { return {}; }
};

void register_types(Registry& registry) { registry.add<Nothing>("nothing", "does nothing"); }

}  // namespace

CAMBIUM_PLUGIN("good", "1.2", "A. Author", "A. Author, J. Tests 1, 1 (2020)", register_types)
