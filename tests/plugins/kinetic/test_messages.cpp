// What a user reads about a deck that cannot work, word for word.
#include "kinetic_run.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "plugins/kinetic/writers/points.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static const std::string plain = "(1 + a*cos(k*x)) * maxwellian(v)";

/// The text of the InputError of a run's construction, first state or first step; "" when there is none.
static std::string refusal(const VlasovPoisson::Params& p) {
  try {
    KineticRun<VlasovPoisson> run(p);
    run.start();
    run.step();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("v = 0 inside a cell") {
  auto p = wave("0.5", 8, 8, plain);
  p.species[0].velocity.lower = {"-5"};
  CHECK(refusal(p) ==
        "species 'electron', velocity dimension 1: v = 0 lies inside a cell (-5 to 6 in 8 cells), where streaming "
        "would change its direction; move 'lower' to -6 or 'upper' to 5");
  p.species[0].velocity.lower = {"-6"},
  p.species[0].velocity.upper = {"0.3"};  // the nearest face is the end of the last cell
  CHECK(refusal(p) ==
        "species 'electron', velocity dimension 1: v = 0 lies inside a cell (-6 to 0.3 in 8 cells), where streaming "
        "would change its direction; move 'lower' to -2.1 or 'upper' to 0.8571428571");
  p.species[0].velocity.lower = {"-0.3"};
  p.species[0].velocity.upper = {"6"};
  CHECK(refusal(p) ==
        "species 'electron', velocity dimension 1: v = 0 lies inside a cell (-0.3 to 6 in 8 cells), where streaming "
        "would change its direction; move 'lower' to -0.8571428571 or 'upper' to 2.1");
  p.species[0].velocity.cells = {1};
  CHECK(refusal(p) ==
        "species 'electron', velocity dimension 1: v = 0 lies inside a cell (-0.3 to 6 in 1 cells), where streaming "
        "would change its direction; give at least 2 'cells'");
}

TEST_CASE("velocity space too small") {
  CHECK(refusal(wave("0.5", 8, 8, plain, 2.0)) ==
        "species 'electron': 0.046 of the density is in the first cell of velocity dimension 1; lower 'lower'");
  KineticRun<VlasovPoisson> run(wave("0.5", 8, 8, plain, 4.0));
  run.start();
  REQUIRE(run.log.warnings().size() == 2);
  CHECK(run.log.warnings()[0].text ==
        "species 'electron': 0.0013 of the density is in the first cell of velocity dimension 1; lower 'lower'");
}

TEST_CASE("particles that meet the end of velocity space during a run") {
  for (const char* E : {"0", "1", "-1"}) {
    auto p = wave("0.5", 4, 24, plain);
    p.external.E = {E};
    KineticRun<VlasovPoisson> run(p);
    run.start();
    run.until(5.0);  // the drift of the electrons is then -5 E
    run.physics->report();
    std::string all;
    for (const auto& w : run.log.warnings()) all += w.text + "\n";
    INFO(all);
    const auto said = [&](const char* cell) {
      return all.find(std::string("of the density is in the ") + cell +
                      " cell of velocity dimension 1: particles have "
                      "met the end of velocity space") != std::string::npos;
    };
    CHECK(said("first") == (E[0] == '1'));
    CHECK(said("last") == (E[0] == '-'));
  }
}

TEST_CASE("unresolved Debye length") {
  auto p = wave("0.01", 8, 16, plain);
  KineticRun<VlasovPoisson> run(p);
  run.start();
  REQUIRE(run.log.warnings().size() == 1);
  CHECK(run.log.warnings()[0].text ==
        "species 'electron': the Debye length 1 is not resolved in dimension 1: cells of width 78.5 with 3 degrees of "
        "freedom each; use at least 210 cells to resolve it");
}

TEST_CASE("the Debye length is that of the densest and coldest place, about the local drift") {
  const auto length = [](const std::string& f0) {
    KineticRun<VlasovPoisson> run(wave("1", 32, 32, f0));
    run.start();
    return Totals(*run.physics->species().front()).debye_length(1.0);
  };
  CHECK(length("4*maxwellian(v)") == Approx(0.5));
  CHECK(length("(1.5 + cos(x))*maxwellian(v)") == Approx(1.0 / std::sqrt(2.5)).epsilon(5e-3));  // the mean gives 0.82
  CHECK(length("maxwellian(v, 2*cos(x), 0.8)") == Approx(0.8).epsilon(0.01));  // with all of the flow it were 1.6
  CHECK(length("maxwellian(v, 0, 1.2 + 0.4*cos(x))") == Approx(0.8).epsilon(0.01));
  auto heavy = wave("1", 16, 32, "9*maxwellian(v, 0, 0.5)");
  heavy.species[0].mass = "16";
  heavy.species[0].charge = "2";
  KineticRun<VlasovPoisson> run(heavy);
  run.start();
  CHECK(Totals(*run.physics->species().front()).debye_length(0.25) ==
        Approx(std::sqrt(0.25 * 16 * 0.25 / (9 * 4))).epsilon(1e-3));
}

TEST_CASE("a fixed time step above the stable one") {
  auto p = wave("0.5", 8, 16, plain);
  p.timestep = 0.1;
  CHECK(refusal(p) ==
        "timestep = 0.1 is above the stability limit 0.05236 at time 0; give a smaller 'timestep', or leave it out and "
        "the step is chosen");
}

TEST_CASE("negative density") {
  CHECK(refusal(wave("0.5", 8, 16, "cos(k*x) * maxwellian(v)")) ==
        "species 'electron': f0 has the density -0.372923 at x = 3.92699; it must be positive everywhere");
}

TEST_CASE("no particles") {
  CHECK(refusal(wave("0.5", 8, 16, "0")) ==
        "species 'electron': f0 is 0 everywhere; give it particles, or leave the species out");
}

TEST_CASE("negative f0") {
  CHECK(refusal(wave("0.5", 8, 16, "(1 - 0.4*v^2) * maxwellian(v)")) ==
        "species 'electron': f0 is negative at 72 % of the points of phase space, down to -0.03323 at x = 0.109063, vx "
        "= -2.19793; change it so that it is nowhere below 0");
  KineticRun<VlasovPoisson> rounded(wave("0.5", 8, 16, "maxwellian(v) - 1e-12"));
  rounded.start();
  CHECK(rounded.log.warnings().empty());
  KineticRun<VlasovPoisson> perturbed(wave("0.5", 8, 16, "(1 + 0.01*(v^3 - 3*v)) * maxwellian(v)"));
  perturbed.start();
  REQUIRE(perturbed.log.warnings().size() == 1);
  CHECK(perturbed.log.warnings()[0].text ==
        "species 'electron': f0 is negative at 9.4 % of the points of phase space, down to -1.495e-07 at x = 0.109063, "
        "vx = -5.00249; change it so that it is nowhere below 0");
}

TEST_CASE("an external component that only some species feel") {
  auto p = wave("0.5", 8, 16, plain);
  p.species.push_back(species("ion", "1", "100", {"-0.6", "-0.6"}, {"0.6", "0.6"}, {8, 8},
                              "maxwellian(vx, 0, 0.1)*maxwellian(vy, 0, 0.1)"));
  p.species.push_back(species("neutral", "0", "100", {"-0.6"}, {"0.6"}, {8}, "maxwellian(v, 0, 0.1)"));
  p.external.E = {"0.1", "0", "0"};
  p.external.B = {"0", "0", "0.1"};
  KineticRun<VlasovPoisson> run(p);
  REQUIRE(run.log.warnings().size() == 1);
  CHECK(run.log.warnings()[0].text ==
        "external: Bz acts on particles with at least 2 velocity dimensions, which 'electron' lacks: they do not feel "
        "it");
}

TEST_CASE("an initial field that particles have no velocities for is a warning") {
  VlasovMaxwell::Params p;
  static_cast<CommonParams&>(p) = wave("0.5", 8, 16, "maxwellian(v)");
  p.fields.E = {"0.1"};
  CHECK(KineticRun<VlasovMaxwell>(p).log.warnings().empty());
  p.fields.B = {"0", "0", "a*sin(k*x)"};
  KineticRun<VlasovMaxwell> run(p);
  REQUIRE(run.log.warnings().size() == 1);
  CHECK(run.log.warnings()[0].text ==
        "fields: Bz acts on particles with at least 2 velocity dimensions, which no charged species has ('electron'): "
        "none feels it; give 'velocity' more dimensions, or Bz = 0");
  p.species.push_back(species("ion", "1", "100", {"-0.6", "-0.6"}, {"0.6", "0.6"}, {8, 8},
                              "maxwellian(vx, 0, 0.1)*maxwellian(vy, 0, 0.1)"));
  KineticRun<VlasovMaxwell> some(p);
  REQUIRE(some.log.warnings().size() == 1);
  CHECK(
      some.log.warnings()[0].text ==
      "fields: Bz acts on particles with at least 2 velocity dimensions, which 'electron' lacks: they do not feel it");
  p.species[0].charge = p.species[1].charge = "0";
  CHECK(KineticRun<VlasovMaxwell>(p).log.warnings().empty());
}

TEST_CASE("a net charge that a periodic box neutralises is a warning, unless only one species is given") {
  const auto warnings_of = [](const VlasovPoisson::Params& p) {
    KineticRun<VlasovPoisson> run(p);
    run.start();
    std::vector<std::string> out;
    for (const auto& w : run.log.warnings())
      if (w.text.find("net charge") != std::string::npos) out.push_back(w.text);
    return out;
  };
  auto p = wave("0.5", 8, 16, plain);
  CHECK(warnings_of(p).empty());
  p.species.push_back(species("ion", "1", "100", {"-0.6"}, {"0.6"}, {16}, "maxwellian(v, 0, 0.1)"));
  CHECK(warnings_of(p).empty());
  p.species[1].f0 = "2*maxwellian(v, 0, 0.1)";
  CHECK(warnings_of(p) ==
        std::vector<std::string>{
            "species and background have a net charge of 12.57 (0.333 of their charges without signs), which a uniform "
            "background neutralises; correct the densities, or add it to 'background'"});
  p.background = "-1";
  CHECK(warnings_of(p).size() == 0);
  p.species.pop_back();
  CHECK(warnings_of(p).size() == 1);
}

TEST_CASE("an initial E that does not satisfy Gauss's law is told, and a net charge of a periodic box") {
  const auto warnings_of = [](const VlasovMaxwell::Params& p) {
    KineticRun<VlasovMaxwell> run(p);
    run.start();
    std::vector<std::string> out;
    for (const auto& w : run.log.warnings()) out.push_back(w.text);
    return out;
  };
  VlasovMaxwell::Params p;
  static_cast<CommonParams&>(p) = wave("0.5", 8, 16, plain);
  const std::vector<std::string> missing{
      "fields: the initial E does not satisfy Gauss's law: epsilon0 div E and the charge density differ by 6.89e-05 "
      "(root mean square, without a uniform part; the charge density varies by 6.89e-05), which stays in the fields as "
      "an immobile charge; give 'fields.E' with this charge density"};  // 1e-4 sin(h/2)/(h/2)/sqrt(2), h = k dx
  CHECK(warnings_of(p) == missing);
  p.fields.E = {"a/k*sin(k*x)"};  // of the other sign
  CHECK(warnings_of(p).size() == 1);
  for (int order : {1, 2}) {
    p.basis.order = order;
    p.fields.E = {"0.1 - a/k*sin(k*x)"};
    CHECK(warnings_of(p).empty());
  }
  p.species[0].f0 = "maxwellian(v)";
  CHECK(warnings_of(p).size() == 1);
  p.fields.E = {"0.1"};
  CHECK(warnings_of(p).empty());
  p.species.push_back(species("ion", "1", "100", {"-0.6"}, {"0.6"}, {16}, "2*maxwellian(v, 0, 0.1)"));
  REQUIRE(warnings_of(p).size() == 1);
  CHECK(warnings_of(p)[0].find("have a net charge of 12.57") != std::string::npos);
}

TEST_CASE("parameters do not change what a maxwellian is, and those that hide a density are said") {
  const double at[] = {0.0, 0.3, 0.3};
  CHECK(Formula("maxwellian(v)", phase_variables(1, 1), {{"pi", 3.0}})(at) ==
        Formula("maxwellian(v)", phase_variables(1, 1), {})(at));
  for (const char* name : {"x", "y", "z", "vx", "vy", "vz", "v", "t", "pi"}) {
    auto p = wave("0.5", 8, 16, plain);
    p.parameters[name] = "3";
    CHECK(refusal(p) == std::string("a parameter cannot be called '") + name +
                            "': formulas call a coordinate, the time or a constant so; give it a name of its own");
  }
  auto p = wave("0.5", 8, 16, plain);
  p.parameters["T"] = "0.04";
  p.species[0].collisions = CollisionParams{};
  p.species[0].collisions->frequency = "0.01*n";
  CHECK(KineticRun<VlasovPoisson>(p).log.warnings().empty());
  p.species[0].collisions->frequency = "0.01*n/T^1.5";
  const auto warnings = KineticRun<VlasovPoisson>(p).log.warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(
      warnings[0].text ==
      "species 'electron': the collision frequency: 'T' is the parameter of that name, 0.04, not the local density or "
      "temperature; rename the parameter if these are meant");
}

TEST_CASE("a configuration that was not built") {
  auto p = wave("0.5", 8, 16, plain);
  p.basis.family = BasisParams::Family::tensor;
  p.basis.order = 1;
  const auto text = refusal(p);
  CHECK(text.starts_with("this build has no kernels for 1x1v_p1_tensor (it has 1x1v_p1, 1x1v_p2"));
  CHECK(text.find("build them with cmake -DCAMBIUM_KINETIC_KERNELS=\"1x1v_p1;") != std::string::npos);
  CHECK(text.ends_with(";1x1v_p1_tensor\""));
  auto q = wave("0.5", 8, 16, plain);
  q.domain = domain({"0", "0"}, {"1", "1"}, {4, 4});
  CHECK(refusal(q) ==
        "1 velocity dimensions with 2 configuration dimensions: there must be at least as many velocity dimensions, "
        "and at most 3");
}

TEST_CASE("collisions between species that cannot be") {
  auto p = wave("0.5", 8, 16, plain);
  p.species.push_back(species("ion", "1", "100", {"-0.6"}, {"0.6"}, {8}, "maxwellian(v, 0, 0.1)"));
  p.collisions = {{{"electron", "protons"}, "0.1"}};
  CHECK(refusal(p) == "collisions: there is no species 'protons'; the species are electron, ion");
  p.collisions = {{{"electron", "ion"}, "-0.1"}};
  CHECK(refusal(p) ==
        "collisions of 'electron' with 'ion': the collision frequency is -0.1 at x = 0.785398; it cannot be negative");
  p.collisions = {{{"electron", "ion"}, "0.1"}, {{"ion", "electron"}, "0.1"}};
  CHECK(refusal(p) == "collisions of 'ion' with 'electron' are given twice; one frequency determines both directions");
  p.species[1] = species("ion", "1", "100", {"-0.6", "-0.6"}, {"0.6", "0.6"}, {8, 8},
                         "maxwellian(vx, 0, 0.1)*maxwellian(vy, 0, 0.1)");
  p.collisions = {{{"electron", "ion"}, "0.1"}};
  CHECK(refusal(p) ==
        "collisions of 'electron' with 'ion': they have 1 and 2 velocity dimensions; give both the same number");
}

TEST_CASE("points that are not in the domain") {
  KineticRun<VlasovPoisson> run(wave("0.5", 8, 16, plain));
  auto problem = [&](std::vector<std::vector<std::string>> at) {
    PointWriter writer({std::move(at), 1}, run.context);
    try {
      writer.attach(*run.physics);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(problem({{"pi/k"}}) == "");
  CHECK(problem({{"1"}, {"13"}}) ==
        "output 'points': 13 in [13] is outside of the domain, 0 to 12.5664 in dimension 1");
  CHECK(problem({{"1", "2"}}) == "output 'points': [1, 2] has 2 coordinates; configuration space has 1 dimensions");
}

TEST_CASE("formulas name what they do not know") {
  auto problem = [](const char* text) {
    try {
      Formula(text, phase_variables(1, 1), {});
    } catch (const deck::ExpressionError& error) {
      return error.problem;
    }
    return std::string();
  };
  CHECK(problem("maxwellian(w)").starts_with("there is no variable 'w'"));
  CHECK(problem("maxwellian(v, 1, 2, 3)") == "maxwellian takes v, its mean and its width, not 4 arguments");
  const double at[] = {0.0, 0.3, 0.3};
  CHECK(Formula("maxwellian(v, 1, 0.5)", phase_variables(1, 1), {})(at) ==
        Approx(std::exp(-0.5 * 0.7 * 0.7 / 0.25) / (0.5 * std::sqrt(2.0 * 3.141592653589793))));
}

TEST_CASE("the time is a variable only of what changes with it") {
  const auto refused = [](auto&& change) {
    auto p = wave("0.5", 8, 16, plain);
    change(p);
    return refusal(p).find("there is no variable 't'") != std::string::npos;
  };
  CHECK(refused([](auto& p) { p.background = "1 + t"; }));
  CHECK(refused([](auto& p) { p.species[0].loss = "0.1*t"; }));
  for (const char* frequency : {"0.1*t", "0.1*n*t"})
    CHECK(refused([&](auto& p) {
      p.species[0].collisions = CollisionParams{};
      p.species[0].collisions->frequency = frequency;
    }));
  CHECK_FALSE(refused([](auto& p) { p.external.E = {"0.1*sin(t)"}; }));
  VlasovMaxwell::Params p;
  static_cast<CommonParams&>(p) = wave("0.5", 8, 16, plain);
  p.fields.E = {"0.1*cos(t)"};
  CHECK_THROWS_AS(KineticRun<VlasovMaxwell>(p), InputError);
}

TEST_CASE("a formula has any number of parameters") {
  std::map<std::string, double> parameters;
  for (int k = 0; k < 100; ++k) parameters["p" + std::to_string(100 + k)] = k;
  const double at[] = {0.5, 2.0, 2.0};
  CHECK(Formula("p199*x + p160*v", phase_variables(1, 1), parameters)(at) == 99 * 0.5 + 60 * 2.0);
}

TEST_CASE("ranks that do not fit") {
  auto p = wave("0.5", 8, 16, plain);
  p.ranks = {3, 1};
  CHECK(refusal(p) ==
        "ranks: [3, 1] has 2 entries and product 3; give 2 entries, one per dimension of phase space, whose product is "
        "the number of MPI ranks, 1");
}

TEST_CASE("parameters use each other, in any order") {
  const auto values =
      values_of({{"a", "2*b"}, {"b", "c + 1"}, {"c", "3"}, {"d", "if(a > b, a - b, pi*0)"}, {"ab", "a*b"}});
  CHECK(values.at("a") == 8.0);
  CHECK(values.at("b") == 4.0);
  CHECK(values.at("d") == 4.0);
  CHECK(values.at("ab") == 32.0);
}

TEST_CASE("parameters that need each other in a circle, or one that is not there, are refused") {
  const auto refused = [](const std::map<std::string, std::string>& parameters) -> std::string {
    try {
      values_of(parameters);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refused({{"a", "2*b"}, {"b", "c + 1"}, {"c", "sin(a)"}, {"d", "1"}}) ==
        "parameters need each other in a circle: a -> b -> c -> a; give one of them a number");
  CHECK(refused({{"d", "b"}, {"b", "c"}, {"c", "b"}}) ==
        "parameters need each other in a circle: b -> c -> b; give one of them a number");
  CHECK(refused({{"k", "k + 1"}}) == "parameters need each other in a circle: k -> k; give one of them a number");
  CHECK(refused({{"alpha", "1"}, {"b", "2*alhpa"}}) ==
        "there is no variable 'alhpa'; did you mean 'alpha'?\n    2*alhpa\n      ^");
}

TEST_CASE("errors behind a maxwellian point at the deck's own text") {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      Formula(text, phase_variables(1, 1), {{"a", 1.0}});
    } catch (const deck::ExpressionError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refused("(1 + a)*maxwellian(v, q)*x") ==
        "there is no variable 'q'; known: x, vx, v, a\n    (1 + a)*maxwellian(v, q)*x\n                          ^");
  CHECK(refused("maxwellian(v)*q") ==
        "there is no variable 'q'; known: x, vx, v, a\n    maxwellian(v)*q\n                  ^");
  CHECK(refused("maxwellian(v) +") ==
        "expected a number, a name or '(', found the end\n    maxwellian(v) +\n                   ^");
  CHECK(
      refused("maxwellian(maxwellian(q), 1, 2)") ==
      "there is no variable 'q'; known: x, vx, v, a\n    maxwellian(maxwellian(q), 1, 2)\n                          ^");
}
