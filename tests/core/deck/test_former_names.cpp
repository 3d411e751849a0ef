// Keys and types that had another name before: decks that say so are read, and told.
#include <nlohmann/json.hpp>

#include "core/deck/alternatives.hpp"
#include "core/deck/override.hpp"
#include "core/deck/reference.hpp"
#include "core/deck/resolve.hpp"
#include "tests/catch.hpp"
#include "tests/core/deck/deck_samples.hpp"

using namespace cambium;
using namespace samples;

namespace {

/// A job that was called "fit", with keys that had other names at every level.
struct Learn : Job {
  struct Layers {
    int width = 0;
    static void describe(deck::Describe<Layers>& d) {
      d("width", &Layers::width, "neurons").formerly("neurons").at_least(1);
    }
  };
  struct Params {
    deck::Choice<Shape> network;
    std::vector<Layers> layers;
    std::map<std::string, Layers> heads;
    int rounds = 0;
    static void describe(deck::Describe<Params>& d) {
      d("network", &Params::network, "what is trained").formerly("model").formerly("net");
      d("layers", &Params::layers, "of the network").def({});
      d("heads", &Params::heads, "by name").def({});
      d("rounds", &Params::rounds, "how often").formerly("epochs").at_least(1).def(3);
    }
  };
  Learn(const Params& p, Context& c) : params(p), network(c.registry->make<Shape>(p.network, c)) {}
  Params params;
  std::unique_ptr<Shape> network;
};

/// A job whose shape's keys stand beside its own.
struct Throw : Job {
  struct Params {
    deck::Choice<Shape> shape;
    int height = 1;
    static void describe(deck::Describe<Params>& d) {
      d.inline_choice("shape", &Params::shape, "what is thrown").formerly("body");
      d("height", &Params::height, "how high").formerly("up").def(1);
    }
  };
  Throw(const Params&, Context&) {}
};

struct Cube : Shape {
  struct Params {
    double edge = 1.0;
    static void describe(deck::Describe<Params>& d) {
      d("edge", &Params::edge, "of the cube").formerly("side").def(1.0);
    }
  };
  Cube(const Params& p, Context&) : edge(p.edge) {}
  double size() const override { return edge; }
  double edge;
};

struct Fixture {
  Registry registry;
  deck::Problems problems;
  const deck::Schema schema = deck::schema_of<Deck>();

  Fixture() {
    register_samples(registry);
    registry.add<Learn>("learn", "trains");
    registry.add<Throw>("throw", "throws");
    registry.add<Cube>("cube", "a box");
    registry.renamed<Job>("fit", "learn");
    registry.renamed<Shape>("box", "cube");
  }

  std::string hints() const {
    std::string out;
    for (const auto& hint : problems.hints()) out += hint.line() + "\n";
    return out;
  }
  deck::Node present(const std::string& text) {
    return deck::present_names(deck::parse(text, "old.yaml"), schema, &registry, problems);
  }
  std::string resolved(const std::string& text) { return deck::resolved(present(text), schema, registry); }
  std::string problems_of(const std::string& text) {
    try {
      deck::read<Deck>(deck::parse(text, "old.yaml"), &registry);
    } catch (const InputError& e) {
      const std::string all = e.what();
      return all.substr(0, all.rfind('\n'));
    }
    return "accepted";
  }
};

const char* const old_deck =
    "stages:\n"
    "  - fit:\n"
    "      model: {type: box, side: 2}\n"
    "      layers: [{neurons: 3}, {width: 4}]\n"
    "      heads: {a: {neurons: 5}}\n"
    "      epochs: 7\n"
    "  - throw:\n"
    "      body: box\n"
    "      side: 3\n"
    "      up: 2\n";
const char* const new_deck =
    "stages:\n"
    "  - learn:\n"
    "      network: {type: cube, edge: 2}\n"
    "      layers: [{width: 3}, {width: 4}]\n"
    "      heads: {a: {width: 5}}\n"
    "      rounds: 7\n"
    "  - throw:\n"
    "      shape: cube\n"
    "      edge: 3\n"
    "      height: 2\n";

}  // namespace

TEST_CASE("a deck in former names resolves to the same deck as one in present names, with a hint for each") {
  Fixture old, now;
  CHECK(old.resolved(old_deck) == now.resolved(new_deck));
  CHECK(now.hints().empty());
  CHECK(old.hints() ==
        "old.yaml:2:5: stages[0].fit: 'fit' is called 'learn' now\n"
        "old.yaml:3:7: stages[0].fit.model: 'model' is called 'network' now\n"
        "old.yaml:3:21: stages[0].fit.model.type: 'box' is called 'cube' now\n"
        "old.yaml:3:26: stages[0].fit.model.side: 'side' is called 'edge' now\n"
        "old.yaml:4:17: stages[0].fit.layers[0].neurons: 'neurons' is called 'width' now\n"
        "old.yaml:5:19: stages[0].fit.heads.a.neurons: 'neurons' is called 'width' now\n"
        "old.yaml:6:7: stages[0].fit.epochs: 'epochs' is called 'rounds' now\n"
        "old.yaml:8:7: stages[1].throw.body: 'body' is called 'shape' now\n"
        "old.yaml:8:13: stages[1].throw.body: 'box' is called 'cube' now\n"
        "old.yaml:9:7: stages[1].throw.side: 'side' is called 'edge' now\n"
        "old.yaml:10:7: stages[1].throw.up: 'up' is called 'height' now\n");
  CHECK_FALSE(old.resolved(old_deck).find("model") != std::string::npos);
}

TEST_CASE("reading and making accept former names everywhere") {
  Fixture f;
  const auto read = deck::read<Deck>(deck::parse(old_deck, "old.yaml"), f.problems, &f.registry);
  CHECK(f.problems.empty());
  CHECK(f.problems.hints().size() == 11);
  REQUIRE(read.stages.size() == 2);
  CHECK(read.stages[0].type == "learn");
  Log log;
  Comm comm;
  Timing timing;
  Context context{comm, log, timing};
  context.registry = &f.registry;
  const auto job = f.registry.make<Job>(read.stages[0], context);
  CHECK(dynamic_cast<const Learn&>(*job).params.rounds == 7);
  CHECK(dynamic_cast<const Learn&>(*job).network->size() == 2.0);
  CHECK(log.warnings().empty());  // the deck's reader has said it

  const auto keys = deck::parse("{side: 5}", "keys.yaml");
  CHECK(f.registry.make<Shape>("box", keys, context)->size() == 5.0);
  REQUIRE(log.warnings().size() == 1);
  CHECK(log.warnings()[0].text == "keys.yaml:1:2: side: 'side' is called 'edge' now");
}

TEST_CASE("a key under both names is refused with both places") {
  Fixture f;
  CHECK(f.problems_of("stages:\n  - learn:\n      model: ball\n      network: cube\n") ==
        "old.yaml:3:7: stages[0].learn.model: 'model' is called 'network' now, and 'network' is given as well "
        "(old.yaml:4:7): remove one of them");
  CHECK(f.problems_of("stages:\n  - throw:\n      shape: cube\n      edge: 1\n      side: 2\n") ==
        "old.yaml:5:7: stages[0].throw.side: 'side' is called 'edge' now, and 'edge' is given as well (old.yaml:4:7): "
        "remove one of them");
  CHECK(f.problems_of("stages:\n  - learn:\n      model: cube\n      net: cube\n") ==
        "old.yaml:4:7: stages[0].learn.net: 'net' is called 'network' now, and 'network' is given as well "
        "(old.yaml:3:7): remove one of them");
}

TEST_CASE("what is missing or unknown is told in present names") {
  Fixture f;
  CHECK(f.problems_of("stages:\n  - fit: {epochs: 1}\n") ==
        "old.yaml:2:10: stages[0].learn: missing key 'network' (what is trained)");
  CHECK(f.problems_of("stages:\n  - learn: {network: cube, epochs: 0}\n") ==
        "old.yaml:2:36: stages[0].learn.rounds: found 0, expected a whole number >= 1");
}

TEST_CASE("overrides reach a key under either name, whichever the deck has") {
  for (const auto* deck_text : {old_deck, new_deck}) {
    Fixture f, other;
    auto a = f.present(deck_text), b = other.present(deck_text);
    f.problems = {};
    for (const auto* text : {"stages[0].fit.model.side=9", "stages[0].learn.layers[1].neurons=8",
                             "stages[0].learn.heads.a.neurons=2", "stages[1].throw.side=6"})
      deck::override(a, text, f.schema, f.registry, f.problems);
    for (const auto* text : {"stages[0].learn.network.edge=9", "stages[0].learn.layers[1].width=8",
                             "stages[0].learn.heads.a.width=2", "stages[1].throw.edge=6"})
      deck::override(b, text, other.schema, other.registry, other.problems);
    CHECK(deck::resolved(a, f.schema, f.registry) == deck::resolved(b, f.schema, f.registry));
    CHECK(f.hints() ==
          "command line: stages[0].fit: 'fit' is called 'learn' now\n"
          "command line: stages[0].learn.model: 'model' is called 'network' now\n"
          "command line: stages[0].learn.network.side: 'side' is called 'edge' now\n"
          "command line: stages[0].learn.layers[1].neurons: 'neurons' is called 'width' now\n"
          "command line: stages[0].learn.heads.a.neurons: 'neurons' is called 'width' now\n"
          "command line: stages[1].throw.side: 'side' is called 'edge' now\n");
  }
  Fixture f;
  auto deck = f.present(new_deck);
  deck::override(deck, "stages[0].learn={model: {type: box, side: 1}}", f.schema, f.registry, f.problems);
  CHECK(f.hints() ==
        "command line: stages[0].learn.model: 'model' is called 'network' now\n"
        "command line: stages[0].learn.model.type: 'box' is called 'cube' now\n"
        "command line: stages[0].learn.model.side: 'side' is called 'edge' now\n");
  CHECK_THROWS_WITH(deck::override(deck, "stages[7].learn.model=box", f.schema, f.registry, f.problems),
                    "command line: stages[7].learn.network: 'stages' has 2 items, counted from 0");
  CHECK_THROWS_WITH(deck::override(deck, "stages[3000000].learn.model=box", f.schema, f.registry, f.problems),
                    "command line: stages[3000000].learn.network: 'stages' has 2 items, counted from 0");
  CHECK_THROWS_WITH(deck::override(deck, "stages", f.schema, f.registry, f.problems),
                    "command line: found 'stages', expected key.path=value");
}

TEST_CASE("overrides of tests reach keys under former names") {
  Fixture f;
  auto deck =
      f.present(std::string(new_deck) + "x-test: {'stages[0].learn.epochs': 1, 'stages[0].learn.model': box}\n");
  deck::apply_test_overrides(deck, f.schema, f.registry, f.problems);
  CHECK(deck["stages"][0]["learn"]["rounds"].text() == "1");
  CHECK(deck["stages"][0]["learn"]["network"].text() == "cube");
  CHECK_FALSE(deck["stages"][0]["learn"].has("epochs"));
}

TEST_CASE("alternatives of a search hold former names, even of types that it has yet to pick") {
  Fixture f;
  const auto node = f.present(
      "stages:\n  - learn: {model: !choice [box, {type: !choice [box, painted], side: 2}], epochs: !choice [1, 2]}\n");
  CHECK(node["stages"][0]["learn"]["network"][0].text() == "cube");
  CHECK(node["stages"][0]["learn"]["rounds"].is_alternatives());

  deck::Reader reader{f.problems, &f.registry};
  deck::Marked<Learn::Params> marked;
  deck::KeySpec spec;
  using Marked = deck::Value<deck::Marked<Learn::Params>>;
  Marked::specify(spec);
  const auto keys = deck::parse("network: {type: !choice [box], side: 2}", "search.yaml");
  CHECK(Marked::read(keys, spec, 0, reader, marked));
  CHECK(f.problems.empty());
}

TEST_CASE("the reference lists present names and says what they were") {
  Fixture f;
  CHECK(deck::markdown(*f.registry.find("job", "fit")) ==
        "### job `learn`\n\ntrains (plugin `samples`; formerly `fit`)\n\n"
        "| key | type | unit | default | allowed | meaning |\n|---|---|---|---|---|---|\n"
        "| `network` | [shape](#shape) |  | required |  | what is trained; formerly `model`, `net` |\n"
        "| `layers` | list of maps |  | `[]` |  | of the network |\n"
        "| `layers[].width` | whole number |  | required | >= 1 | neurons; formerly `neurons` |\n"
        "| `heads` | map from names to maps |  | `{}` |  | by name |\n"
        "| `heads.<name>.width` | whole number |  | required | >= 1 | neurons; formerly `neurons` |\n"
        "| `rounds` | whole number |  | `3` | >= 1 | how often; formerly `epochs` |\n");
  CHECK(f.registry.names("job") == std::vector<std::string>{"roll", "learn", "throw"});
}

TEST_CASE("the schema takes one of the names, former ones as deprecated") {
  Fixture f;
  const auto schema = nlohmann::json::parse(deck::json_schema(f.schema, f.registry, "deck"));
  const auto& jobs = schema["properties"]["stages"]["items"]["properties"];
  const auto& learn = jobs["learn"];
  CHECK(jobs["fit"]["deprecated"] == true);
  CHECK(jobs["fit"]["description"] == "called 'learn' now");
  CHECK(jobs["fit"]["properties"] == learn["properties"]);
  CHECK(learn["properties"]["model"]["$ref"] == learn["properties"]["network"]["$ref"]);
  CHECK(learn["properties"]["model"]["deprecated"] == true);
  CHECK(learn["properties"]["net"]["description"] == "called 'network' now");
  CHECK_FALSE(learn.contains("required"));
  CHECK(learn["allOf"][0].dump() ==
        R"({"oneOf":[{"required":["network"]},{"required":["model"]},{"required":["net"]}]})");
  CHECK(learn["allOf"][1].dump() == R"({"oneOf":[{"required":["rounds"]},{"required":["epochs"]},)"
                                    R"({"not":{"anyOf":[{"required":["rounds"]},{"required":["epochs"]}]}}]})");
  CHECK(schema["$defs"]["shape"].dump().find(R"("enum":["cube","box"])") != std::string::npos);
}

TEST_CASE("names are made present where a deck comes in, not where a map of it is read") {
  Fixture f;
  deck::Reader reader{f.problems, &f.registry};
  Learn::Params params;
  CHECK_THROWS_WITH(deck::read_map(deck::parse("{model: cube}", "a.yaml"), reader, params),
                    "key 'model' is a former name of 'network' and was not renamed at a.yaml:1:1");
}

TEST_CASE("declarations of former names that cannot work are mistakes of the program") {
  struct Clash {
    int a = 0, b = 0;
    static void describe(deck::Describe<Clash>& d) {
      d("a", &Clash::a, "first").def(0);
      d("b", &Clash::b, "second").formerly("a").def(0);
    }
  };
  CHECK_THROWS_WITH(deck::read<Clash>(deck::parse("{}", "c.yaml")),
                    "'a' is a key and a former name of 'b' in one map at c.yaml:1:1");
  Fixture f;
  CHECK_THROWS_WITH(f.registry.renamed<Shape>("ball", "cube"),
                    "shape 'ball' cannot be a former name of 'cube': plugin 'samples' has that name");
  CHECK_THROWS_WITH(f.registry.renamed<Shape>("sphere", "globe"),
                    "shape 'globe' is to be the new name of 'sphere', but is not there");
}
