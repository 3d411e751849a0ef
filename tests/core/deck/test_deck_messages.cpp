// What a deck that is wrong is told, word for word.
#include <fmt/format.h>

#include "core/deck/override.hpp"
#include "tests/catch.hpp"
#include "tests/core/deck/deck_samples.hpp"

using namespace cambium;
using namespace samples;

namespace {

/// All that is said about a deck for P, without the last line.
template <class P>
std::string said(const std::string& text) {
  Registry registry;
  register_samples(registry);
  try {
    deck::read<P>(deck::parse(text, "copper.yaml"), &registry);
  } catch (const InputError& e) {
    const std::string all = e.what();
    return all.substr(0, all.rfind('\n'));
  }
  return "accepted";
}

std::string answer_to(const std::string& keys) { return said<Everything>("timestep: 1\n" + keys); }
std::string stage(const std::string& text) { return said<Deck>("stages:\n  - roll:\n" + text); }

}  // namespace

TEST_CASE("unknown keys") {
  CHECK(said<Everything>("timestep: 1\ntimestpe: 2") ==
        "copper.yaml:2:1: timestpe: unknown key; did you mean 'timestep'?");
  CHECK(answer_to("nested: {a: 1, zzz: 1}") == "copper.yaml:2:16: nested.zzz: unknown key; known: a, b");
  CHECK(answer_to("items:\n  - a: 1\n    q: 2") == "copper.yaml:4:5: items[0].q: unknown key; known: a, b");
  CHECK(answer_to("nested: {a: 5,26}") ==
        "copper.yaml:2:15: nested.26: unknown key; after a decimal comma? Numbers have a point, as in 5.26");
}

TEST_CASE("values of the wrong type") {
  CHECK(said<Everything>("timestep: fast") == "copper.yaml:1:11: timestep: found 'fast', expected a number > 0 ps");
  CHECK(answer_to("list: 3") == "copper.yaml:2:7: list: found 3, expected a list of numbers, each >= 0 eV");
  CHECK(answer_to("list: [1, x]") == "copper.yaml:2:11: list[1]: found 'x', expected a number >= 0 eV");
  CHECK(answer_to("pressure: high") == "copper.yaml:2:11: pressure: found 'high', expected a number in bar");
  CHECK(answer_to("pressure: [1]") == "copper.yaml:2:11: pressure: found a list, expected a number in bar");
  CHECK(answer_to("steps: 1.5") == "copper.yaml:2:8: steps: found 1.5, expected a whole number from 0 to 1000000000");
  CHECK(answer_to("steps: {}") == "copper.yaml:2:8: steps: found a map, expected a whole number from 0 to 1000000000");
  CHECK(answer_to("steps:") == "copper.yaml:2:1: steps: found nothing, expected a whole number from 0 to 1000000000");
  CHECK(answer_to("tail: maybe") == "copper.yaml:2:7: tail: found 'maybe', expected true or false");
  CHECK(answer_to("file: [a]") == "copper.yaml:2:7: file: found a list, expected text");
  CHECK(answer_to("supercell: [1, 2]") ==
        "copper.yaml:2:12: supercell: found a list of 2, expected a list of 3 whole numbers, each >= 1");
  CHECK(answer_to("basis: [[0, 0]]") == "copper.yaml:2:9: basis[0]: found a list of 2, expected a list of 3 numbers");
  CHECK(answer_to("basis: 1") == "copper.yaml:2:8: basis: found 1, expected a list of lists of 3 numbers");
  CHECK(answer_to("masses: heavy") ==
        "copper.yaml:2:9: masses: found 'heavy', expected a map from names to numbers, each > 0 g/mol");
  CHECK(answer_to("nested: 5") == "copper.yaml:2:9: nested: found 5, expected a map with keys of a, b");
  CHECK(answer_to("pressure: .inf") == "copper.yaml:2:11: pressure: found '.inf', expected a number in bar");
  CHECK(answer_to("nested: {a: 3000000000}") ==
        "copper.yaml:2:13: nested.a: found 3000000000, expected a whole number (from -2147483648 to 2147483647)");
}

TEST_CASE("values out of range") {
  CHECK(said<Everything>("timestep: -1") == "copper.yaml:1:11: timestep: found -1, expected a number > 0 ps");
  CHECK(answer_to("cutoff: 25") == "copper.yaml:2:9: cutoff: found 25, expected a number > 0 and < 20 angstrom");
  CHECK(answer_to("cutoff: 3 nm") == "copper.yaml:2:9: cutoff: found '3 nm', expected a number > 0 and < 20 angstrom");
  CHECK(answer_to("supercell: [1, 0, 1]") == "copper.yaml:2:16: supercell[1]: found 0, expected a whole number >= 1");
  CHECK(answer_to("masses: {Cu: 0}") == "copper.yaml:2:14: masses.Cu: found 0, expected a number > 0 g/mol");
  CHECK(answer_to("temperature: -5") ==
        "copper.yaml:2:14: temperature: found -5, expected a number or expression >= 0 K");
}

TEST_CASE("units that do not fit") {
  CHECK(said<Everything>("timestep: 300 K") ==
        "copper.yaml:1:11: timestep: found '300 K', expected a number > 0 ps: K is a unit of temperature, ps one of "
        "time");
  CHECK(
      said<Everything>("timestep: 1 fz") ==
      "copper.yaml:1:11: timestep: found '1 fz', expected a number > 0 ps: there is no unit 'fz'; did you mean 'fs'?");
  CHECK(said<Everything>("timestep: 1 degC") ==
        "copper.yaml:1:11: timestep: found '1 degC', expected a number > 0 ps: 'degC' counts from another zero than K "
        "and is no factor of it; give K (K = degC + 273.15)");
  CHECK(answer_to("basis: [[0, 0, 1 nm]]") ==
        "copper.yaml:2:16: basis[0][2]: found '1 nm', expected a number: nm is a unit of length, this key has none");
}

TEST_CASE("words that are no option") {
  CHECK(answer_to("mode: nvtt") ==
        "copper.yaml:2:7: mode: found 'nvtt', expected one of: nve, nvt; did you mean 'nvt'?");
  CHECK(answer_to("mode: 3") == "copper.yaml:2:7: mode: found 3, expected one of: nve, nvt");
  CHECK(answer_to("modes: [nve, bad]") == "copper.yaml:2:14: modes[1]: found 'bad', expected one of: nve, nvt");
  CHECK(answer_to("format: pdf") == "copper.yaml:2:9: format: found 'pdf', expected one of: xyz, h5md");
}

TEST_CASE("expressions are pointed into") {
  CHECK(answer_to("temperature: 300 + 20*q") ==
        "copper.yaml:2:23: temperature: there is no variable 'q'; known: t, step\n"
        "    300 + 20*q\n"
        "             ^");
  CHECK(answer_to("temperature: \"300 bar\"") ==
        "copper.yaml:2:15: temperature: the result is a pressure, expected a temperature (K)\n"
        "    300 bar\n"
        "    ^");
}

TEST_CASE("missing keys") {
  CHECK(said<Everything>("steps: 5") == "copper.yaml:1:1: missing key 'timestep' (length of a step, ps)");
  CHECK(answer_to("items: [{b: x}]") == "copper.yaml:2:9: items[0]: missing key 'a' (first)");
  CHECK(answer_to("shape: {radius: 1}") == "copper.yaml:2:8: shape: missing key 'type' (which shape: ball, painted)");
  CHECK(stage("      steps: 1\n      radius: 1") ==
        "copper.yaml:3:7: stages[0].roll: missing key 'shape' (what rolls); known: ball, painted");
}

TEST_CASE("repeated keys") {
  CHECK(said<Everything>("timestep: 1\nsteps: 1\ntail: no\nsteps: 2") ==
        "copper.yaml:4:1: steps: the key appears twice, first on line 2");
  CHECK(answer_to("masses:\n  Cu: 1\n  Cu: 2") == "copper.yaml:4:3: masses.Cu: the key appears twice, first on line 3");
}

TEST_CASE("conditions over several keys") {
  CHECK(answer_to("tail: true\ncutoff: 0.5") == "copper.yaml:1:1: tail needs a cutoff of at least 1 angstrom");
}

TEST_CASE("types that are not there") {
  CHECK(answer_to("shape: {type: bal}") ==
        "copper.yaml:2:15: shape.type: there is no shape 'bal'; did you mean 'ball'?");
  CHECK(answer_to("shape: cube") == "copper.yaml:2:8: shape: there is no shape 'cube'; known: ball, painted");
  CHECK(answer_to("shape: torus") ==
        "copper.yaml:2:8: shape: shape 'torus' belongs to plugin 'topology', which this build does not have "
        "(-DCAMBIUM_TOPOLOGY=ON)");
  CHECK(answer_to("shape: [ball]") ==
        "copper.yaml:2:8: shape: found a list, expected a shape: its name, or a map with 'type'");
  CHECK(answer_to("shape: {type: [ball]}") == "copper.yaml:2:15: shape.type: found a list, expected a shape: its name");
  CHECK(said<Deck>("stages:\n  - rol: {}") ==
        "copper.yaml:2:5: stages[0]: there is no job 'rol'; did you mean 'roll'?");
  CHECK(said<Deck>("stages:\n  - roll: {}\n    roll2: {}") ==
        "copper.yaml:2:5: stages[0]: found a map, expected a job: one key, its type, with its keys below");
}

TEST_CASE("what is wrong inside a type is found through the kinds around it") {
  CHECK(answer_to("shape: ball") == "copper.yaml:2:8: shape: missing key 'radius' (radius of the ball, angstrom)");
  CHECK(answer_to("shape:\n  type: painted\n  inside: {type: ball, radius: big}\n  paint: {type: red, depth: 2}") ==
        "copper.yaml:4:32: shape.inside.radius: found 'big', expected a number > 0 angstrom\n"
        "copper.yaml:5:29: shape.paint.depth: found 2, expected a number from 0 to 1");
  CHECK(stage("      shape: ball\n      radius: -2\n      step: 5") ==
        "copper.yaml:3:7: stages[0].roll: missing key 'steps' (how often)\n"
        "copper.yaml:4:15: stages[0].roll.radius: found -2, expected a number > 0 angstrom\n"
        "copper.yaml:5:7: stages[0].roll.step: unknown key; did you mean 'steps'?");
  CHECK(stage("      shape: ball\n      radis: 2\n      steps: 5") ==
        "copper.yaml:3:7: stages[0].roll: missing key 'radius' (radius of the ball, angstrom)\n"
        "copper.yaml:4:7: stages[0].roll.radis: unknown key; did you mean 'radius'?");
  CHECK(stage("      shape: bal\n      radius: 2\n      steps: 0") ==
        "copper.yaml:3:14: stages[0].roll.shape: there is no shape 'bal'; did you mean 'ball'?\n"
        "copper.yaml:5:14: stages[0].roll.steps: found 0, expected a whole number >= 1");
}

TEST_CASE("all problems come at once, in the order of the file, counted") {
  Registry registry;
  register_samples(registry);
  auto root = deck::parse("file: a\nstpes: 3\ncutoff: far", "copper.yaml");
  deck::override(root, "list=none");
  CHECK_THROWS_WITH(deck::read<Everything>(root, &registry),
                    "command line: list: found 'none', expected a list of numbers, each >= 0 eV\n"
                    "copper.yaml:1:1: missing key 'timestep' (length of a step, ps)\n"
                    "copper.yaml:2:1: stpes: unknown key; did you mean 'steps'?\n"
                    "copper.yaml:3:9: cutoff: found 'far', expected a number > 0 and < 20 angstrom\n"
                    "4 problems in command line and copper.yaml");
  CHECK_THROWS_WITH(deck::read<Everything>(deck::parse("steps: 1", "a.yaml"), &registry),
                    "a.yaml:1:1: missing key 'timestep' (length of a step, ps)\n1 problem in a.yaml");
  CHECK_THROWS_AS(deck::read<Everything>(deck::parse("steps: 1", "a.yaml"), &registry), deck::DeckError);
}

TEST_CASE("an object cannot be made from keys that are wrong") {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  register_samples(registry);
  Context context{comm, log, timing, &registry};
  CHECK_THROWS_WITH(registry.make<Shape>("ball", deck::parse("radius: 0", "a.yaml"), context),
                    "a.yaml:1:9: radius: found 0, expected a number > 0 angstrom\n1 problem in a.yaml");
  CHECK_THROWS_WITH(registry.make<Shape>("bull", deck::parse("radius: 0", "a.yaml"), context),
                    "a.yaml:1:1: there is no shape 'bull'; did you mean 'ball'?");
}

TEST_CASE("what a constructor complains about is told with its place in the deck") {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  register_samples(registry);
  registry.add<Heavy>("heavy", "cannot be made");
  Context context{comm, log, timing, &registry};
  const auto node = deck::parse("shape:\n  type: painted\n  inside: heavy\n", "a.yaml")["shape"];
  CHECK_THROWS_WITH(
      registry.make<Shape>("painted", node.without([](const std::string& k) { return k == "type"; }), context),
      "a.yaml:3:11: shape.inside: too heavy to lift");
  CHECK_THROWS_WITH(registry.make<Shape>(deck::Choice<Shape>("heavy"), context), "too heavy to lift");
}

TEST_CASE("text that is no YAML") {
  CHECK_THROWS_WITH(deck::parse("a: [1, 2\nb: 3\n", "a.yaml"),
                    "a.yaml:2:2: not valid YAML: end of sequence flow not found");
  CHECK_THROWS_WITH(deck::parse("a: 1\n  b: 2\n", "a.yaml"), "a.yaml:2:4: not valid YAML: illegal map value");
  CHECK_THROWS_WITH(deck::parse("", "a.yaml"), "a.yaml: the deck is empty");
  CHECK_THROWS_WITH(deck::parse("# nothing\n", "a.yaml"), "a.yaml: the deck is empty");
  CHECK_THROWS_WITH(deck::parse("a: 1\n---\nb: 2\n", "a.yaml"),
                    "a.yaml:2:1: a second YAML document begins here, expected one");
  CHECK_THROWS_WITH(deck::parse("[a, b]: 1\n", "a.yaml"), "a.yaml:1:1: found a key that is no word");
  CHECK_THROWS_WITH(deck::parse("a: *nowhere\n", "a.yaml"),
                    "a.yaml:1:4: not valid YAML: the referenced anchor is not defined");
  CHECK_THROWS_WITH(deck::parse("a: &a\n  b: *a\n", "a.yaml"),
                    "a.yaml:2:6: this alias is inside the value that it refers to");
  CHECK_THROWS_WITH(deck::parse("a: &a [1]\nb:\n  <<: *a\n", "a.yaml"),
                    "a.yaml:3:3: << takes a map, or a list of maps, as in <<: *name");
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int k = 1; k < 9; ++k)
    bomb +=
        fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", k, k - 1);
  CHECK_THROWS_WITH(deck::parse(bomb, "a.yaml"), "a.yaml:6:5: more than 1000000 values, aliases unfolded");
  std::string wide = "a: &a " + std::string(100000, 'x') + "\nb: [";
  for (int k = 0; k < 90000; ++k) wide += "*a, ";
  CHECK_THROWS_WITH(deck::parse(wide + "]", "a.yaml"),
                    "a.yaml:2:4: more than 20000000 bytes of text, aliases unfolded");
  const auto nested = [](std::size_t depth) { return "a: " + std::string(depth, '[') + std::string(depth, ']'); };
  CHECK_NOTHROW(deck::parse(nested(99), "a.yaml"));
  CHECK_THROWS_WITH(deck::parse(nested(100), "a.yaml"),
                    "a.yaml:1:103: lists and maps inside of each other, 101 deep; a deck may be 100 deep");
  CHECK_THROWS_WITH(deck::parse(nested(100000), "a.yaml"),
                    "a.yaml:1:103: lists and maps inside of each other, 101 deep; a deck may be 100 deep");
  CHECK_THROWS_WITH(deck::parse(",a: 1\n", "a.yaml"), "a.yaml:1:1: not valid YAML: expected a key");
  CHECK_THROWS_WITH(deck::load("no/such.yaml"), "cannot read deck 'no/such.yaml': No such file or directory");
  CHECK_THROWS_WITH(deck::load("/"), "cannot read deck '/': Is a directory");
}

TEST_CASE("overrides that lead nowhere") {
  auto root = deck::parse("run: {name: \"a\"}\nstages:\n  - roll: {steps: 3}\n", "a.yaml");
  CHECK_THROWS_WITH(deck::override(root, "steps"), "command line: found 'steps', expected key.path=value");
  CHECK_THROWS_WITH(deck::override(root, "=3"), "command line: found '=3', expected key.path=value");
  CHECK_THROWS_WITH(deck::override(root, "stages[1].roll.steps=3"),
                    "command line: stages[1].roll.steps: 'stages' has 1 items, counted from 0");
  CHECK_THROWS_WITH(deck::override(root, "run[0]=3"), "command line: run[0]: 'run' is not a list");
  CHECK_THROWS_WITH(deck::override(root, "run.name.first=3"), "command line: run.name.first: 'run.name' is not a map");
  deck::override(root, "stages[0].roll.shape=ball");
  CHECK_THROWS_WITH(
      deck::override(root, "stages[0].roll.shape.radius=2"),
      "command line: stages[0].roll.shape.radius: 'stages[0].roll.shape' is not a map; where 'ball' names "
      "a type, give it together with the key: stages[0].roll.shape={type: ball, radius: ...}");
  CHECK_THROWS_WITH(deck::override(root, "stages[x]=3"),
                    "command line: 'stages[x]' is not a key path; expected one like stages[0].simulate.steps");
  CHECK_THROWS_WITH(deck::override(root, "run..name=3"),
                    "command line: 'run..name' is not a key path; expected one like stages[0].simulate.steps");
  CHECK_THROWS_WITH(deck::override(root, "run.name=[1"),
                    "command line:1:1: not valid YAML: end of sequence flow not found");
}
