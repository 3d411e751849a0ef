// The potential between walls in two dimensions, against potentials whose charge is known.
#include <cmath>

#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/poisson.hpp"
#include "plugins/kinetic/physics/external_field.hpp"
#include "tests/catch.hpp"
#include "tests/unit/scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static const std::vector<std::vector<int>> serendipity{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}};
static const std::vector<std::vector<int>> linear{{0, 0}, {1, 0}, {0, 1}, {1, 1}};

static ConfGrid plane(int nx, int ny, bool wall_x, bool wall_y, const std::vector<std::vector<int>>& exponents) {
  ConfGrid g;
  g.dimensions = 2;
  g.cells = {nx, ny, 1};
  g.lower = {0.0, 0.0, 0.0}, g.width = {1.5 / nx, 2.0 / ny, 1.0};
  g.exponents = exponents;
  g.low_wall = g.high_wall = {wall_x ? Wall::absorb : Wall::periodic, wall_y ? Wall::reflect : Wall::periodic, Wall::periodic};
  return g;
}

/// Root of the mean square difference of an expansion from a formula.
static double error(const ConfGrid& g, const double* found, const std::string& formula) {
  const auto wanted = project_conf(g, Formula(formula, conf_variables(2), {}), 0.0);
  std::vector<double> d(wanted.size());
  for (std::size_t k = 0; k < d.size(); ++k) d[k] = found[k] - wanted[k];
  return std::sqrt(g.product_integral(d.data(), d.data()) / 3.0);
}

struct Case {
  bool wall_x, wall_y;
  const char *phi, *charge, *ex, *ey;
  WallPotential walls;
};

static const Case cases[] = {
    {true, false, "sin(2*pi*x/3)*(1 + cos(pi*y)) + 0.2 + x",
     "(2*pi/3)^2*sin(2*pi*x/3)*(1 + cos(pi*y)) + pi^2*sin(2*pi*x/3)*cos(pi*y)",
     "-(2*pi/3)*cos(2*pi*x/3)*(1 + cos(pi*y)) - 1", "pi*sin(2*pi*x/3)*sin(pi*y)", {{0.2, 0, 0}, {1.7, 0, 0}}},
    {false, true, "sin(4*pi*x/3)*sin(pi*y/2) - 0.5*y", "((4*pi/3)^2 + (pi/2)^2)*sin(4*pi*x/3)*sin(pi*y/2)",
     "-(4*pi/3)*cos(4*pi*x/3)*sin(pi*y/2)", "-(pi/2)*sin(4*pi*x/3)*cos(pi*y/2) + 0.5", {{0, 0, 0}, {0, -1.0, 0}}},
    {true, true, "sin(2*pi*x/3)*sin(pi*y)", "((2*pi/3)^2 + pi^2)*sin(2*pi*x/3)*sin(pi*y)",
     "-(2*pi/3)*cos(2*pi*x/3)*sin(pi*y)", "-pi*sin(2*pi*x/3)*cos(pi*y)", {}},
};

TEST_CASE("potential and field between walls converge with the order of the elements") {
  for (const auto& exponents : {linear, serendipity})
    for (const auto& c : cases) {
      const int p = exponents.size() == 4 ? 1 : 2;
      double last[2] = {};
      for (int n : {8, 16}) {
        const ConfGrid g = plane(n, n + n / 4, c.wall_x, c.wall_y, exponents);
        Poisson poisson(g, 2.0, c.walls);
        auto charge = project_conf(g, Formula(c.charge, conf_variables(2), {}), 0.0);
        for (auto& q : charge) q *= 2.0;
        poisson.solve(charge, 0);
        const double phi = error(g, poisson.potential().data(), c.phi);
        const double field = std::hypot(error(g, poisson.electric(0, 0), c.ex), error(g, poisson.electric(0, 1), c.ey));
        INFO("order " << p << ", walls " << c.wall_x << c.wall_y << ", " << n << " cells: " << phi << ", " << field);
        if (n == 16) {
          CHECK(std::log2(last[0] / phi) > p + 0.7);
          CHECK(std::log2(last[1] / field) > p - 0.25);
          CHECK(phi < (p == 1 ? 2e-2 : 1e-3));
        }
        last[0] = phi, last[1] = field;
      }
    }
}

TEST_CASE("between walls without charge the potential is that of the walls") {
  const ConfGrid g = plane(5, 3, true, false, serendipity);
  Poisson poisson(g, 1.0, {{-1.0, 0, 0}, {2.0, 0, 0}});
  poisson.solve(std::vector<double>(g.size(), 0.0), 1);
  CHECK(error(g, poisson.potential().data(), "-1 + 2*x") < 1e-13);
  CHECK(error(g, poisson.electric(1, 0), "-2 + 0*x") < 1e-12);
  CHECK(error(g, poisson.electric(1, 1), "0*x") < 1e-12);
}

TEST_CASE("grids whose kernels a build may be given, and on which the potential is not solved for, are refused") {
  ConfGrid space = plane(4, 4, false, false, linear);
  space.dimensions = 3;
  CHECK(message([&] { Poisson(space, 1.0); }) ==
        "vlasov_poisson solves for the potential in one or two dimensions; in three use vlasov_maxwell");
  std::vector<std::vector<int>> tensor = serendipity;
  tensor.push_back({2, 2});
  CHECK(message([&] { Poisson(plane(4, 4, false, false, tensor), 1.0); }) ==
        "vlasov_poisson in two dimensions needs the serendipity family");
}
