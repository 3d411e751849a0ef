// What cells without modes show: values at the centres of the parts of every cell.
#include <cmath>

#include "kinetic_run.hpp"
#include "plugins/kinetic/writers/sampled.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static VlasovMaxwell::Params plane() {
  VlasovMaxwell::Params p;
  p.domain = domain({"0", "1"}, {"4", "3"}, {4, 3});
  p.species = {species("electron", "-1", "1", {"-6", "-6"}, {"6", "6"}, {12, 10},
                       "(2 + 0.1*x*y) * maxwellian(vx, 0.5, 1) * maxwellian(vy, -0.2, 1.1)")};
  p.fields.E = {"x*y", "0.3*x"};
  p.fields.B = {"0", "0", "1 - y"};
  return p;
}

static double centre(const GridFields::Axis& axis, std::int64_t i) { return 0.5 * (axis.faces[i] + axis.faces[i + 1]); }

TEST_CASE("moments and fields are those of the expansions at the centres") {
  KineticRun<VlasovMaxwell> run(plane());
  run.start();
  const auto shown = run.physics->grid_fields(run.state, run.comm);
  REQUIRE(shown);
  REQUIRE(shown->axes.size() == 2);
  CHECK(shown->axes[0].name == "x");
  REQUIRE(shown->axes[0].cells() == 12);
  REQUIRE(shown->axes[1].cells() == 9);
  CHECK(shown->axes[1].faces.front() == Approx(1.0));
  CHECK(shown->axes[1].faces.back() == Approx(3.0));
  std::vector<std::string> names;
  for (const auto& field : shown->fields) {
    names.push_back(field.name);
    REQUIRE(std::ssize(field.values) == (run.comm.root() ? 12 * 9 * field.components : 0));
    if (!run.comm.root()) continue;
    for (std::int64_t j = 0; j < 9; ++j)
      for (std::int64_t i = 0; i < 12; ++i) {
        const double x = centre(shown->axes[0], i), y = centre(shown->axes[1], j), n = 2 + 0.1 * x * y;
        const double* v = &field.values[(j * 12 + i) * field.components];
        if (field.name == "electron_density") CHECK(v[0] == Approx(n).epsilon(1e-4));
        if (field.name == "electron_flux")
          CHECK((std::abs(v[0] - 0.5 * n) + std::abs(v[1] + 0.2 * n) + std::abs(v[2]) < 1e-3));
        if (field.name == "E") CHECK((std::abs(v[0] - x * y) + std::abs(v[1] - 0.3 * x) + std::abs(v[2]) < 1e-12));
        if (field.name == "B") CHECK((std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2] - 1 + y) < 1e-12));
      }
  }
  CHECK(names == std::vector<std::string>{"electron_density", "electron_flux", "electron_energy", "E", "B"});
}

TEST_CASE("the distribution function over some axes is its integral over the others") {
  KineticRun<VlasovMaxwell> run(plane());
  run.start();
  const auto& s = *run.physics->species()[0];
  const auto f = sampled_distribution(s, axes_of(s.solver().grid(), {"vy", "x"}, "test"), run.comm);
  REQUIRE(f.axes.size() == 2);
  CHECK(f.axes[0].name == "vy");
  CHECK(f.axes[1].name == "x");
  REQUIRE(f.axes[0].cells() == 30);
  for (std::int64_t j = 0; j < f.axes[1].cells(); ++j)
    for (std::int64_t i = 0; i < 30; ++i) {
      const double v = centre(f.axes[0], i), x = centre(f.axes[1], j);
      const double wanted =
          (2 * 2 + 0.1 * x * 4) * std::exp(-0.5 * std::pow((v + 0.2) / 1.1, 2)) / (1.1 * std::sqrt(2 * M_PI));
      CHECK(std::abs(f.fields[0].values[j * 30 + i] - wanted) < 0.04);
    }
  double sum = 0.0;  // parts have the values of their centres: the integral to the order of the midpoint rule
  for (double value : f.fields[0].values) sum += value * (12.0 / 30) * (4.0 / 12);
  CHECK(sum == Approx(run("particles")).epsilon(2e-3));
}

TEST_CASE("axes are named") {
  PhaseGrid grid;
  grid.cdim = grid.vdim = 2;
  CHECK(axes_of(grid, {"vx"}, "w") == std::vector<int>{2});
  for (const auto& wrong : std::vector<std::vector<std::string>>{{}, {"vz"}, {"x", "x"}, {"x", "y", "vx", "vy"}}) try {
      axes_of(grid, wrong, "output 'distribution', species 'electron'");
      FAIL("no error");
    } catch (const InputError& e) {
      CHECK(std::string(e.what()) ==
            "output 'distribution', species 'electron': 'axes' needs one to three different ones of x, y, vx, vy");
    }
  grid.cdim = 1;
  CHECK(axes_of(grid, {}, "w") == std::vector<int>{0, 1, 2});
}
