// What a deck that is right means.
#include "core/deck/override.hpp"
#include "tests/catch.hpp"
#include "tests/core/deck/deck_samples.hpp"

using namespace cambium;
using namespace samples;

namespace {

Everything everything(const std::string& text) { return deck::read<Everything>(deck::parse(text, "a.yaml")); }

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  Context context{comm, log, timing, &registry};
  World() { register_samples(registry); }
};

}  // namespace

TEST_CASE("absent keys have their defaults") {
  const Everything e = everything("timestep: 0.001");
  CHECK(e.timestep == 0.001);
  CHECK(e.cutoff == 8.0);
  CHECK(e.steps == 100);
  CHECK_FALSE(e.tail);
  CHECK(e.file == "out.h5");
  CHECK(e.supercell == std::array{1, 1, 1});
  CHECK_FALSE(e.pressure);
  CHECK(e.temperature.constant());
  CHECK(e.temperature(0.0) == 300.0);
  CHECK(e.mode == Mode::nve);
  CHECK(e.nested.a == 3);
  CHECK(e.easy.c == 7);
  CHECK(e.shape.type == "ball");
}

TEST_CASE("every sort of value is read") {
  const Everything e = everything(R"(
timestep: 2 fs
cutoff: 0.5 nm
steps: 1e6
tail: yes
file: "a b.h5"
list: [1, 2 meV, 3]
supercell: [4, 5, 6]
basis: [[0, 0, 0], [0.5, 0.5, 0]]
pressure: 1 GPa
masses: {Cu: 63.546, Ag: 107.87 amu, x-source: {from: a book}}
temperature: "300 + 20*t"
mode: nvt
modes: [nve, nvt]
format: h5md
nested: {a: 1}
easy: {c: 2}
items:
  - {a: 1, b: one}
  - a: 2
shape: {type: ball, radius: 2}
shapes: [ball, {type: ball, radius: 1}]
x-note: {anything: [at all]}
)");
  CHECK(e.timestep == 0.002);
  CHECK(e.cutoff == 5.0);
  CHECK(e.steps == 1000000);
  CHECK(e.tail);
  CHECK(e.file == "a b.h5");
  CHECK(e.list == std::vector<double>{1.0, 0.002, 3.0});
  CHECK(e.supercell == std::array{4, 5, 6});
  CHECK(e.basis.at(1) == std::array{0.5, 0.5, 0.0});
  CHECK(*e.pressure == 1e4);
  CHECK(e.masses.size() == 2);
  CHECK(e.masses.at("Ag") == 107.87);
  CHECK(e.temperature(2.0) == 340.0);
  CHECK(e.mode == Mode::nvt);
  CHECK(e.modes == std::vector{Mode::nve, Mode::nvt});
  CHECK(e.format == "h5md");
  CHECK(e.nested.a == 1);
  CHECK(e.nested.b == "none");
  CHECK(e.easy.c == 2);
  REQUIRE(e.items.size() == 2);
  CHECK(e.items[0].b == "one");
  CHECK(e.shape.node["radius"].text() == "2");
  CHECK_FALSE(e.shape.node.has("type"));
  CHECK(e.shapes.at(0).type == "ball");
}

TEST_CASE("an alias repeats what its anchor names, under its own path") {
  const auto root = deck::parse("a: &x {b: [1, 2]}\nc: *x\n", "a.yaml");
  CHECK(root["c"]["b"][1].text() == "2");
  CHECK(root["c"]["b"][1].where() == "a.yaml:1:15: c.b[1]");
}

TEST_CASE("a merge key takes the keys of other maps that the map itself lacks") {
  const auto root = deck::parse(
      "a: &a {x: 1, y: {p: 1, q: 2}}\nb: &b {x: 3, z: 4}\n"
      "one:\n  y: {p: 5}\n  <<: *a\n"
      "two:\n  <<: [*b, *a]\n  w: 0\n"
      "three: {<<: {x: 7}, <<: *b}\n",
      "a.yaml");
  CHECK(deck::to_yaml(root["one"]) == "y:\n  p: 5\nx: 1\n");
  CHECK(deck::to_yaml(root["two"]) == "x: 3\nz: 4\ny:\n  p: 1\n  q: 2\nw: 0\n");
  CHECK(deck::to_yaml(root["three"]) == "x: 7\nz: 4\n");
  CHECK(root["two"]["y"]["q"].where() == "a.yaml:1:27: two.y.q");
}

TEST_CASE("a null leaves an optional key unset") { CHECK_FALSE(everything("{timestep: 1, pressure: ~}").pressure); }

TEST_CASE("a node knows its place and outlives its document") {
  deck::Node cutoff;
  {
    const auto root =
        deck::parse("run: {name: a}\nstages:\n  - simulate:\n      potential:\n        cutoff: 8\n", "copper.yaml");
    cutoff = root["stages"][0]["simulate"]["potential"]["cutoff"];
    CHECK(root["nothing"]["at"][3]["all"].defined() == false);
    CHECK(root.mark().text() == "copper.yaml:1:1");
  }
  CHECK(cutoff.text() == "8");
  CHECK(cutoff.path() == "stages[0].simulate.potential.cutoff");
  CHECK(cutoff.where() == "copper.yaml:5:17: stages[0].simulate.potential.cutoff");
}

TEST_CASE("registered types are made from choices, kinds within kinds") {
  World w;
  const auto node =
      deck::parse("{type: painted, inside: {type: ball, radius: 0.3 nm}, paint: {type: red, depth: 1}}", "a.yaml");
  deck::Problems problems;
  struct P {
    deck::Choice<Shape> shape;
    static void describe(deck::Describe<P>& d) { d("shape", &P::shape, "a shape"); }
  };
  const P p = deck::read<P>(deck::Node::map({{"shape", node}}).at_path(""), &w.registry);
  const auto shape = w.registry.make<Shape>(p.shape, w.context);
  CHECK(shape->size() == 3.0);
  CHECK(dynamic_cast<Red&>(*dynamic_cast<Painted&>(*shape).paint).depth == 1.0);
  const auto again = w.registry.make<Shape>("ball", deck::parse("radius: 2", "b.yaml"), w.context);
  CHECK(again->size() == 2.0);
}

TEST_CASE("a stage's keys and those of the type it names stand side by side") {
  World w;
  const auto root = deck::parse("stages:\n  - roll: {shape: ball, steps: 3, radius: 2, x-why: not}\n", "a.yaml");
  const auto d = deck::read<Deck>(root, &w.registry);
  CHECK(d.name == "run");
  REQUIRE(d.stages.size() == 1);
  CHECK(d.stages[0].type == "roll");
  const auto job = w.registry.make<Job>(d.stages[0], w.context);
  const auto& roll = dynamic_cast<Roll&>(*job);
  CHECK(roll.params.steps == 3);
  CHECK(roll.params.shape.type == "ball");
  CHECK(roll.params.shape.node.size() == 1);
  CHECK(roll.shape->size() == 2.0);
}

TEST_CASE("the registry lists what it has and from where") {
  World w;
  CHECK(w.registry.kinds() == std::vector<std::string>{"shape", "paint", "job"});
  CHECK(w.registry.names("shape") == std::vector<std::string>{"ball", "painted"});
  CHECK(w.registry.plugins() == std::vector<std::string>{"samples"});
  const auto* ball = w.registry.find("shape", "ball");
  REQUIRE(ball);
  CHECK(ball->plugin == "samples");
  CHECK(ball->doc == "a sphere");
  CHECK(ball->schema.keys.at(0).name == "radius");
  w.registry.set_plugin("other");
  CHECK_THROWS_WITH(w.registry.add<Ball>("ball", "again"),
                    "shape 'ball' is added by plugin 'samples' and by plugin 'other'");
  CHECK_THROWS_AS(w.registry.add<Ball>("ball", "again"), InternalError);
}

TEST_CASE("names that begin with a place need no quotes on the command line") {
  const auto set = [](const std::string& value) {
    auto root = deck::parse("a: 1\n", "deck.yaml");
    deck::override(root, "a=" + value);
    return root["a"];
  };
  for (const std::string name : {"{run}/train/model.dp", "{deck}/x.h5", "{run}", "{run}/it's, here: [1] #2"}) {
    CHECK(set(name).is_scalar());
    CHECK(set(name).text() == name);
  }
  const auto list = set("[{run}/a b, \"{run}/c, d\", {x: {deck}/e, y: [ {run} ]}, plain]");
  REQUIRE(list.size() == 4);
  CHECK(list[0].text() == "{run}/a b");
  CHECK(list[1].text() == "{run}/c, d");
  CHECK(list[2]["x"].text() == "{deck}/e");
  CHECK(list[2]["y"][0].text() == "{run}");
  CHECK(list[3].text() == "plain");
  CHECK(set("{run: 3}")["run"].text() == "3");
  CHECK(set("x{run}/y").text() == "x{run}/y");
  CHECK_THROWS_WITH(deck::parse("a:\n  model: {run}/train/model.dp\n", "deck.yaml"),
                    Catch::Contains("; a name that begins with {run} needs quotes: \"{run}/...\""));
}

TEST_CASE("the command line overrides values and adds keys") {
  auto root = deck::parse("run: {name: a}\nstages:\n  - roll: {steps: 3}\n", "a.yaml");
  deck::override(root, "stages[0].roll.steps=5");
  deck::override(root, "stages[0].roll.shape={type: ball, radius: 2}");
  deck::override(root, "run.directory = out");
  deck::override(root, "run.seed=");
  CHECK(root["stages"][0]["roll"]["steps"].text() == "5");
  CHECK(root["stages"][0]["roll"]["steps"].where() == "command line: stages[0].roll.steps");
  CHECK(root["stages"][0]["roll"]["shape"]["radius"].path() == "stages[0].roll.shape.radius");
  CHECK(root["run"]["directory"].text() == "out");
  CHECK(root["run"]["seed"].is_null());
  CHECK(root["run"]["name"].mark().line == 1);
}

TEST_CASE("x-test shrinks a deck") {
  auto root = deck::parse(
      "stages:\n  - roll: {steps: 3000}\nx-test:\n  stages[0].roll.steps: 2\n  stages[0].roll.shape: ball\n", "a.yaml");
  deck::apply_test_overrides(root);
  CHECK(root["stages"][0]["roll"]["steps"].text() == "2");
  CHECK(root["stages"][0]["roll"]["steps"].where() == "a.yaml:4:25: stages[0].roll.steps");
  CHECK(root["stages"][0]["roll"]["shape"].text() == "ball");
  auto plain = deck::parse("a: 1", "b.yaml");
  deck::apply_test_overrides(plain);
  CHECK(plain["a"].text() == "1");
}

TEST_CASE("YAML that is written reads back the same") {
  const std::string text =
      "name: \"a: b\"\n"
      "steps: 100\n"
      "list: [1, -2.5, [x, \"\"]]\n"
      "nothing: ~\n"
      "empty: {}\n"
      "map:\n"
      "  inner: yes\n"
      "  deep:\n"
      "    - a: 1\n"
      "      b: \"two\\nlines \\\"quoted\\\" back\\\\slash\"\n"
      "    - c\n"
      "    - [1, 2]\n";
  CHECK(deck::to_yaml(deck::parse(text, "a")) == text);
}
