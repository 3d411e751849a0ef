// An error that names a key by data gets the key's place: the thrower knows its own keys, the caller where they stand.
#include "core/deck/placed_error.hpp"

#include "core/deck/about_key.hpp"
#include "core/parallel/agree.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

const char* const deck_text =
    "stages:\n"
    "  - simulate:\n"
    "      timestep: 9\n"
    "      structure: {file: a.xyz}\n"
    "      terms:\n"
    "        - {cutoff: 3}\n"
    "        - {cutoff: 4, initial: \"1 + qq\"}\n";

deck::Node keys() { return deck::parse(deck_text, "d.yaml")["stages"][0]["simulate"]; }

std::string where(const std::string& key) { return deck::placed(KeyError("md.id", key, "wrong"), keys()).text; }

}  // namespace

TEST_CASE("a key is found by its path, and what surrounds it where the deck leaves it at its default") {
  CHECK(where("timestep") == "d.yaml:3:17: stages[0].simulate.timestep: wrong");
  CHECK(where("structure.file") == "d.yaml:4:25: stages[0].simulate.structure.file: wrong");
  CHECK(where("terms[1].cutoff") == "d.yaml:7:20: stages[0].simulate.terms[1].cutoff: wrong");
  CHECK(where("structure.species[2]") == "d.yaml:4:18: stages[0].simulate.structure: wrong");
  CHECK(where("terms[7].cutoff").starts_with("d.yaml:6:9: stages[0].simulate.terms: "));
  CHECK(where("") == where("nothing"));
  CHECK(deck::placed(InputError("wrong"), keys()).text == where(""));
  CHECK(deck::placed(KeyError("md.id", "x", "wrong"), deck::Node()).text == "wrong");
}

TEST_CASE("what is read for a key is about that key, and a part's keys stand inside of it") {
  const auto error_of = [](auto action) {
    try {
      action();
    } catch (const KeyError& error) {
      return error;
    }
    return KeyError("", "", "nothing");
  };
  const auto file = error_of([] { deck::about_key("a.file", "structure.file", [] { throw InputError("cut"); }); });
  CHECK(file.id() == "a.file");
  CHECK(file.key() == "structure.file");
  const auto part = error_of(
      [] { deck::about_key("a.part", "terms[1]", [] { throw KeyError("pair.cutoff", "cutoff", "too long"); }); });
  CHECK(part.id() == "pair.cutoff");
  CHECK(part.key() == "terms[1].cutoff");
  CHECK(deck::joined_key("terms", "[1]") == "terms[1]");
  CHECK_THROWS_AS(deck::about_key("a.part", "x", [] { throw deck::DeckError("has its place"); }), deck::DeckError);
  CHECK(deck::about_key("a.value", "x", [] { return 3; }) == 3);
}

TEST_CASE("a formula's error has the place of its character") {
  try {
    deck::about_key("a.formula", "terms[1].initial", [] {
      deck::Expression::parse("1 + qq", "", std::vector<deck::Variable>{{"x", ""}});
    });
    FAIL("it is refused");
  } catch (const KeyError& error) {
    CHECK(error.column() == 5);
    CHECK(deck::placed(error, keys()).text.starts_with("d.yaml:7:"));
    CHECK(deck::placed(error, keys()).text.find("stages[0].simulate.terms[1].initial: there is no variable 'qq'") !=
          std::string::npos);
  }
}

TEST_CASE("key and identifier reach every rank, and identifiers are shown where they are asked for") {
  Comm comm;
  try {
    io::on_root(comm, [] { throw KeyError("md.timestep.range", "timestep", "too long", 2); });
    FAIL("it is refused");
  } catch (const KeyError& error) {
    CHECK(error.id() == "md.timestep.range");
    CHECK(error.key() == "timestep");
    CHECK(error.column() == 2);
    CHECK(deck::placed(error, keys()).with_id().ends_with("too long [md.timestep.range]"));
  }
  const deck::PlacedError both({{"a: wrong", "a.id"}, {"b: wrong", ""}}, "2 problems");
  CHECK(std::string(both.what()) == "a: wrong\nb: wrong\n2 problems");
  CHECK(both.verbose() == "a: wrong [a.id]\nb: wrong\n2 problems");
}
