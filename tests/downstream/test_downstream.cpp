// A plugin that was built outside of the tree, seen from a program.
#include "core/plugin/loader.hpp"
#include "core/plugin/potential.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("the template, built against the installed package, is loaded and makes its type") {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  Context context{comm, log, timing, &registry};
  const auto info = load_plugin(PLUGIN, registry, comm);
  CHECK(info.name == "my_force");
  CHECK(registry.names("potential") == std::vector<std::string>{"my_force"});
  const auto keys = deck::parse("{depth: 0.35, width: 14 1/nm, distance: 2.8, cutoff: 6}", "deck.yaml");
  const auto potential = registry.make<Potential>("my_force", keys, context);
  CHECK(potential->cutoff() == 6.0);
  CHECK(potential->summary() == "my_force, D = 0.35 eV, a = 1.4 1/Å, r0 = 2.8 Å, cut-off 6 Å (shifted)");
  CHECK_THROWS_WITH(
      registry.make<Potential>("my_force", deck::parse("{depth: 1, width: 1, distance: 3, cutoff: 2}", "deck.yaml"),
                               context),
      "deck.yaml:1:1: cutoff (2 angstrom) must be greater than distance (3 angstrom)\n1 problem in deck.yaml");
  CHECK_THROWS_WITH(potential->bind(std::vector<Species>(2)),
                    "my_force has one set of parameters, for one species; the structure has 2");
}
