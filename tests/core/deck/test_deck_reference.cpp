// What is derived from the declarations: the resolved deck, the reference, the schema.
#include <nlohmann/json.hpp>

#include "core/deck/reference.hpp"
#include "core/deck/resolve.hpp"
#include "tests/catch.hpp"
#include "tests/core/deck/deck_samples.hpp"

using namespace cambium;
using namespace samples;

namespace {

struct Samples {
  Registry registry;
  Samples() { register_samples(registry); }
};

}  // namespace

TEST_CASE("the resolved deck holds every default in order of declaration") {
  Samples s;
  const auto node =
      deck::parse("timestep: 1 fs\nmode: nvt\nshape: {radius: 2, type: ball}\nitems: [{a: 1}]\nx-note: 1\n", "a.yaml");
  CHECK(deck::resolved(node, deck::schema_of<Everything>(), s.registry) ==
        "timestep: 1 fs\n"
        "cutoff: 8\n"
        "steps: 100\n"
        "tail: false\n"
        "file: out.h5\n"
        "list: []\n"
        "supercell: [1, 1, 1]\n"
        "basis: []\n"
        "masses: {}\n"
        "temperature: 300\n"
        "mode: nvt\n"
        "modes: []\n"
        "format: xyz\n"
        "nested:\n"
        "  a: 3\n"
        "  b: x\n"
        "easy:\n"
        "  c: 7\n"
        "items:\n"
        "  - a: 1\n"
        "    b: none\n"
        "shape:\n"
        "  type: ball\n"
        "  radius: 2\n"
        "shapes: []\n");
}

TEST_CASE("the resolved deck goes through chosen types and reads back as itself") {
  Samples s;
  const auto schema = deck::schema_of<Deck>();
  const auto node =
      deck::parse("stages:\n  - roll: {shape: painted, inside: {type: ball, radius: 0.3 nm}, steps: 2}\n", "a.yaml");
  const std::string text = deck::resolved(node, schema, s.registry);
  CHECK(text ==
        "name: run\n"
        "stages:\n"
        "  - roll:\n"
        "      shape: painted\n"
        "      steps: 2\n"
        "      inside:\n"
        "        type: ball\n"
        "        radius: 0.3 nm\n"
        "      paint:\n"
        "        type: red\n"
        "        depth: 0.5\n");
  const auto again = deck::parse(text, "b.yaml");
  CHECK_NOTHROW(deck::read<Deck>(again, &s.registry));
  CHECK(deck::resolved(again, schema, s.registry) == text);
}

TEST_CASE("the reference of a type is a table") {
  Samples s;
  CHECK(deck::markdown(*s.registry.find("shape", "ball")) ==
        "### shape `ball`\n"
        "\n"
        "a sphere (plugin `samples`)\n"
        "\n"
        "| key | type | unit | default | allowed | meaning |\n"
        "|---|---|---|---|---|---|\n"
        "| `radius` | number | angstrom | required | > 0 | radius of the ball |\n");
  const std::vector<std::string> kinds{"shape", "paint"};
  const std::string all = deck::markdown(s.registry, kinds);
  CHECK(all.starts_with("## shape\n\n### shape `ball`\n"));
  CHECK(all.find("\n\n## paint\n\n### paint `red`\n") != std::string::npos);
  CHECK(all.find("| `paint` | [paint](#paint) |  | `red` |  | with what |\n") != std::string::npos);
}

TEST_CASE("the reference shows defaults, limits, words, variables and nested keys") {
  const std::string table = deck::markdown(deck::schema_of<Everything>());
  for (const char* row :
       {"| `cutoff` | number | angstrom | `8` | > 0 and < 20 | range |\n",
        "| `file` | text |  | `out.h5` |  | where, e.g. `run.h5` |\n",
        "| `supercell` | list of 3 whole numbers |  | `[1, 1, 1]` | >= 1 | copies |\n",
        "| `pressure` | number | bar | none |  | outer pressure |\n",
        "| `temperature` | number or expression | K | `300` | >= 0, variables `t` (ps), `step` | heat bath |\n",
        "| `mode` | text |  | `nve` | `nve`, `nvt` | ensemble |\n",
        "| `nested` | map |  | `{a: 3, b: x}` |  | a map |\n| `nested.a` | whole number |  | required |  | first |\n",
        "| `easy` | map |  | its defaults |  | a map of defaults |\n",
        "| `items[].b` | text |  | `none` |  | second |\n",
        "| `shapes` | [list of shapes](#shape) |  | `[]` |  | shapes |\n"})
    CHECK(table.find(row) != std::string::npos);
  CHECK(deck::markdown(deck::schema_of<Roll::Params>()).find("what rolls; its keys are given next to this one") !=
        std::string::npos);
}

TEST_CASE("the JSON schema describes keys, limits and words") {
  Samples s;
  const auto schema = nlohmann::json::parse(deck::json_schema(deck::schema_of<Everything>(), s.registry, "everything"));
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["title"] == "everything");
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["patternProperties"] == nlohmann::json::parse(R"({"^x-": {}})"));
  CHECK(schema["required"] == nlohmann::json::parse(R"(["timestep"])"));
  const auto& keys = schema["properties"];
  CHECK(keys["timestep"]["exclusiveMinimum"] == 0);
  CHECK(keys["timestep"]["type"] == nlohmann::json::parse(R"(["number", "string"])"));
  CHECK(keys["timestep"]["description"] == "length of a step (ps)");
  CHECK(keys["steps"]["type"] == "integer");
  CHECK(keys["steps"]["maximum"] == 1000000000);
  CHECK(keys["steps"]["default"] == 100);
  CHECK(keys["tail"]["default"] == false);
  CHECK(keys["mode"]["enum"] == nlohmann::json::parse(R"(["nve", "nvt"])"));
  CHECK(keys["supercell"]["minItems"] == 3);
  CHECK(keys["supercell"]["maxItems"] == 3);
  CHECK(keys["supercell"]["items"]["minimum"] == 1);
  CHECK(keys["masses"]["additionalProperties"]["exclusiveMinimum"] == 0);
  CHECK(keys["pressure"]["anyOf"][1]["type"] == "null");
  CHECK(keys["nested"]["properties"]["a"]["type"] == "integer");
  CHECK(keys["shape"]["$ref"] == "#/$defs/shape");
  CHECK(keys["shapes"]["items"]["$ref"] == "#/$defs/shape");
}

TEST_CASE("the JSON schema has one alternative per type") {
  Samples s;
  const auto schema = nlohmann::json::parse(deck::json_schema(deck::schema_of<Deck>(), s.registry, "deck"));
  const auto& roll = schema["properties"]["stages"]["items"]["properties"]["roll"];
  CHECK(roll["description"] == "rolls a shape");
  REQUIRE(roll["oneOf"].size() == 2);
  CHECK(roll["oneOf"][0]["properties"]["shape"]["enum"] == nlohmann::json::parse(R"(["ball"])"));
  CHECK(roll["oneOf"][0]["required"] == nlohmann::json::parse(R"(["shape", "radius", "steps"])"));
  CHECK(roll["oneOf"][1]["properties"]["inside"]["$ref"] == "#/$defs/shape");
  const auto& shape = schema["$defs"]["shape"]["oneOf"];
  REQUIRE(shape.size() == 2);
  CHECK(shape[0]["properties"]["type"]["enum"] == nlohmann::json::parse(R"(["ball"])"));
  CHECK(shape[0]["required"] == nlohmann::json::parse(R"(["type", "radius"])"));
  const auto& paint = schema["$defs"]["paint"]["oneOf"];
  CHECK(paint[1]["enum"] == nlohmann::json::parse(R"(["red"])"));
}
