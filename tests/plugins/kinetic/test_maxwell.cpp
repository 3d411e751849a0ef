// Maxwell's equations at walls: waves leave through open ones, and every wall and flux against a plain evaluation.
#include <cmath>
#include <random>

#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/fields/maxwell.hpp"
#include "plugins/kinetic/physics/external_field.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static ConfGrid line(int cells, double length, Wall low, Wall high, int order = 2) {
  ConfGrid g;
  g.cells = {cells, 1, 1};
  g.width = {length / cells, 1.0, 1.0};
  for (int k = 0; k <= order; ++k) g.exponents.push_back({k});
  g.low_wall[0] = low;
  g.high_wall[0] = high;
  return g;
}

/// SSP-RK3 to a time.
static void advance(Maxwell& fields, double time) {
  const int steps = static_cast<int>(std::ceil(time * fields.frequency() / 0.5));
  const double dt = time / steps;
  Sources none;
  none.charge.assign(fields.values(Maxwell::phi).size(), 0.0);
  for (int k = 0; k < steps; ++k) {
    fields.stage({0, 0, 1, 0.0, 1.0, dt}, none, {});
    fields.stage({1, 0, 2, 0.75, 0.25, 0.25 * dt}, none, {});
    fields.stage({2, 0, 0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 * dt}, none, {});
  }
}

static double energy(const Maxwell& fields) { return fields.electric_energy(0) + fields.magnetic_energy(0); }

TEST_CASE("the energy of a wave is that of the magnetic field without its mean") {
  const ConfGrid g = line(16, 8.0, Wall::periodic, Wall::periodic);
  Maxwell::Options options;
  options.light_speed = 2.0;
  options.epsilon0 = 0.5;
  Maxwell fields(g, options);
  fields.values(Maxwell::Bx) = project_conf(g, Formula("3 + 0*x", conf_variables(1), {}), 0.0);
  fields.values(Maxwell::Bz) = project_conf(g, Formula("7 + 1e-7*sin(pi*x/4)", conf_variables(1), {}), 0.0);
  CHECK(fields.magnetic_energy(0) == Approx(0.5 * 0.5 * 4.0 * 8.0 * 58.0));
  CHECK(fields.magnetic_wave_energy(0) == Approx(0.5 * 0.5 * 4.0 * 8.0 * 0.5e-14).epsilon(1e-4));
}

TEST_CASE("a pulse leaves through open walls with every flux") {
  for (bool upwind : {false, true})
    for (Wall wall : {Wall::absorb, Wall::copy})
      for (int order : {1, 2})
        for (double sign : {1.0, -1.0}) {  // to the right, to the left
          const ConfGrid g = line(40, 20.0, wall, wall, order);
          Maxwell::Options options;
          options.light_speed = 2.0;
          options.upwind = upwind;
          Maxwell fields(g, options);
          fields.values(Maxwell::Ey) = project_conf(g, Formula("exp(-(x - 10)^2/2)", conf_variables(1), {}), 0.0);
          fields.values(Maxwell::Bz) = fields.values(Maxwell::Ey);
          for (auto& b : fields.values(Maxwell::Bz)) b *= sign / options.light_speed;
          fields.initialise({});
          const double before = energy(fields);
          advance(fields, 10.0);  // the pulse's middle reaches the wall at 5
          INFO("upwind " << upwind << ", wall " << static_cast<int>(wall) << ", order " << order << ", towards " << sign
                         << ": " << energy(fields) / before << " of the energy stayed");
          CHECK(energy(fields) / before < 1e-4);
        }
}

TEST_CASE("fields at rest stay at rest between open walls") {
  for (bool upwind : {false, true}) {
    Maxwell::Options options;
    options.upwind = upwind;
    options.clean_electric = options.clean_magnetic = 1.0;
    Maxwell fields(line(6, 3.0, Wall::copy, Wall::absorb), options);
    const double values[] = {0.3, -0.4, 0.5, 1.0, 2.0, -3.0};
    for (int c = 0; c < 6; ++c)
      for (int cell = 0; cell < 6; ++cell) fields.values(static_cast<Maxwell::Component>(c))[3 * cell] = values[c];
    fields.initialise({});
    const double before = energy(fields);
    advance(fields, 20.0);
    CHECK(energy(fields) / before - 1.0 == Approx(0.0).margin(1e-12));
  }
}

namespace {

/// dU/dt = sum_d A_d dU/dx_d evaluated point by point: nothing shared with the solver but the order of components.
class Plain {
 public:
  Plain(const ConfGrid& grid, const Maxwell::Options& options) : g_(grid), o_(options) {}
  using Field = std::vector<double>[Maxwell::components];

  /// Modes of a cell's time derivative.
  std::vector<std::array<double, 8>> rate(const Field& u, const Field& outside, int cell) const {
    std::vector<std::array<double, 8>> out(g_.modes(), std::array<double, 8>{});
    std::vector<double> nodes, weights;
    gauss(4, nodes, weights);
    for (int d = 0; d < g_.dimensions; ++d)
      for (int q = 0; q < power(g_.dimensions); ++q) {
        auto z = point(q, nodes);
        const auto flux = times(d, state(u, cell, z));
        add(out, flux, -weight(q, g_.dimensions, weights) * 2.0 / g_.width[d], z, d);
      }
    for (int d = 0; d < g_.dimensions; ++d)
      for (int side : {-1, 1})
        for (int q = 0; q < power(g_.dimensions - 1); ++q) {
          std::array<double, 3> z{};
          for (int e = 0, rest = q; e < g_.dimensions; ++e)
            if (e != d) z[e] = nodes[rest % 4], rest /= 4;
          z[d] = side;
          add(out, face(u, outside, cell, d, side, z), side * weight(q, g_.dimensions - 1, weights) * 2.0 / g_.width[d],
              z, -1);
        }
    return out;
  }

 private:
  using State = std::array<double, 8>;
  using Matrix = std::array<State, 8>;
  static int power(int n) { return n == 0 ? 1 : 4 * power(n - 1); }
  static double weight(int q, int n, const std::vector<double>& w) {
    return n == 0 ? 1.0 : w[q % 4] * weight(q / 4, n - 1, w);
  }
  std::array<double, 3> point(int q, const std::vector<double>& nodes) const {
    std::array<double, 3> z{};
    for (int e = 0; e < g_.dimensions; ++e) {
      z[e] = nodes[q % 4];
      q /= 4;
    }
    return z;
  }
  State state(const Field& u, int cell, const std::array<double, 3>& z) const {
    State out{};
    for (int c = 0; c < 8; ++c)
      for (int k = 0; k < g_.modes(); ++k) {
        double chi = 1.0;
        for (int d = 0; d < g_.dimensions; ++d) chi *= legendre(g_.exponents[k][d], z[d]);
        out[c] += chi * u[c][cell * g_.modes() + k];
      }
    return out;
  }
  /// Adds factor * value * chi_k(z), or, with a direction, d chi_k / dz_direction in its place.
  void add(std::vector<State>& out, const State& value, double factor, const std::array<double, 3>& z,
           int direction) const {
    for (int k = 0; k < g_.modes(); ++k) {
      double chi = factor;
      for (int d = 0; d < g_.dimensions; ++d) {
        const int n = g_.exponents[k][d];
        const double slope = std::sqrt(0.5 * (2 * n + 1)) * (n == 0 ? 0.0 : n == 1 ? 1.0 : 3.0 * z[d]);
        chi *= d == direction ? slope : legendre(n, z[d]);
      }
      for (int c = 0; c < 8; ++c) out[k][c] += chi * value[c];
    }
  }
  /// (curl F)_i = sum_dj epsilon_idj d_d F_j.
  static double epsilon(int i, int j, int k) { return (i - j) * (j - k) * (k - i) / 2.0; }
  Matrix matrix(int d) const {
    Matrix a{};
    const double c2 = o_.light_speed * o_.light_speed;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) a[i][3 + j] = c2 * epsilon(i, d, j), a[3 + i][j] = -epsilon(i, d, j);
    a[d][6] = -o_.clean_electric * c2;
    a[6][d] = -o_.clean_electric;
    a[3 + d][7] = -o_.clean_magnetic;
    a[7][3 + d] = -o_.clean_magnetic * c2;
    return a;
  }
  State times(int d, const State& u) const {
    const Matrix a = matrix(d);
    State out{};
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) out[i] += a[i][j] * u[j];
    return out;
  }
  /// A U at a face: mean of both sides, and where the flux is upwind half of |A| = sqrt(A^2) times the jump. A^2 is
  /// diagonal.
  State face(const Field& u, const Field& outside, int cell, int d, int side, std::array<double, 3> z) const {
    const State own = state(u, cell, z);
    const Wall wall = side < 0 ? g_.low_wall[d] : g_.high_wall[d];
    auto at = g_.place(cell);
    at[d] += side;
    const bool beyond = (at[d] < 0 || at[d] >= g_.cells[d]) && wall != Wall::periodic;
    bool upwind = o_.upwind;
    State other = own;
    if (!beyond) {
      at[d] = (at[d] + g_.cells[d]) % g_.cells[d];
      z[d] = -side;
      other = state(u, g_.index(at), z);
    } else if (wall == Wall::reflect) {
      for (int i = 0; i < 3; ++i) (i == d ? other[3 + i] : other[i]) *= -1.0;
      other[6] *= -1.0;
    } else {
      other = state(outside, cell, z);
      upwind = true;
    }
    State mean, out = {};
    for (int i = 0; i < 8; ++i) mean[i] = 0.5 * (own[i] + other[i]);
    out = times(d, mean);
    const Matrix a = matrix(d);
    for (int i = 0; upwind && i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        double square = 0.0;
        for (int k = 0; k < 8; ++k) square += a[i][k] * a[k][j];
        REQUIRE((i == j || square == 0.0));
        if (i == j) out[i] += 0.5 * std::sqrt(square) * side * (other[i] - own[i]);
      }
    return out;
  }

  ConfGrid g_;
  Maxwell::Options o_;
};

}  // namespace

TEST_CASE("every wall and flux against a plain evaluation") {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  auto pick = [&](int n) { return static_cast<int>(engine() % n); };
  for (int trial = 0; trial < 60; ++trial) {
    ConfGrid g = line(3, 1.2, Wall::periodic, Wall::periodic, 1 + pick(2));
    if (pick(2)) {
      g.dimensions = 2;
      g.cells[1] = 2;
      g.width[1] = 0.7;
      g.exponents = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
      if (pick(2)) g.exponents = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}};
    }
    for (int d = 0; d < g.dimensions; ++d)
      if (pick(4)) g.low_wall[d] = static_cast<Wall>(1 + pick(3)), g.high_wall[d] = static_cast<Wall>(1 + pick(3));
    Maxwell::Options options;
    options.light_speed = 1.7;
    options.upwind = pick(2);
    options.clean_electric = pick(2) * 1.1;
    options.clean_magnetic = pick(2) * 0.8;
    Maxwell fields(g, options);
    std::vector<double> now[Maxwell::components], outside[Maxwell::components], found[Maxwell::components];
    auto random = [&](std::vector<double>* to) {
      for (int c = 0; c < Maxwell::components; ++c) {
        to[c].resize(g.size());
        for (auto& x : to[c]) x = u(engine);
        fields.values(static_cast<Maxwell::Component>(c)) = to[c];
      }
    };
    random(outside);
    fields.initialise({});
    random(now);
    fields.derivative(0, found);
    const Plain plain(g, options);
    double worst = 0.0;
    for (int cell = 0; cell < g.count(); ++cell) {
      const auto wanted = plain.rate(now, outside, cell);
      for (int k = 0; k < g.modes(); ++k)
        for (int c = 0; c < Maxwell::components; ++c)
          worst = std::max(worst, std::abs(found[c][cell * g.modes() + k] - wanted[k][c]));
    }
    INFO("trial " << trial << ", upwind " << options.upwind << ", walls " << static_cast<int>(g.low_wall[0])
                  << static_cast<int>(g.high_wall[0]) << static_cast<int>(g.low_wall[1])
                  << static_cast<int>(g.high_wall[1]) << ", modes " << g.modes());
    CHECK(worst < 1e-10);
  }
}
