// Characters of scalars are found again in the YAML that holds them, in every form that a scalar may have.
#include <string>

#include "core/deck/node.hpp"
#include "core/deck/scalar_place.hpp"
#include "tests/catch.hpp"

using namespace cambium::deck;

namespace {

/// Every letter of the value of `key` is where its line and column say.
void check_letters(const std::string& source) {
  INFO(source);
  const Node node = parse(source, "deck.yaml")["key"];
  REQUIRE(node.is_scalar());
  int letters = 0;
  for (std::size_t k = 0; k < node.text().size(); ++k) {
    const char c = node.text()[k];
    if (c == ' ' || c == '\n') continue;
    const auto place = place_in_scalar(source, {node.mark().line, node.mark().column}, node.text(), k);
    REQUIRE(place);
    std::size_t at = 0;
    for (int line = 1; line < place->line; ++line) at = source.find('\n', at) + 1;
    const char found = source[at + static_cast<std::size_t>(place->column) - 1];
    if (found != '\\') CHECK(found == c);  // an escaped character is where its escape begins
    ++letters;
  }
  CHECK(letters > 3);
}

}  // namespace

TEST_CASE("characters of scalars stand where the file has them") {
  check_letters("key: 300 + 20*q\n");
  check_letters("x: 1\nkey:    300 + 20*q   # what it is\n");
  check_letters("key: \"300 + 20*q\"\n");
  check_letters("key: '300 + 20*q'\n");
  check_letters("{key: 300 + 20*q, other: 1}\n");
  check_letters("key: 300 +\n   20*q\n   - 5\n");
  check_letters("key: \"300 +\n   20*q\"\n");
  check_letters("key: |\n  300\n    + 20*q\n  - 5\n");
  check_letters("key: >-\n  300\n  + 20*q\n\n  - 5\n");
  check_letters("key: \"a \\\"b\\\" c\"\n");
  check_letters("key: 'it''s d'\n");
}

TEST_CASE("places are counted in characters, and a text of another file has none") {
  const std::string source = "# Å\nkey: \"Å + q\"\n";
  const Node node = parse(source, "deck.yaml")["key"];
  CHECK(place_in_scalar(source, {node.mark().line, node.mark().column}, node.text(), 5) == TextPlace{2, 11});
  CHECK_FALSE(place_in_scalar(source, {2, 6}, "300 + q", 6));
  CHECK_FALSE(place_in_scalar(source, {9, 1}, "300 + q", 6));
  CHECK(place_in_file("no_such_file.yaml", {3, 7}, true, "300 + q", 7) == TextPlace{3, 14});
  CHECK(place_in_file("no_such_file.yaml", {3, 7}, false, "300\n + q", 7) == TextPlace{3, 7});
}
