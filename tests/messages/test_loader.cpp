// What is loaded, and what is said about what is not.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/cambium/command_line/new_plugin.hpp"
#include "core/base/text.hpp"
#include "core/plugin/abi.hpp"
#include "core/plugin/loader.hpp"
#include "tests/catch.hpp"

using namespace cambium;
namespace fs = std::filesystem;

namespace {

const std::string good = PLUGINS "/good_plugin.cambium.so";

std::string refusal(const std::string& name) {
  Comm comm;
  Registry registry;
  try {
    load_plugin(name, registry, comm);
  } catch (const InputError& e) {
    return e.what();
  }
  return "loaded";
}

/// A folder of all ranks, filled by rank 0, that goes away with the test.
struct Folder {
  Comm comm;
  fs::path path;
  Folder() {
    std::string text = (fs::temp_directory_path() / ("cambium_loader_" + std::to_string(getpid()))).string();
    comm.broadcast(text);
    path = text;
    if (comm.root()) fs::create_directories(path);
    comm.barrier();
  }
  ~Folder() {
    comm.barrier();
    if (comm.root()) fs::remove_all(path);
  }
  std::string write(const std::string& name, const std::string& bytes) const {
    if (comm.root()) std::ofstream(path / name, std::ios::binary) << bytes;
    comm.barrier();
    return (path / name).string();
  }
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a plugin is loaded by path, by name and once") {
  Comm comm;
  Registry registry;
  const auto info = load_plugin(good, registry, comm);
  CHECK(info.name == "good");
  CHECK(info.version == "1.2");
  CHECK(info.author == "A. Author");
  CHECK(info.citation == "A. Author, J. Tests 1, 1 (2020)");
  CHECK(info.path == good);
  REQUIRE(registry.find("task", "nothing"));
  CHECK(registry.find("task", "nothing")->plugin == "good");
  CHECK(registry.plugin() == "core");
  CHECK_THROWS_WITH(load_plugin(good, registry, comm), "there is a plugin 'good' already; " + good + " is not loaded");
  CHECK(load_plugins({"good"}, registry, comm).empty());

  Registry other;
  setenv("CAMBIUM_PLUGIN_PATH", ("/nowhere:" + std::string(PLUGINS)).c_str(), 1);
  CHECK(load_plugins({"good_plugin"}, other, comm).at(0).path == good);
  unsetenv("CAMBIUM_PLUGIN_PATH");
}

TEST_CASE("a library that everybody may change is named") {
  const Folder folder;
  const fs::path file = folder.path / "a.cambium.so";
  if (folder.comm.root()) {
    std::ofstream(file) << "a library";
    fs::permissions(file, fs::perms::owner_all);
    fs::permissions(folder.path, fs::perms::owner_all);
  }
  folder.comm.barrier();
  CHECK(reason_for_distrust(file.string()).empty());
  const auto text = [](const fs::path& path) {
    return "everybody may write to '" + path.string() +
           "', and with it change what runs in your name; take that right away: chmod o-w '" + path.string() + "'";
  };
  folder.comm.barrier();
  if (folder.comm.root()) fs::permissions(folder.path, fs::perms::owner_all | fs::perms::others_all);
  folder.comm.barrier();
  CHECK(reason_for_distrust(file.string()) == text(folder.path));
  folder.comm.barrier();
  if (folder.comm.root())
    fs::permissions(folder.path, fs::perms::owner_all | fs::perms::others_all | fs::perms::sticky_bit);
  folder.comm.barrier();
  CHECK(reason_for_distrust(file.string()).empty());
  folder.comm.barrier();
  if (folder.comm.root()) fs::permissions(file, fs::perms::owner_all | fs::perms::others_write);
  folder.comm.barrier();
  CHECK(reason_for_distrust(file.string()) == text(file));
}

TEST_CASE("a plugin of the source tree that this build leaves out is known") {
  Comm comm;
  Registry registry;
  registry.known_elsewhere("plugin", "kinetic", "kinetic", "-DCAMBIUM_PLUGINS= builds all");
  registry.known_elsewhere("", "vlasov", "kinetic", "-DCAMBIUM_PLUGINS= builds all");
  CHECK_THROWS_WITH(load_plugin("kinetic", registry, comm),
                    "'kinetic' is a plugin that this build does not have (-DCAMBIUM_PLUGINS= builds all)");
  CHECK(registry.elsewhere("physics", "vlasov") ==
        "belongs to plugin 'kinetic', which this build does not have (-DCAMBIUM_PLUGINS= builds all)");
  CHECK(registry.elsewhere("plugin", "vlasov").empty());
}

TEST_CASE("a plugin that is not there is looked for, and the places are named") {
  setenv("CAMBIUM_PLUGIN_PATH", PLUGINS, 1);
  CHECK(refusal("god_plugin") ==
        "there is no plugin 'god_plugin'; did you mean 'good_plugin'?\n"
        "looked for:\n"
        "  " PLUGINS
        "/god_plugin.cambium.so\n"
        "  " BUILD
        "/lib/cambium/plugins/god_plugin.cambium.so\n"
        "Name the path of its library, or its folder in CAMBIUM_PLUGIN_PATH.");
  unsetenv("CAMBIUM_PLUGIN_PATH");
  CHECK(refusal("good_plugin") ==
        "there is no plugin 'good_plugin'\n"
        "looked for:\n"
        "  " BUILD
        "/lib/cambium/plugins/good_plugin.cambium.so\n"
        "Name the path of its library, or its folder in CAMBIUM_PLUGIN_PATH.");
  CHECK(refusal("./no/such.so") == "there is no plugin library './no/such.so'");
}

TEST_CASE("plugins that are found are loaded for lists, and what keeps others out is said") {
  Folder folder;
  folder.write("good.cambium.so", read(good));  // named as the plugin names itself
  folder.write("torn.cambium.so", read(good).substr(0, 2000));
  folder.write("notes.txt", "no plugin");
  setenv("CAMBIUM_PLUGIN_PATH", (folder.path.string() + ":/no/such/folder").c_str(), 1);
  Registry registry;
  const auto reasons = load_found_plugins(registry, folder.comm);
  unsetenv("CAMBIUM_PLUGIN_PATH");
  CHECK(registry.plugins() == std::vector<std::string>{"good"});
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0] ==
        "plugin 'torn' is cut short, copy or build it again (" + (folder.path / "torn.cambium.so").string() + ")");
  const auto kinds = registry.kinds();
  REQUIRE(kinds.size() == 1);
  CHECK(registry.names(kinds[0]) == std::vector<std::string>{"nothing"});
  // Once more nothing is loaded twice.
  setenv("CAMBIUM_PLUGIN_PATH", folder.path.c_str(), 1);
  CHECK(load_found_plugins(registry, folder.comm).size() == 1);
  unsetenv("CAMBIUM_PLUGIN_PATH");
}

TEST_CASE("a plugin for another ABI is refused before any of it runs, field by field") {
  Folder folder;
  auto bytes = read(good);
  const std::string own = std::string("Cambium=") + header_version, other = "Cambium=0.0.9";
  REQUIRE(own.size() == other.size());
  for (auto at = bytes.find(own); at != std::string::npos; at = bytes.find(own)) bytes.replace(at, own.size(), other);
  const auto path = folder.write("old.cambium.so", bytes);
  std::string expected = "plugin 'old' was built for another Cambium and is not loaded (" + path + ")\n";
  for (const auto& [name, value] : abi_fields(abi_tag.text))
    expected += name == "Cambium" ? "  Cambium: 0.0.9 in the plugin, " + value + " in this program <- differs\n"
                                  : "  " + name + ": " + value + "\n";
  expected += "Rebuild it: cmake -B build -S <its source> -Dcambium_DIR=" BUILD " && cmake --build build";
  CHECK(refusal(path) == expected);
}

TEST_CASE("libraries that are no plugins are told apart") {
  Folder folder;
  const auto path = folder.write("text.so", "no library");
  CHECK(refusal(path) == "plugin 'text' is not a plugin of Cambium: it has no ABI tag (" + path + ")");
  const auto broken = folder.write("broken.cambium.so", std::string("no library, but ") + abi_tag.text);
  CHECK(refusal(broken) == "plugin 'broken' cannot be loaded: " + broken + ": invalid ELF header");
  const auto whole = read(good);
  const auto half = folder.write("half.cambium.so", whole.substr(0, whole.size() / 2));
  CHECK(refusal(half) == "plugin 'half' is cut short, copy or build it again (" + half + ")");
  CHECK(refusal(PLUGINS "/undescribed_plugin.cambium.so") ==
        "plugin 'undescribed_plugin' has no CAMBIUM_PLUGIN(...) in its sources (" PLUGINS
        "/undescribed_plugin.cambium.so)");
  CHECK(refusal(PLUGINS "/small_plugin.cambium.so") ==
        "plugin 'small_plugin' describes itself in 16 bytes, this program expects 56 (" PLUGINS
        "/small_plugin.cambium.so)\n"
        "Rebuild it: cmake -B build -S <its source> -Dcambium_DIR=" BUILD " && cmake --build build");
}

TEST_CASE("an ABI tag is a list of fields") {
  const auto fields = abi_fields(abi_tag.text);
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.first);
  CHECK(names ==
        std::vector<std::string>{"Cambium", "compiler", "C++ ABI", "instruction set", "MPI", "Kokkos", "Torch"});
  for (const auto& field : fields) CHECK_FALSE(field.second.empty());
  CHECK(abi_difference("cambium-abi: a=1; b=2", "cambium-abi: a=1; b=2").empty());
  CHECK(abi_difference("cambium-abi: a=1; b=2; d=5", "cambium-abi: a=1; b=3; c=4") ==
        "  a: 1\n"
        "  b: 2 in the plugin, 3 in this program <- differs\n"
        "  c: not stated in the plugin, 4 in this program <- differs\n"
        "  d: 5 in the plugin, not stated in this program <- differs\n");
}

TEST_CASE("a new plugin is the template under another name") {
  Comm comm;
  if (!comm.root()) return;
  const fs::path place = fs::temp_directory_path() / ("cambium_new_plugin_" + std::to_string(getpid()));
  const auto target = (place / "my_force").string();
  const auto files = new_plugin("my_force", target, CAMBIUM_SOURCE_DIR "/plugins/template/potential");
  CHECK(files == std::vector<std::string>{"CMakeLists.txt", "README.md", "decks/my_force.yaml", "my_force.hpp",
                                          "register.cpp", "tests/main.cpp", "tests/test_my_force.cpp"});
  std::string all;
  for (const auto& file : files) all += read(fs::path(target) / file);
  CHECK(all.find("my_pair") == std::string::npos);
  CHECK(all.find("MyPair") == std::string::npos);
  CHECK(all.find("using MyForce = PairPotential<MyForceForm>;") != std::string::npos);
  CHECK_THROWS_WITH(new_plugin("my_force", target, CAMBIUM_SOURCE_DIR "/plugins/template/potential"),
                    "'" + target + "' is there already; choose another folder");
  CHECK_THROWS_WITH(
      new_plugin("MyForce", target, CAMBIUM_SOURCE_DIR "/plugins/template/potential"),
      "found 'MyForce', expected the name of a plugin: small letters, digits and '_', beginning with a letter");
  CHECK_THROWS_WITH(new_plugin("fresh", target, place.string()),
                    "there is no plugin template in '" + place.string() + "'");
  fs::remove_all(place);
}

TEST_CASE("a new plugin has one of six kinds, and what was called a model is a network") {
  Comm comm;
  if (!comm.root()) return;
  const std::string templates = CAMBIUM_SOURCE_DIR "/plugins/template";
  CHECK(plugin_kinds(templates) ==
        std::vector<std::string>{"dataset", "network", "physics", "potential", "task", "writer"});
  CHECK(template_of("model", templates) == templates + "/network");
  CHECK(template_of("physics", templates) == templates + "/physics");
  CHECK_THROWS_WITH(template_of("pysics", templates),
                    "there is no template of a plugin of kind 'pysics'; did you mean 'physics'?");
  const fs::path place = fs::temp_directory_path() / ("cambium_kinds_" + std::to_string(getpid()));
  for (const std::string kind : {"physics", "network", "dataset", "writer", "task"}) {
    const auto target = place / kind;
    std::string all;
    for (const auto& file : new_plugin("warm_rod", target.string(), template_of(kind, templates)))
      all += file + read(target / file);
    CHECK(all.find("my_" + kind) == std::string::npos);
    CHECK(all.find("My" + std::string(1, static_cast<char>(kind[0] - 32)) + kind.substr(1)) == std::string::npos);
    CHECK(all.find("class WarmRod : public") != std::string::npos);
  }
  fs::remove_all(place);
}
