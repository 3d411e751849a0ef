// Keys that leave a search a choice: `key: !choice [a, b]`.
#include "core/deck/alternatives.hpp"
#include "core/deck/override.hpp"
#include "core/deck/reference.hpp"
#include "core/deck/resolve.hpp"
#include "tests/catch.hpp"
#include "tests/core/deck/deck_samples.hpp"

using namespace cambium;
using namespace samples;

namespace {

struct Open {
  deck::Marked<Everything> inside;
  static void describe(deck::Describe<Open>& d) { d("inside", &Open::inside, "left to a search"); }
};

Open open(const std::string& text) {
  Registry registry;
  register_samples(registry);
  return deck::read<Open>(deck::parse(text, "deck.yaml"), &registry);
}

std::string said(const std::string& text) {
  try {
    open(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

std::string line(const Open& o, std::vector<int> picks) { return deck::to_line(o.inside.at(picks)); }

}  // namespace

TEST_CASE("a picked alternative stands where the list stood") {
  const Open o = open("inside:\n  timestep: !choice [1 fs, 2 fs]\n  nested: {a: !choice [4, 5, 6], b: z}\n");
  REQUIRE(o.inside.decisions.size() == 2);
  CHECK(o.inside.decisions[0].list.path() == "inside.timestep");
  CHECK(o.inside.decisions[1].list.size() == 3);
  CHECK(line(o, {0, 2}) == "{timestep: 1 fs, nested: {a: 6, b: z}}");
  CHECK(line(o, {1, 0}) == "{timestep: 2 fs, nested: {a: 4, b: z}}");
  CHECK(o.inside.at(std::vector{1, 0})["timestep"].path() == "inside.timestep");
}

TEST_CASE("alternatives may hold alternatives, which count only where theirs is picked") {
  const Open o =
      open("inside: {timestep: 1, shape: !choice [{type: ball, radius: 3}, {type: ball, radius: !choice [1, 2]}]}");
  REQUIRE(o.inside.decisions.size() == 2);
  CHECK((o.inside.decisions[1].within == 0 && o.inside.decisions[1].alternative == 1));
  CHECK(line(o, {0, 1}) == "{timestep: 1, shape: {type: ball, radius: 3}}");
  CHECK(line(o, {1, 1}) == "{timestep: 1, shape: {type: ball, radius: 2}}");
}

TEST_CASE("lists and maps can be alternatives, and an alias is decided at each of its places") {
  const Open o = open("inside:\n  timestep: &t !choice [1, 2]\n  cutoff: *t\n  list: !choice [[1], [1, 2]]\n");
  REQUIRE(o.inside.decisions.size() == 3);
  CHECK(line(o, {0, 1, 1}) == "{timestep: 1, cutoff: 2, list: [1, 2]}");
}

TEST_CASE("every alternative is checked, all problems come at once") {
  CHECK(said("inside:\n  timestep: !choice [1, -1, fast]\n  shape: !choice [{type: ball, radius: 0}, cube]\n") ==
        "deck.yaml:2:25: inside.timestep: found -1, expected a number > 0 ps\n"
        "deck.yaml:2:29: inside.timestep: found 'fast', expected a number > 0 ps\n"
        "deck.yaml:3:40: inside.shape.radius: found 0, expected a number > 0 angstrom\n"
        "deck.yaml:3:44: inside.shape: there is no shape 'cube'; known: ball, painted\n"
        "4 problems in deck.yaml");
  CHECK(said("inside: {timestep: 1, shape: !choice [ball, {type: ball, radius: !choice [1, -2]}]}").find("found -2") !=
        std::string::npos);
}

TEST_CASE("alternatives where nothing is searched, and none at all") {
  Registry registry;
  register_samples(registry);
  auto plain = [&](const std::string& text) {
    try {
      deck::read<Everything>(deck::parse(text, "deck.yaml"), &registry);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(plain("timestep: !choice [1, 2]")
            .starts_with("deck.yaml:1:11: timestep: found alternatives (!choice), which no search decides here, "
                         "expected a number > 0 ps"));
  CHECK(plain("{timestep: 1, list: !choice [1, 2]}").find("expected a list of numbers") != std::string::npos);
  CHECK(plain("timestep: !choice 3") ==
        "deck.yaml:1:11: !choice must precede a list of alternatives, such as !choice [16, 32]");
  CHECK(plain("timestep: !choice {a: 3}") ==
        "deck.yaml:1:11: !choice must precede a list of alternatives, such as !choice [16, 32]");
  CHECK(plain("timestep: !choice []") ==
        "deck.yaml:1:11: !choice must precede a list of alternatives, such as !choice [16, 32]");
}

TEST_CASE("alternatives survive writing, resolving and the command line") {
  const std::string text =
      "inside:\n  timestep: !choice [1, 2]\n  items: !choice\n    - [{a: 1}]\n    - [{a: 1}, {a: 2, b: q}]\n";
  const auto node = deck::parse(text, "deck.yaml");
  Registry registry;
  register_samples(registry);
  const auto resolved = deck::resolved(node, deck::schema_of<Open>(), registry);
  for (const auto& again : {deck::to_yaml(node), resolved}) {
    const auto back = deck::parse(again, "again.yaml");
    const auto decisions = deck::decisions_of(back);
    REQUIRE(decisions.size() == 2);
    CHECK(deck::to_line(decisions[1].list) == "!choice [[{a: 1}], [{a: 1}, {a: 2, b: q}]]");
  }
  auto changed = node;
  deck::override(changed, "inside.cutoff=!choice [3, 4, 5]");
  CHECK(deck::decisions_of(changed).size() == 3);
  CHECK(deck::decisions_of(changed.at_path("x")).size() == 3);
}
