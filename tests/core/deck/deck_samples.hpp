#pragma once
// Small kinds and types by which the deck layer is tested.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/registry.hpp"

namespace samples {

namespace deck = cambium::deck;
using cambium::Context;
using cambium::InputError;
using cambium::Registry;

struct Shape {
  using Kind = Shape;
  static constexpr std::string_view kind = "shape";
  virtual ~Shape() = default;
  virtual double size() const = 0;
};

struct Paint {
  using Kind = Paint;
  static constexpr std::string_view kind = "paint";
  virtual ~Paint() = default;
};

struct Ball : Shape {
  struct Params {
    double radius = 0.0;
    static void describe(deck::Describe<Params>& d) {
      d("radius", &Params::radius, "radius of the ball").unit("angstrom").positive();
    }
  };
  Ball(const Params& p, Context&) : p_(p) {}
  double size() const override { return p_.radius; }
  Params p_;
};

struct Red : Paint {
  struct Params {
    double depth = 0.0;
    static void describe(deck::Describe<Params>& d) {
      d("depth", &Params::depth, "depth of the colour").range(0, 1).def(0.5);
    }
  };
  Red(const Params& p, Context&) : depth(p.depth) {}
  double depth;
};

/// A shape that holds a shape and a paint: kinds nest in each other.
struct Painted : Shape {
  struct Params {
    deck::Choice<Shape> inside;
    deck::Choice<Paint> paint;
    static void describe(deck::Describe<Params>& d) {
      d("inside", &Params::inside, "what is painted");
      d("paint", &Params::paint, "with what").def("red");
    }
  };
  Painted(const Params& p, Context& c)
      : inside(c.registry->make<Shape>(p.inside, c)), paint(c.registry->make<Paint>(p.paint, c)) {}
  double size() const override { return inside->size(); }
  std::unique_ptr<Shape> inside;
  std::unique_ptr<Paint> paint;
};

/// A shape that cannot be made.
struct Heavy : Shape {
  struct Params {
    static void describe(deck::Describe<Params>&) {}
  };
  Heavy(const Params&, Context&) { throw InputError("too heavy to lift"); }
  double size() const override { return 0.0; }
};

enum class Mode { nve, nvt };

struct Nested {
  int a = 0;
  std::string b;
  static void describe(deck::Describe<Nested>& d) {
    d("a", &Nested::a, "first");
    d("b", &Nested::b, "second").def("none");
  }
};

struct Easy {
  int c = 0;
  static void describe(deck::Describe<Easy>& d) { d("c", &Easy::c, "third").def(7); }
};

/// One key of every sort.
struct Everything {
  double timestep = 0.0;
  double cutoff = 0.0;
  long long steps = 0;
  bool tail = false;
  std::string file;
  std::vector<double> list;
  std::array<int, 3> supercell{1, 1, 1};
  std::vector<std::array<double, 3>> basis;
  std::optional<double> pressure;
  std::map<std::string, double> masses;
  deck::Expression temperature;
  Mode mode = Mode::nve;
  std::vector<Mode> modes;
  std::string format;
  Nested nested;
  Easy easy;
  std::vector<Nested> items;
  deck::Choice<Shape> shape;
  std::vector<deck::Choice<Shape>> shapes;

  static void describe(deck::Describe<Everything>& d) {
    using E = Everything;
    d("timestep", &E::timestep, "length of a step").unit("ps").positive();
    d("cutoff", &E::cutoff, "range").greater_than(0).less_than(20).unit("angstrom").def(8.0);
    d("steps", &E::steps, "number of steps").range(0, 1000000000).def(100);
    d("tail", &E::tail, "add the tail").def(false);
    d("file", &E::file, "where").def("out.h5").example("run.h5");
    d("list", &E::list, "numbers").unit("eV").non_negative().def({});
    d("supercell", &E::supercell, "copies").at_least(1).def({1, 1, 1});
    d("basis", &E::basis, "positions").def({});
    d("pressure", &E::pressure, "outer pressure").unit("bar");
    d("masses", &E::masses, "by species").unit("g/mol").positive().def({});
    d("temperature", &E::temperature, "heat bath").unit("K").non_negative().def(300.0);
    d("mode", &E::mode, "ensemble").def(Mode::nve).options({{"nve", Mode::nve}, {"nvt", Mode::nvt}});
    d("modes", &E::modes, "ensembles").options({{"nve", Mode::nve}, {"nvt", Mode::nvt}}).def({});
    d("format", &E::format, "file format").options({"xyz", "h5md"}).def("xyz");
    d("nested", &E::nested, "a map").def(Nested{.a = 3, .b = "x"});
    d("easy", &E::easy, "a map of defaults");
    d("items", &E::items, "maps").def({});
    d("shape", &E::shape, "a shape").def({"ball"});
    d("shapes", &E::shapes, "shapes").def({});
    d.check([](const E& e) -> std::string {
      return e.tail && e.cutoff < 1.0 ? "tail needs a cutoff of at least 1 angstrom" : "";
    });
  }
};

struct Job {
  using Kind = Job;
  static constexpr std::string_view kind = "job";
  virtual ~Job() = default;
};

/// A job whose keys are its own and those of the shape that it names, side by side.
struct Roll : Job {
  struct Params {
    deck::Choice<Shape> shape;
    int steps = 0;
    static void describe(deck::Describe<Params>& d) {
      d.inline_choice("shape", &Params::shape, "what rolls");
      d("steps", &Params::steps, "how often").at_least(1);
    }
  };
  Roll(const Params& p, Context& c) : params(p), shape(c.registry->make<Shape>(p.shape, c)) {}
  Params params;
  std::unique_ptr<Shape> shape;
};

/// A whole deck: a list of jobs, each a map with one key.
struct Deck {
  std::string name;
  std::vector<deck::Choice<Job>> stages;
  static void describe(deck::Describe<Deck>& d) {
    d("name", &Deck::name, "name of the run").def("run");
    d("stages", &Deck::stages, "what to do, in order").keyed();
  }
};

inline void register_samples(Registry& registry) {
  registry.set_plugin("samples");
  registry.add<Ball>("ball", "a sphere");
  registry.add<Painted>("painted", "a shape with a colour");
  registry.add<Red>("red", "the colour");
  registry.add<Roll>("roll", "rolls a shape");
  registry.known_elsewhere("shape", "torus", "topology", "-DCAMBIUM_TOPOLOGY=ON");
}

}  // namespace samples
