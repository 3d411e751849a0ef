#include "kinetic_run.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

TEST_CASE("oblique instability in 2x2v") {
  VlasovMaxwell::Params p;
  p.parameters = {{"u", "0.3"}, {"vt", "0.1"}, {"k", "sqrt(0.5)"}, {"a", "1e-4"}};
  p.domain = domain({"0", "0"}, {"2*pi/k", "2*pi/k"}, {8, 8});
  p.species = {species("electron", "-1", "1", {"-0.9", "-0.9"}, {"0.9", "0.9"}, {16, 16},
                       "0.5*maxwellian(vx, 0, vt) * (maxwellian(vy, u, vt) + maxwellian(vy, -u, vt))")};
  p.fields.B = {"0", "0", "a*cos(k*x + k*y)"};
  p.observables.growth_rate = GrowthParams{20.0, 32.0, false};
  KineticRun<VlasovMaxwell> run(p);
  run.start();
  run.until(32.0);
  const auto fit = run.physics->growth()->fit();
  INFO("gamma " << fit.gamma);
  CHECK(fit.gamma == Approx(0.18279349).epsilon(0.02));
}
