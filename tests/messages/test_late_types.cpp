// Types of libraries that are loaded when a deck first asks for them: what is known before, what is after, and what is
// said of a library that is not as it should be.
#include <dlfcn.h>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/platform.hpp"
#include "core/plugin/bench.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

namespace {

const std::string library = PLUGINS "/late_types.so";
using Names = std::vector<std::string>;

struct Light : Task {
  struct Params {
    static void describe(deck::Describe<Params>&) {}
  };
  Light(const Params&, Context&) {}
  void examine(Check&) override {}
  decltype(std::declval<Task&>().run(std::declval<Context&>())) run(Context&) override { return {}; }
};

Bench light_bench(const char* name) {
  return {name, "measures nothing", [](const BenchOptions&, Context&) { return nlohmann::json(); }};
}

bool is_loaded() {
  void* found = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (found) dlclose(found);
  return found != nullptr;
}

std::string internal_error(const char* function) {
  Registry registry;
  registry.add_later({"core", library, function, {{"task", "heavy"}}});
  try {
    registry.find("task", "heavy");
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("a late library is loaded when its types are asked for, not when they are listed") {
  Registry registry;
  registry.set_plugin("light");
  registry.add<Light>("first", "is there");
  registry.add_bench(light_bench("first_bench"));
  registry.add_later({"weights", library, "add_heavy", {{"task", "heavy"}}});
  registry.add_later({"weights", library, "add_benches", {{"task", "other"}}});
  registry.add<Light>("last", "is there, too");
  registry.add_bench(light_bench("last_bench"));

  CHECK(registry.names("task") == Names{"first", "heavy", "other", "last"});
  CHECK(registry.kinds() == Names{"task"});
  CHECK(registry.plugins() == Names{"light", "weights"});
  REQUIRE(registry.find("task", "first"));
  CHECK_FALSE(registry.find("potential", "heavy"));
  CHECK(registry.elsewhere("potential", "slow").empty());
  CHECK_FALSE(is_loaded());

  const auto* heavy = registry.find("task", "heavy");
  CHECK(is_loaded());
  REQUIRE(heavy);
  CHECK(heavy->plugin == "weights");
  CHECK(heavy->doc == "takes long to load");
  CHECK(heavy->schema.keys.size() == 1);
  CHECK(registry.plugin() == "light");
  CHECK(registry.names("task") == Names{"first", "heavy", "other", "last"});
  CHECK(registry.find("task", "weighty") == heavy);

  Names benches;
  for (const auto& bench : registry.benches()) benches.push_back(bench.name);
  CHECK(benches == Names{"first_bench", "heavy_bench", "other_bench", "last_bench"});
}

TEST_CASE("benches stand where their library was declared, whichever is loaded first") {
  Registry registry;
  registry.add_later({"weights", library, "add_heavy", {{"task", "heavy"}}});
  registry.add_later({"weights", library, "add_benches", {{"task", "other"}}});
  registry.add_bench(light_bench("last_bench"));
  REQUIRE(registry.find("task", "other"));
  Names benches;
  for (const auto& bench : registry.benches()) benches.push_back(bench.name);
  CHECK(benches == Names{"heavy_bench", "other_bench", "last_bench"});
}

TEST_CASE("former names and synonyms of a late library are known") {
  Registry former, synonym;
  for (Registry* registry : {&former, &synonym}) registry->add_later({"w", library, "add_heavy", {{"task", "heavy"}}});
  REQUIRE(former.find("task", "weighty"));
  CHECK(former.find("task", "weighty")->name == "heavy");
  CHECK(synonym.elsewhere("task", "slow") == "is not here by this name; take 'heavy' (takes long to load)");
}

TEST_CASE("what is said of a late library that cannot be loaded") {
  const auto refusal = [](const std::string& file, const char* function) {
    Registry registry;
    registry.add_later({"core", file, function, {{"task", "heavy"}, {"writer", "heavy"}}});
    return message([&] { registry.find("task", "heavy"); });
  };
  CHECK(refusal("libnowhere.so", "add") ==
        "the library of task 'heavy' and writer 'heavy' cannot be loaded: " + core_library_folder() +
            "/libnowhere.so: cannot open shared object file: No such file or directory\n`ldd " + core_library_folder() +
            "/libnowhere.so` lists what it misses: install that, or build and install Cambium again");
  CHECK(refusal(library, "add_of_an_earlier_version") ==
        "the library of task 'heavy' and writer 'heavy' is not of this Cambium, it has no 'add_of_an_earlier_version': "
        "build and install Cambium again (" +
            library + ")");
}

TEST_CASE("a late library adds what it declares") {
  CHECK(internal_error("add_others") ==
        library + " adds task 'unannounced', which is not among the types that its CMakeLists.txt names");
  CHECK(internal_error("add_nothing") == library + " does not add task 'heavy', which its CMakeLists.txt names");
  CHECK(internal_error("add_tool") ==
        library +
            " adds a tool, which is unknown to the command line until the library is loaded; add it with the "
            "types that are always there");
  Registry registry;
  registry.add_later({"core", library, "add_heavy", {{"task", "heavy"}}});
  CHECK_THROWS_WITH(registry.add<Light>("heavy", "the same name"),
                    "task 'heavy' is added by plugin 'core' and by plugin 'core'");
}
