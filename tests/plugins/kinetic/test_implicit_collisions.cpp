// Dougherty collisions that are implicit in velocity: what they conserve, their order, rates, and the explicit form.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compare_runs.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/physics/boltzmann_bgk.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static CollisionParams dougherty(const std::string& frequency, CollisionScheme scheme) {
  return {CollisionParams::Operator::dougherty, frequency, scheme};
}

/// A gas far from any Maxwellian, of `vdim` velocities; `reach` is half of velocity space's width.
static BoltzmannBgk::Params gas(int vdim, const std::string& reach, CollisionScheme scheme, int order = 2) {
  BoltzmannBgk::Params p;
  p.basis.order = order;
  p.domain = domain({"0"}, {"1"}, {5});
  const char* names[] = {"vx", "vy", "vz"};
  std::string one = "(1 + 0.4*sin(2*pi*x))*maxwellian(" + std::string(vdim == 1 ? "v" : "vx") + ", 1.5, 0.7)",
              two = "0.6*maxwellian(" + std::string(vdim == 1 ? "v" : "vx") + ", -1, 1)";
  for (int d = 1; d < vdim; ++d) {
    one += fmt::format("*maxwellian({})", names[d]);
    two += fmt::format("*maxwellian({}, 0.5, 0.8)", names[d]);
  }
  p.species = {species("gas", "0", "1", std::vector<std::string>(vdim, "-" + reach),
                       std::vector<std::string>(vdim, reach), std::vector<int>(vdim, vdim == 3 ? 8 : 12),
                       one + " + " + two)};
  p.species[0].collisions = dougherty("1", scheme);
  return p;
}

TEST_CASE("an implicit step of any length conserves density, momentum and energy") {
  for (int vdim : {1, 2, 3})
    for (const char* reach : {"6", "4"})  // the ends of the second velocity space count
      for (double dt : {0.01, 0.3, 40.0}) {
        KineticRun<BoltzmannBgk> run(gas(vdim, reach, CollisionScheme::implicit, vdim == 3 ? 1 : 2), MPI_COMM_SELF);
        run.start();
        auto& s = *run.physics->species().front();
        const auto density = s.moment(0);
        const double particles = Totals(s).particles(), energy = Totals(s).kinetic_energy(),
                     momentum = Totals(s).momentum(0), entropy = Totals(s).entropy();
        s.collide(dt);
        s.compute_moments();
        INFO(vdim << " velocities to " << reach << ", dt " << dt);
        CHECK(Totals(s).particles() == Approx(particles).epsilon(1e-14));
        CHECK(Totals(s).kinetic_energy() == Approx(energy).epsilon(1e-13));
        CHECK(Totals(s).momentum(0) == Approx(momentum).margin(1e-13));
        CHECK(furthest(s.moment(0), density) < 1e-13);
        CHECK(Totals(s).entropy() > entropy);
      }
}

TEST_CASE("entropy rises in every implicit step and its end is a Maxwellian") {
  KineticRun<BoltzmannBgk> run(gas(2, "6", CollisionScheme::implicit), MPI_COMM_SELF);
  run.start();
  auto& s = *run.physics->species().front();
  double entropy = Totals(s).entropy();
  for (int k = 0; k < 30; ++k) {
    s.collide(0.3);
    const double now = Totals(s).entropy();
    INFO("step " << k);
    CHECK(now > entropy - 1e-9 * std::abs(entropy));
    entropy = now;
  }
  const double square = Totals(s).square_integral();
  s.collide(3.0);
  CHECK(Totals(s).square_integral() == Approx(square).epsilon(1e-5));
}

/// f of a run after `steps` collisions during a time in all.
static std::vector<double> collided(const BoltzmannBgk::Params& p, double time, int steps) {
  KineticRun<BoltzmannBgk> run(p, MPI_COMM_SELF);
  run.start();
  auto& s = *run.physics->species().front();
  for (int k = 0; k < steps; ++k) {
    s.collide(time / steps);
    s.compute_moments();
  }
  s.solver().to_host_const(0);
  std::vector<double> out, f(s.solver().basis().modes);
  for (int ic = 0; ic < s.solver().grid().local_conf_cells(); ++ic)
    for (int iv = 0; iv < s.solver().grid().local_velocity_cells(); ++iv) {
      s.solver().get(0, ic, iv, f.data());
      out.insert(out.end(), f.begin(), f.end());
    }
  return out;
}

TEST_CASE("implicit steps approach the explicit form, along one velocity at order two") {
  for (int vdim : {1, 2}) {
    // With as many steps each: both are projected onto the modes of configuration space after every step. Modes of the
    // cells that no Maxwellian has fall fast: short steps show the order.
    double error[3], largest = 0.0;
    for (int k : {0, 1, 2}) {
      const auto wanted = collided(gas(vdim, "6", CollisionScheme::explicit_steps), 0.1, 32 << k);
      for (double x : wanted) largest = std::max(largest, std::abs(x));
      error[k] = furthest(collided(gas(vdim, "6", CollisionScheme::implicit), 0.1, 32 << k), wanted);
    }
    INFO(vdim << " velocities: " << error[0] << " " << error[1] << " " << error[2] << " of " << largest);
    CHECK(error[2] < 2e-5 * largest);
    // In two velocity dimensions what serendipity truncates splits at first order: it is as small here.
    CHECK(std::log2(error[0] / error[1]) > (vdim == 1 ? 1.8 : 0.9));
  }
}

namespace {

/// Two uniform gases that collide with each other alone: masses 1 and `ratio`, temperatures 1 and `hot`.
BoltzmannBgk::Params mixture(double ratio, double hot, CollisionScheme scheme) {
  BoltzmannBgk::Params p;
  p.domain = domain({"0"}, {"1"}, {1});
  const double width = std::sqrt(hot / ratio), reach_a = 6.0 * std::sqrt(std::max(1.0, hot)) + 1.0,
               reach_b = 6.0 * std::sqrt(std::max(1.0, hot) / ratio) + 1.0;
  p.species = {
      species("a", "0", "1", {std::to_string(-reach_a)}, {std::to_string(reach_a)}, {48}, "maxwellian(v, 0.4)"),
      species("b", "0", std::to_string(ratio), {std::to_string(-reach_b)}, {std::to_string(reach_b)},
              {2 * static_cast<int>(std::ceil(3.0 * reach_b / width))},
              fmt::format("0.5*maxwellian(v, 0, {})", width))};
  p.collisions = {{{"a", "b"}, "0.7", scheme}};
  return p;
}

std::array<double, 2> drift_and_temperature(const kinetic::Species& s) {
  const double mass = s.mass() * Totals(s).particles(), u = Totals(s).momentum(0) / mass;
  return {u, s.mass() * (2.0 * Totals(s).kinetic_energy() / mass - u * u)};
}

}  // namespace

TEST_CASE("relaxation between species of five mass and temperature ratios") {
  const double ratios[][2] = {{1, 2}, {2, 0.5}, {4, 4}, {25, 0.25}, {100, 3}};
  for (const auto& [ratio, hot] : ratios)
    for (double step : {0.05, 2.0}) {  // both short and long beside the diffusion of the lighter gas
      KineticRun<BoltzmannBgk> run(mixture(ratio, hot, CollisionScheme::implicit), MPI_COMM_SELF);
      run.start();
      auto &a = *run.physics->species()[0], &b = *run.physics->species()[1];
      const auto first_a = drift_and_temperature(a), first_b = drift_and_temperature(b);
      const double momentum = Totals(a).momentum(0) + Totals(b).momentum(0),
                   energy = Totals(a).kinetic_energy() + Totals(b).kinetic_energy(),
                   entropy = Totals(a).entropy() + Totals(b).entropy();
      run.physics->collide_species(step);
      run.physics->collide_species(step);
      const double t = 2.0 * step, nu = 0.7, back = nu / (0.5 * ratio);
      const auto now_a = drift_and_temperature(a), now_b = drift_and_temperature(b);
      INFO("masses 1 and " << ratio << ", temperatures 1 and " << hot << ", steps of " << step);
      CHECK(Totals(a).momentum(0) + Totals(b).momentum(0) == Approx(momentum).epsilon(1e-12));
      CHECK(Totals(a).kinetic_energy() + Totals(b).kinetic_energy() == Approx(energy).epsilon(1e-12));
      CHECK(Totals(a).entropy() + Totals(b).entropy() > entropy);
      // As in test_collisions.cpp: dD/dt = -s D, dW/dt = -k W + g D^2.
      const double s = 0.5 * (nu + back), k = (nu + ratio * back) / (1 + ratio), g = (nu - back) * ratio / (1 + ratio);
      const double d0 = first_a[0] - first_b[0], w0 = first_a[1] - first_b[1];
      CHECK(now_a[0] - now_b[0] == Approx(d0 * std::exp(-s * t)).epsilon(0.005).margin(1e-9));
      const double heated = std::abs(k - 2 * s) < 1e-9
                                ? g * d0 * d0 * t * std::exp(-k * t)
                                : g * d0 * d0 * (std::exp(-2 * s * t) - std::exp(-k * t)) / (k - 2 * s);
      CHECK(now_a[1] - now_b[1] == Approx(w0 * std::exp(-k * t) + heated).epsilon(0.005).margin(1e-9));
    }
}

TEST_CASE("implicit steps between species approach the explicit form at order two") {
  const auto after = [](CollisionScheme scheme, int steps) {
    KineticRun<BoltzmannBgk> run(mixture(4, 2, scheme), MPI_COMM_SELF);
    run.start();
    for (int k = 0; k < steps; ++k) run.physics->collide_species(0.4 / steps);
    auto& s = *run.physics->species()[0];
    s.solver().to_host_const(0);
    std::vector<double> out, f(s.solver().basis().modes);
    for (int iv = 0; iv < 48; ++iv) {
      s.solver().get(0, 0, iv, f.data());
      out.insert(out.end(), f.begin(), f.end());
    }
    return out;
  };
  const auto wanted = after(CollisionScheme::explicit_steps, 64);
  double error[3];
  for (int k : {0, 1, 2}) error[k] = furthest(after(CollisionScheme::implicit, 8 << k), wanted);
  INFO(error[0] << " " << error[1] << " " << error[2]);
  CHECK(error[2] < 1e-5);
  CHECK(std::log2(error[1] / error[2]) > 1.8);
}

TEST_CASE("a third moment decays at its rate in implicit steps") {
  BoltzmannBgk::Params p;
  p.domain = domain({"0"}, {"1"}, {1});
  p.species = {species("gas", "0", "1", {"-7"}, {"7"}, {28}, "maxwellian(v) * (1 + 0.02*(v^3 - 3*v))")};
  p.species[0].collisions = dougherty("1", CollisionScheme::implicit);
  KineticRun<BoltzmannBgk> run(p, MPI_COMM_SELF);
  run.start();
  auto& s = *run.physics->species().front();
  auto third = [&] {
    const Projection rule(s.solver().basis().exponents, 4);
    std::vector<double> f(rule.modes()), values(rule.nodes());
    double sum = 0.0;
    s.solver().to_host_const(0);
    for (int iv = 0; iv < 28; ++iv) {
      s.solver().get(0, 0, iv, f.data());
      rule.evaluate(f.data(), values.data());
      for (int q = 0; q < rule.nodes(); ++q) {
        const double v = -7.0 + 0.5 * (iv + 0.5 + 0.5 * rule.xi(q, 1));
        sum += rule.weight(q) * values[q] * (v * v * v - 3.0 * v);
      }
    }
    return sum;
  };
  const double before = third();
  for (int k = 0; k < 6; ++k) s.collide(0.05);
  CHECK(third() / before == Approx(std::exp(-3.0 * 0.3)).epsilon(0.005));
}

TEST_CASE("ranks and precisions agree on implicit collisions") {
  const int n = Comm().size();
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    auto with = [&](std::vector<int> ranks) {
      VlasovPoisson::Params p;
      p.precision = precision;
      p.ranks = std::move(ranks);
      p.domain = domain({"0"}, {"4*pi"}, {11});
      p.species = {
          species("electron", "-1", "1", {"-6", "-6"}, {"6", "6"}, {8, 8},
                  "(1 + 0.3*cos(0.5*x))*maxwellian(vx, 0.3)*maxwellian(vy)"),
          species("ion", "1", "4", {"-3", "-3"}, {"3", "3"}, {8, 6}, "maxwellian(vx, 0, 0.6)*maxwellian(vy, 0, 0.5)")};
      p.species[0].collisions = dougherty("0.5*n/T^1.5", CollisionScheme::automatic);
      p.collisions = {{{"electron", "ion"}, "2*n_ion/T_electron^1.5", CollisionScheme::implicit}};
      return p;
    };
    KineticRun<VlasovPoisson> whole(with({}), MPI_COMM_SELF), part(with({n, 1, 1}));
    whole.start();
    part.start();
    const double particles = whole("particles"), energy = whole("total_energy");
    for (int k = 0; k < 4; ++k) {
      whole.step();
      part.step();
    }
    CHECK(difference(part, whole) < (precision == Precision::float64 ? 1e-13 : 1e-6));
    CHECK(whole("particles") == Approx(particles).epsilon(precision == Precision::float64 ? 1e-13 : 1e-6));
    CHECK(whole("total_energy") == Approx(energy).epsilon(1e-4));
  }
}

TEST_CASE("auto is explicit where one sub-step suffices") {
  for (const auto& [frequency, other] :
       {std::pair{"1e-3", CollisionScheme::explicit_steps}, std::pair{"10", CollisionScheme::implicit}}) {
    auto p = gas(2, "6", CollisionScheme::automatic);
    p.species[0].collisions->frequency = frequency;
    const auto found = collided(p, 0.1, 1);
    p.species[0].collisions->scheme = other;
    CHECK(found == collided(p, 0.1, 1));
  }
}

TEST_CASE("a frequency of density and temperature") {
  auto p = gas(1, "6", CollisionScheme::implicit);
  p.parameters = {{"a", "0.3"}};
  p.species[0].f0 = "2*maxwellian(v, 0.5, 1.2)";
  p.species[0].collisions->frequency = "a*n/T^1.5";
  const auto found = collided(p, 0.5, 2);
  p.species[0].collisions->frequency = "0.3*2/1.44^1.5";
  CHECK(furthest(found, collided(p, 0.5, 2)) < 1e-7);
  // A parameter of the same name is the deck's.
  p.parameters = {{"n", "0.25"}};
  p.species[0].collisions->frequency = "n";
  const auto constant = collided(p, 0.5, 2);
  p.species[0].collisions->frequency = "0.25";
  CHECK(constant == collided(p, 0.5, 2));
  p.species[0].collisions->frequency = "T - 10";
  CHECK_THROWS_WITH(collided(p, 0.5, 1),
                    Catch::Matchers::Contains("collisions: species 'gas': the collision frequency is -8.56") &&
                        Catch::Matchers::Contains("; fix the formula of 'frequency', for example by max(0, ...)"));
}

TEST_CASE("velocities that a heated gas would need beyond their ends are told") {
  auto p = mixture(100, 60, CollisionScheme::implicit);
  p.species[0].velocity.lower = {"-6"};  // holds a temperature of 12 at most
  p.species[0].velocity.upper = {"6"};
  KineticRun<BoltzmannBgk> run(p, MPI_COMM_SELF);
  run.start();
  CHECK_THROWS_WITH(run.physics->collide_species(200.0),
                    Catch::Matchers::Contains("collisions: f of species 'a' is cut off by the ends of its velocity "
                                              "space in cell [0] (x = 0.5): an implicit step finds no drift and "
                                              "temperature that conserve momentum and energy; move 'lower' and 'upper' "
                                              "of its 'velocity' outwards, or give scheme: explicit"));
}
