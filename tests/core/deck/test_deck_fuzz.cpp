// Whatever a deck holds, it is read or refused with a message; nothing else happens.
#include <random>

#include "core/base/units.hpp"
#include "core/deck/reference.hpp"
#include "core/deck/resolve.hpp"
#include "tests/catch.hpp"
#include "tests/core/deck/deck_samples.hpp"

using namespace cambium;
using namespace samples;

namespace {

/// A text with a few random bytes deleted, doubled, swapped or replaced.
std::string damaged(std::string text, std::mt19937& random) {
  static const std::string alphabet = "{}[]:,-#&*!|>'\"%@`?\n\t 01.e+^/()<=abtK~\xc3\x85\xff";
  for (int edits = 1 + static_cast<int>(random() % 2); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text.erase(at, 1 + random() % 3);
        break;
      case 1:
        text.insert(at, text.substr(random() % text.size(), random() % 12));
        break;
      case 2:
        std::swap(text[at], text[random() % text.size()]);
        break;
      default:
        text[at] = alphabet[random() % alphabet.size()];
    }
  }
  return text;
}

const std::string sample =
    "timestep: 2 fs\nsteps: 1e6\nlist: [1, 2 meV]\nsupercell: [4, 5, 6]\nmasses: {Cu: 63.546}\n"
    "temperature: \"if(t < 2, 300 + 20*t, 340)\"\nmode: nvt\nnested: {a: 1}\nitems:\n  - {a: 1, b: one}\n"
    "shape: {type: painted, inside: {type: ball, radius: 2}, paint: red}\nx-note: &n {k: [v]}\n";

}  // namespace

TEST_CASE("damaged decks are read or refused, and what is read resolves to itself") {
  Registry registry;
  register_samples(registry);
  const auto schema = deck::schema_of<Everything>();
  std::mt19937 random(1);
  int read = 0, refused = 0;
  for (int n = 0; n < 1500; ++n) {
    const auto text = damaged(sample, random);
    try {
      const auto node = deck::parse(text, "a.yaml");
      deck::read<Everything>(node, &registry);
      ++read;
      const auto resolved = deck::resolved(node, schema, registry);
      INFO(text << "\n---\n" << resolved);
      REQUIRE(deck::resolved(deck::parse(resolved, "b.yaml"), schema, registry) == resolved);
    } catch (const InputError& e) {
      REQUIRE(std::string(e.what()).starts_with("a.yaml"));
      ++refused;
    }
  }
  CHECK(read > 50);
  CHECK(refused > 100);
}

TEST_CASE("damaged expressions and units are read or refused") {
  const std::vector<deck::Variable> variables{{"t", "ps"}, {"step", ""}};
  std::mt19937 random(2);
  int read = 0;
  for (int n = 0; n < 20000; ++n) {
    const auto text =
        damaged(n % 2 ? "300 K + 20 [K/ps]*t*min(2, tanh(t/3 ps)^2) - step(t)*1e-3 K^1"
                      : "if(not t < 2 ps and (step >= 3 or t == 0), 300 K + if(step != 1, 2, 3), 4*t*20 [K/ps])",
                random);
    try {
      const auto e = deck::Expression::parse(text, "K", variables);
      static_cast<void>(e(1.0, 2.0));
      ++read;
    } catch (const deck::ExpressionError& e) {
      REQUIRE(e.column <= text.size() + 1);
    }
    parse_unit(damaged("eV/(angstrom^3 ps)", random));
  }
  CHECK(read > 500);
}
