// Frequencies and rates of linear theory (roots of the dispersion relations with the plasma dispersion function).
#include "kinetic_run.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

TEST_CASE("Landau damping: frequency and rate for three wave numbers") {
  struct Reference {
    const char* k;
    double omega, gamma, from, to;
  };
  const Reference all[] = {{"0.3", 1.15984650, -0.01262037, 5.0, 60.0},
                           {"0.4", 1.28505698, -0.06612796, 5.0, 40.0},
                           {"0.5", 1.41566186, -0.15335947, 5.0, 25.0}};
  for (const auto& r : all) {
    auto p = wave(r.k, 16, 64, "(1 + a*cos(k*x)) * maxwellian(v)");
    p.observables.growth_rate = GrowthParams{r.from, r.to, true};
    KineticRun<VlasovPoisson> run(p);
    run.start();
    run.until(r.to);
    const auto fit = run.physics->growth()->fit();
    INFO("k = " << r.k << ": omega " << fit.omega << ", gamma " << fit.gamma);
    CHECK(fit.found);
    CHECK(fit.omega == Approx(r.omega).epsilon(0.005));
    CHECK(fit.gamma == Approx(r.gamma).epsilon(0.005));
  }
}

TEST_CASE("two-stream instability") {
  auto p = wave("0.5", 32, 32, "(1 + a*cos(k*x)) * 0.5*(maxwellian(v, 1, 0.2) + maxwellian(v, -1, 0.2))", 3.0);
  p.parameters["a"] = "1e-6";
  p.observables.growth_rate = GrowthParams{15.0, 30.0, false};
  KineticRun<VlasovPoisson> run(p);
  run.start();
  run.until(30.0);
  const auto fit = run.physics->growth()->fit();
  INFO("gamma " << fit.gamma);
  CHECK(fit.gamma == Approx(0.31994351).epsilon(0.003));
}

TEST_CASE("bump on the tail") {
  auto p = wave("0.3", 24, 64, "(1 + a*cos(k*x)) * (0.9*maxwellian(v) + 0.1*maxwellian(v, 4.5, 0.5))", 8.0);
  p.parameters["a"] = "1e-5";
  p.observables.growth_rate = GrowthParams{20.0, 36.0, false};  // a travelling wave: its energy does not oscillate
  KineticRun<VlasovPoisson> run(p);
  run.start();
  run.until(36.0);
  const auto fit = run.physics->growth()->fit();
  INFO("gamma " << fit.gamma);
  CHECK(fit.gamma == Approx(0.19809798).epsilon(0.02));
}

/// Two cold beams along y with drift +-u; the wave vector lies in x (Weibel) or at 45 degrees (oblique).
static VlasovMaxwell::Params beams(std::vector<int> cells, std::vector<int> velocity, const std::string& phase,
                                   const std::string& length) {
  VlasovMaxwell::Params p;
  p.parameters = {{"u", "0.3"}, {"vt", "0.1"}, {"a", "1e-4"}};
  p.domain = domain(std::vector<std::string>(cells.size(), "0"), std::vector<std::string>(cells.size(), length), cells);
  p.species = {species("electron", "-1", "1", {"-0.9", "-0.9"}, {"0.9", "0.9"}, velocity,
                       "0.5*maxwellian(vx, 0, vt) * (maxwellian(vy, u, vt) + maxwellian(vy, -u, vt))")};
  p.fields.B = {"0", "0", "a*sin(" + phase + ")"};
  return p;
}

TEST_CASE("Weibel instability in 1x2v") {
  for (const char* along :
       {"0", "0.5"}) {  // a uniform field, which these particles do not feel, is no part of the wave
    auto p = beams({16}, {12, 12}, "0.4*x", "2*pi/0.4");
    p.fields.B[0] = along;
    p.observables.growth_rate = GrowthParams{25.0, 45.0, false};
    KineticRun<VlasovMaxwell> run(p);
    run.start();
    run.until(45.0);
    const auto fit = run.physics->growth()->fit();
    INFO("Bx " << along << ": gamma " << fit.gamma);
    CHECK(fit.gamma == Approx(0.09848537).epsilon(0.02));
  }
}
