// The potential between walls, against potentials whose charge is known.
#include <cmath>

#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/poisson.hpp"
#include "plugins/kinetic/physics/external_field.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static const double pi = 3.141592653589793;
static const std::vector<std::vector<int>> serendipity{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}};
static const std::vector<std::vector<int>> linear{{0, 0}, {1, 0}, {0, 1}, {1, 1}};

static ConfGrid plane(int nx, int ny, bool wall_x, bool wall_y, const std::vector<std::vector<int>>& exponents) {
  ConfGrid g;
  g.dimensions = 2;
  g.cells = {nx, ny, 1};
  g.lower = {0.0, 0.0, 0.0};
  g.width = {1.5 / nx, 2.0 / ny, 1.0};
  g.exponents = exponents;
  g.low_wall =
      g.high_wall = {wall_x ? Wall::absorb : Wall::periodic, wall_y ? Wall::reflect : Wall::periodic, Wall::periodic};
  return g;
}

static ConfGrid line(int n, int order) {
  ConfGrid g;
  g.cells = {n, 1, 1};
  g.width = {1.5 / n, 1.0, 1.0};
  for (int k = 0; k <= order; ++k) g.exponents.push_back({k});
  g.low_wall[0] = g.high_wall[0] = Wall::absorb;
  return g;
}

/// Root of the mean square difference of an expansion from a formula.
static double error(const ConfGrid& g, const double* found, const std::string& formula) {
  const auto wanted = project_conf(g, Formula(formula, conf_variables(g.dimensions), {}), 0.0);
  std::vector<double> d(wanted.size());
  for (std::size_t k = 0; k < d.size(); ++k) d[k] = found[k] - wanted[k];
  return std::sqrt(g.product_integral(d.data(), d.data()) / (g.dimensions == 1 ? 1.5 : 3.0));
}

static PotentialWall at(double potential) { return {PotentialWall::Kind::fixed, potential}; }
static const PotentialWall mirror{PotentialWall::Kind::symmetry, 0.0}, floats{PotentialWall::Kind::floating, 0.0};

struct Case {
  bool wall_x, wall_y;
  const char *phi, *charge, *ex, *ey;
  PotentialWalls walls;
  std::vector<double> collected = {}, found = {};  ///< charges of floating walls, over epsilon0, and their potentials
};

static const Case cases[] = {
    {true,
     false,
     "sin(2*pi*x/3)*(1 + cos(pi*y)) + 0.2 + x",
     "(2*pi/3)^2*sin(2*pi*x/3)*(1 + cos(pi*y)) + pi^2*sin(2*pi*x/3)*cos(pi*y)",
     "-(2*pi/3)*cos(2*pi*x/3)*(1 + cos(pi*y)) - 1",
     "pi*sin(2*pi*x/3)*sin(pi*y)",
     {{at(0.2)}, {at(1.7)}}},
    {false,
     true,
     "sin(4*pi*x/3)*sin(pi*y/2) - 0.5*y",
     "((4*pi/3)^2 + (pi/2)^2)*sin(4*pi*x/3)*sin(pi*y/2)",
     "-(4*pi/3)*cos(4*pi*x/3)*sin(pi*y/2)",
     "-(pi/2)*sin(4*pi*x/3)*cos(pi*y/2) + 0.5",
     {{at(0), at(0)}, {at(0), at(-1)}}},
    {true,
     true,
     "sin(2*pi*x/3)*sin(pi*y)",
     "((2*pi/3)^2 + pi^2)*sin(2*pi*x/3)*sin(pi*y)",
     "-(2*pi/3)*cos(2*pi*x/3)*sin(pi*y)",
     "-pi*sin(2*pi*x/3)*cos(pi*y)",
     {}},
    // A mirror and a potential, along x and along y, with mirrors beside them, and nothing but mirrors.
    {true,
     false,
     "cos(pi*x/3)*(1 + cos(pi*y)) + 0.3",
     "(pi/3)^2*cos(pi*x/3)*(1 + cos(pi*y)) + pi^2*cos(pi*x/3)*cos(pi*y)",
     "(pi/3)*sin(pi*x/3)*(1 + cos(pi*y))",
     "pi*cos(pi*x/3)*sin(pi*y)",
     {{mirror}, {at(0.3)}}},
    {false,
     true,
     "sin(4*pi*x/3)*sin(pi*y/4) + 0.5",
     "((4*pi/3)^2 + (pi/4)^2)*sin(4*pi*x/3)*sin(pi*y/4)",
     "-(4*pi/3)*cos(4*pi*x/3)*sin(pi*y/4)",
     "-(pi/4)*sin(4*pi*x/3)*cos(pi*y/4)",
     {{at(0), at(0.5)}, {at(0), mirror}}},
    {true,
     true,
     "cos(pi*x/3)*cos(pi*y)",
     "((pi/3)^2 + pi^2)*cos(pi*x/3)*cos(pi*y)",
     "(pi/3)*sin(pi*x/3)*cos(pi*y)",
     "pi*cos(pi*x/3)*sin(pi*y)",
     {{mirror, mirror}, {at(0), mirror}}},
    {true,
     true,
     "cos(4*pi*x/3)*cos(pi*y)",
     "((4*pi/3)^2 + pi^2)*cos(4*pi*x/3)*cos(pi*y)",
     "(4*pi/3)*sin(4*pi*x/3)*cos(pi*y)",
     "pi*cos(4*pi*x/3)*sin(pi*y)",
     {{mirror, mirror}, {mirror, mirror}}},
    {true,
     false,
     "cos(4*pi*x/3)*cos(pi*y)",
     "((4*pi/3)^2 + pi^2)*cos(4*pi*x/3)*cos(pi*y)",
     "(4*pi/3)*sin(4*pi*x/3)*cos(pi*y)",
     "pi*cos(4*pi*x/3)*sin(pi*y)",
     {{mirror}, {mirror}}},
    // A floating wall opposite to a potential, to a mirror, between mirrors, between potentials, and two that float.
    {true,
     false,
     "sin(2*pi*x/3)*(1 + cos(pi*y)) + 0.2 + x",
     "(2*pi/3)^2*sin(2*pi*x/3)*(1 + cos(pi*y)) + pi^2*sin(2*pi*x/3)*cos(pi*y)",
     "-(2*pi/3)*cos(2*pi*x/3)*(1 + cos(pi*y)) - 1",
     "pi*sin(2*pi*x/3)*sin(pi*y)",
     {{floats}, {at(1.7)}},
     {-2 * (2 * pi / 3 + 1)},
     {0.2}},
    {true,
     false,
     "sin(pi*x/3)*(1 + cos(pi*y))",
     "(pi/3)^2*sin(pi*x/3)*(1 + cos(pi*y)) + pi^2*sin(pi*x/3)*cos(pi*y)",
     "-(pi/3)*cos(pi*x/3)*(1 + cos(pi*y))",
     "pi*sin(pi*x/3)*sin(pi*y)",
     {{floats}, {mirror}},
     {-2 * pi / 3},
     {0.0}},
    {true,
     true,
     "sin(2*pi*x/3)*(1 + cos(pi*y)) + 0.2 + x",
     "(2*pi/3)^2*sin(2*pi*x/3)*(1 + cos(pi*y)) + pi^2*sin(2*pi*x/3)*cos(pi*y)",
     "-(2*pi/3)*cos(2*pi*x/3)*(1 + cos(pi*y)) - 1",
     "pi*sin(2*pi*x/3)*sin(pi*y)",
     {{at(0.2), mirror}, {floats, mirror}},
     {2 * (1 - 2 * pi / 3)},
     {1.7}},
    {true,
     true,
     "sin(2*pi*x/3)*sin(pi*y/4)",
     "((2*pi/3)^2 + (pi/4)^2)*sin(2*pi*x/3)*sin(pi*y/4)",
     "-(2*pi/3)*cos(2*pi*x/3)*sin(pi*y/4)",
     "-(pi/4)*sin(2*pi*x/3)*cos(pi*y/4)",
     {{at(0), floats}, {at(0), mirror}},
     {-0.75},
     {0.0}},
    {true,
     false,
     "sin(2*pi*x/3)*(1 + cos(pi*y)) + x",
     "(2*pi/3)^2*sin(2*pi*x/3)*(1 + cos(pi*y)) + pi^2*sin(2*pi*x/3)*cos(pi*y)",
     "-(2*pi/3)*cos(2*pi*x/3)*(1 + cos(pi*y)) - 1",
     "pi*sin(2*pi*x/3)*sin(pi*y)",
     {{floats}, {floats}},
     {-2 * (2 * pi / 3 + 1), 2 * (1 - 2 * pi / 3)},
     {0.0, 1.5}},
    // The same in one dimension.
    {true, false, "cos(pi*x/3) + 0.3", "(pi/3)^2*cos(pi*x/3)", "(pi/3)*sin(pi*x/3)", nullptr, {{mirror}, {at(0.3)}}},
    {true, false, "sin(pi*x/3) - 0.2", "(pi/3)^2*sin(pi*x/3)", "-(pi/3)*cos(pi*x/3)", nullptr, {{at(-0.2)}, {mirror}}},
    {true, false, "cos(4*pi*x/3)", "(4*pi/3)^2*cos(4*pi*x/3)", "(4*pi/3)*sin(4*pi*x/3)", nullptr, {{mirror}, {mirror}}},
    {true, false, "exp(x)", "-exp(x)", "-exp(x)", nullptr, {{floats}, {at(std::exp(1.5))}}, {-1.0}, {1.0}},
    {true, false, "exp(x)", "-exp(x)", "-exp(x)", nullptr, {{at(1.0)}, {floats}}, {std::exp(1.5)}, {std::exp(1.5)}},
    {true,
     false,
     "sin(pi*x/3)",
     "(pi/3)^2*sin(pi*x/3)",
     "-(pi/3)*cos(pi*x/3)",
     nullptr,
     {{floats}, {mirror}},
     {-pi / 3},
     {0.0}},
    {true,
     false,
     "exp(x) - 1",
     "-exp(x)",
     "-exp(x)",
     nullptr,
     {{floats}, {floats}},
     {-1.0, std::exp(1.5)},
     {0.0, std::exp(1.5) - 1}},
};

TEST_CASE("potential and field between walls converge with the order of the elements") {
  for (int p : {1, 2})
    for (const auto& c : cases) {
      double last[2] = {};
      for (int n : {8, 16}) {
        const ConfGrid g = c.ey ? plane(n, n + n / 4, c.wall_x, c.wall_y, p == 1 ? linear : serendipity) : line(n, p);
        Poisson poisson(g, 2.0, c.walls);
        auto charge = project_conf(g, Formula(c.charge, conf_variables(g.dimensions), {}), 0.0);
        for (auto& q : charge) q *= 2.0;
        REQUIRE(poisson.collecting().size() == c.collected.size());
        for (std::size_t w = 0; w < c.collected.size(); ++w) poisson.wall_charge(0)[w] = 2.0 * c.collected[w];
        poisson.solve(charge, 0);
        const double phi = error(g, poisson.potential().data(), c.phi);
        const double field =
            std::hypot(error(g, poisson.electric(0, 0), c.ex), c.ey ? error(g, poisson.electric(0, 1), c.ey) : 0.0);
        INFO("order " << p << ", " << c.phi << ", walls " << c.wall_x << c.wall_y << ", " << n << " cells: " << phi
                      << ", " << field);
        if (n == 16) {
          CHECK(std::log2(last[0] / phi) > p + 0.7);
          CHECK(std::log2(last[1] / field) > p - 0.25);
          CHECK(phi < (p == 1 ? 2e-2 : 1e-3));
          for (std::size_t w = 0; w < c.found.size(); ++w)
            CHECK(poisson.wall_potential()[w] == Approx(c.found[w]).margin(p == 1 ? 2e-2 : 2e-4));
        }
        last[0] = phi;
        last[1] = field;
      }
    }
}

TEST_CASE("between walls without charge the potential is that of the walls") {
  const ConfGrid g = plane(5, 3, true, false, serendipity);
  Poisson poisson(g, 1.0, {{at(-1.0)}, {at(2.0)}});
  poisson.solve(std::vector<double>(g.size(), 0.0), 1);
  CHECK(error(g, poisson.potential().data(), "-1 + 2*x") < 1e-13);
  CHECK(error(g, poisson.electric(1, 0), "-2 + 0*x") < 1e-12);
  CHECK(error(g, poisson.electric(1, 1), "0*x") < 1e-12);
}

TEST_CASE(
    "walls of one potential that meet have it in their corners, as does one without charge that floats beside them") {
  const ConfGrid g = plane(5, 3, true, true, serendipity);
  for (const auto& walls :
       {PotentialWalls{{at(0.7), at(0.7)}, {at(0.7), at(0.7)}}, PotentialWalls{{at(0.7), floats}, {at(0.7), at(0.7)}},
        PotentialWalls{{floats, at(0.7)}, {floats, mirror}}}) {
    Poisson poisson(g, 1.0, walls);
    poisson.solve(std::vector<double>(g.size(), 0.0), 0);
    CHECK(error(g, poisson.potential().data(), "0.7 + 0*x") < 1e-12);
    for (double v : poisson.wall_potential()) CHECK(v == Approx(0.7).epsilon(1e-12));
  }
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
