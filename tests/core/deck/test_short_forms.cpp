// A plain word where a block with a type is expected, a plain number where a type `constant` has one: the same decks.
#include <nlohmann/json.hpp>

#include "core/deck/reference.hpp"
#include "core/deck/resolve.hpp"
#include "tests/catch.hpp"
#include "tests/core/deck/deck_samples.hpp"

using namespace cambium;
using namespace samples;

namespace {

struct Rate {
  using Kind = Rate;
  static constexpr std::string_view kind = "rate";
  virtual ~Rate() = default;
};

struct Constant : Rate {
  struct Params {
    double start = 0.0;
    static void describe(deck::Describe<Params>& d) { d("start", &Params::start, "of all steps").positive(); }
  };
  Constant(const Params&, Context&) {}
};

struct Pieces : Rate {
  struct Params {
    std::vector<deck::Choice<Rate>> all;
    static void describe(deck::Describe<Params>& d) { d("all", &Params::all, "one after the other"); }
  };
  Pieces(const Params&, Context&) {}
};

struct Seeing {
  enum class Type { all, near } type = Type::all;
  int width = 0;
  static void describe(deck::Describe<Seeing>& d) {
    d("type", &Seeing::type, "who").options({{"all", Type::all}, {"near", Type::near}}).def(Type::all);
    d("width", &Seeing::width, "how far").def(3);
  }
};

struct Learning {
  deck::Choice<Rate> rate;
  deck::Choice<Shape> shape{"ball"};
  Seeing seeing;
  std::vector<Seeing> layers;
  static void describe(deck::Describe<Learning>& d) {
    d("rate", &Learning::rate, "of steps");
    d("shape", &Learning::shape, "a kind without a constant").def({"ball"});
    d("seeing", &Learning::seeing, "of the first");
    d("layers", &Learning::layers, "of the others").def({});
  }
};

struct Fixture {
  Registry registry;
  const deck::Schema schema = deck::schema_of<Learning>();
  Fixture() {
    register_samples(registry);
    registry.add<Constant>("constant", "the same");
    registry.add<Pieces>("pieces", "several");
  }
  std::string resolved(const std::string& text) {
    deck::Problems problems;
    const auto node = deck::present_names(deck::parse(text, "short.yaml"), schema, &registry, problems);
    CHECK(problems.hints().empty());
    return deck::resolved(node, schema, registry);
  }
  std::string said(const std::string& text) {
    try {
      deck::read<Learning>(deck::parse(text, "short.yaml"), &registry);
    } catch (const InputError& e) {
      const std::string all = e.what();
      return all.substr(0, all.rfind('\n'));
    }
    return "accepted";
  }
};

}  // namespace

TEST_CASE("a plain word is the type of a block, a plain number the constant one") {
  Fixture f;
  CHECK(f.resolved("rate: 1e-3\nseeing: near\nlayers: [all, near, {width: 4}]") ==
        f.resolved("rate: {type: constant, start: 1e-3}\nseeing: {type: near}\n"
                   "layers: [{type: all}, {type: near}, {width: 4}]"));
  CHECK(f.resolved("rate: {type: pieces, all: [2, 3]}") ==
        f.resolved("rate: {type: pieces, all: [{type: constant, start: 2}, {type: constant, start: 3}]}"));
  const auto read = deck::read<Learning>(deck::parse("rate: 0.5\nseeing: near", "short.yaml"), &f.registry);
  CHECK(read.rate.type == "constant");
  CHECK(read.rate.node["start"].text() == "0.5");
  CHECK(read.seeing.type == Seeing::Type::near);
  CHECK(read.seeing.width == 3);
}

TEST_CASE("what is wrong with a short form is said at its place") {
  Fixture f;
  CHECK(f.said("rate: 1e-3\nseeing: nearr") ==
        "short.yaml:2:9: seeing.type: found 'nearr', expected one of: all, near; did you mean 'near'?");
  CHECK(f.said("rate: -1") == "short.yaml:1:7: rate.start: found -1, expected a number > 0");
  CHECK(f.said("rate: 1\nseeing: 5") == "short.yaml:2:9: seeing: found 5, expected a map with keys of type, width");
  CHECK(f.said("rate: 1\nshape: 5").starts_with("short.yaml:2:8: shape: there is no shape '5'"));
}

TEST_CASE("the schema of editors allows short forms") {
  Fixture f;
  const auto schema = nlohmann::json::parse(deck::json_schema(f.schema, f.registry, "test"));
  const auto& seeing = schema.at("properties").at("seeing").at("anyOf");
  CHECK(seeing.at(1) == nlohmann::json{{"enum", {"all", "near"}}});
  CHECK(schema.at("$defs").at("rate").at("oneOf").back() ==
        nlohmann::json{{"type", "number"}, {"exclusiveMinimum", 0.0}});
}
