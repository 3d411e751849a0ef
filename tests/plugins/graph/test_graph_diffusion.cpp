// Exact decays of eigenmodes, order in time, amounts that diffusion keeps, spots and reactions.
#include <fstream>

#include "core/base/constants.hpp"
#include "tests/plugins/graph/node_case.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

constexpr double pi = constants::pi;

/// Amplitude of cos(2 pi m i / n) in the first column of a ring.
double amplitude(const Diffusion& run, int m) {
  const auto u = run.own();
  double sum = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i)
    sum += 2.0 * u[i] * std::cos(2.0 * pi * m * static_cast<double>(i) / static_cast<double>(u.size())) /
           static_cast<double>(u.size());
  return sum;
}

std::string ring(const std::string& more, int neighbours = 1) {
  return fmt::format(
      "{{graph: {{ring: {{nodes: 40, neighbours: {}}}}}, parameters: {{m: 3}}, "
      "species: [{{name: u, diffusion: 0.7, initial: 2 + cos(2*pi*m*node/40)}}], {}}}",
      neighbours, more);
}

/// Of the mode m with weights 1 to so many neighbours on either side.
double eigenvalue(int m, int neighbours) {
  double sum = 0.0;
  for (int k = 1; k <= neighbours; ++k) sum += 2.0 - 2.0 * std::cos(2.0 * pi * m * k / 40.0);
  return sum;
}

}  // namespace

TEST_CASE("modes of a ring decay by their eigenvalues") {
  for (const int neighbours : {1, 3})
    for (const char* method : {"method: explicit", "method: implicit"}) {
      Diffusion run(ring(fmt::format("{}, timestep: 0.005, end_time: 2", method), neighbours));
      run.finish();
      const double expected = std::exp(-0.7 * eigenvalue(3, neighbours) * 2.0);
      INFO(method << " neighbours " << neighbours);
      CHECK(run.state().time == Approx(2.0).epsilon(1e-12));
      CHECK(amplitude(run, 3) == Approx(expected).epsilon(neighbours == 1 ? 1e-5 : 1e-3));
      CHECK(std::abs(run("u_total") / 80.0 - 1.0) < 1e-12);
    }
}

TEST_CASE("the deviation of small waves on a large mean is theirs") {
  Diffusion run(
      "{graph: {ring: {nodes: 40}}, species: [{name: u, diffusion: 1, initial: 1e6 + 1e-4*cos(2*pi*node/40)}], "
      "end_time: 0.1}");
  CHECK(run("u_deviation") == Approx(1e-4 / std::sqrt(2.0)).epsilon(1e-5));
}

TEST_CASE("explicit steps are of third order in time, implicit ones of second") {
  for (const bool implicit : {false, true}) {
    std::vector<double> error;
    for (const double dt : {0.1, 0.05, 0.025}) {
      Diffusion run(ring(fmt::format("method: {}, timestep: {}, tolerance: 1e-14, end_time: 2",
                                     implicit ? "implicit" : "explicit", dt)));
      run.finish();
      error.push_back(std::abs(amplitude(run, 3) - std::exp(-1.4 * eigenvalue(3, 1))));
    }
    INFO("implicit " << implicit << ": " << error[0] << " " << error[1] << " " << error[2]);
    CHECK(std::log2(error[0] / error[1]) == Approx(implicit ? 2.0 : 3.0).margin(0.1));
    CHECK(std::log2(error[1] / error[2]) == Approx(implicit ? 2.0 : 3.0).margin(0.1));
  }
}

// u' = a u - D L u of a mode that reacts: both parts at once, and a formula of time.
TEST_CASE("reactions and diffusion together keep the order") {
  for (const bool implicit : {false, true}) {
    std::vector<double> error;
    for (const double dt : {0.1, 0.05, 0.025}) {
      Diffusion run(
          fmt::format("{{graph: {{ring: {{nodes: 40}}}}, parameters: {{a: 0.8}}, species: [{{name: u, diffusion: "
                      "0.5, initial: cos(2*pi*3*node/40), reaction: a*u*cos(t)}}], method: {}, timestep: {}, "
                      "tolerance: 1e-14, end_time: 2}}",
                      implicit ? "implicit" : "explicit", dt));
      run.finish();
      error.push_back(std::abs(amplitude(run, 3) - std::exp(0.8 * std::sin(2.0) - eigenvalue(3, 1))));
    }
    INFO("implicit " << implicit << ": " << error[0] << " " << error[1] << " " << error[2]);
    CHECK(std::log2(error[1] / error[2]) == Approx(implicit ? 2.0 : 3.0).margin(0.15));
  }
}

TEST_CASE("modes of a grid decay by the sum of their eigenvalues") {
  // cos(pi p (i + 1/2) / n) are the modes of a path of n nodes.
  Diffusion run(
      "{graph: {grid: {nodes: [9, 7, 5]}}, species: [{name: u, diffusion: 1, initial: cos(pi*2*(x + 0.5)/9)*cos(pi*(y "
      "+ "
      "0.5)/7)*cos(pi*(z + 0.5)/5)}], method: explicit, timestep: 0.004, end_time: 0.8}");
  const auto begun = run.own();
  run.finish();
  const auto ended = run.own();
  const auto path = [](int p, int n) { return 2.0 - 2.0 * std::cos(pi * p / n); };
  const double decay = std::exp(-0.8 * (path(2, 9) + path(1, 7) + path(1, 5)));
  double worst = 0.0;
  for (std::size_t i = 0; i < begun.size(); ++i) worst = std::max(worst, std::abs(ended[i] - decay * begun[i]));
  CHECK(begun.size() == 315);
  CHECK(worst < 1e-8);
}

TEST_CASE("a periodic grid is a torus") {
  Diffusion run(
      "{graph: {grid: {nodes: [8, 6], periodic: true}}, species: [{name: u, diffusion: 1, initial: "
      "sin(2*pi*x/8)*cos(2*pi*2*y/6)}], timestep: 0.004, end_time: 0.4}");
  const auto begun = run.own();
  run.finish();
  const double decay = std::exp(-0.4 * (4.0 - 2.0 * std::cos(2.0 * pi / 8.0) - 2.0 * std::cos(4.0 * pi / 6.0)));
  for (std::size_t i = 0; i < begun.size(); ++i) CHECK(run.own()[i] == Approx(decay * begun[i]).margin(1e-8));
}

TEST_CASE("every Laplacian keeps its amount, whatever the tolerance of the solver") {
  for (const char* laplacian : {"combinatorial", "random_walk", "symmetric"})
    for (const char* method : {"explicit", "implicit"}) {
      Diffusion run(
          fmt::format("{{graph: {{random: {{nodes: 300, degree: 7, weight: exp(-2*d^2)}}}}, laplacian: {}, method: "
                      "{}, tolerance: 1e-2, {}species: [{{name: u, diffusion: 1, initial: exp(-20*((x-0.3)^2 + "
                      "y^2))}}], end_time: 4}}",
                      laplacian, method, std::string(method) == "implicit" ? "timestep: 0.5, " : ""));
      const double begun = run("u_total"), high = run("u_max"), deviation = run("u_deviation");
      run.finish();
      INFO(laplacian << " " << method);
      CHECK(std::abs(run("u_total") / begun - 1.0) < 1e-12);
      CHECK(run("u_max") < high);
      CHECK(run("u_deviation") < 0.9 * deviation);
    }
}

TEST_CASE("an epidemic keeps its people and follows its own equation where nobody travels") {
  const std::string deck =
      "{{graph: {{random: {{nodes: 50, degree: 6}}}}, parameters: {{beta: 0.5, gamma: 0.1}}, species: [{{name: S, "
      "diffusion: {0}, initial: 0.99, reaction: -beta*S*I}}, {{name: I, diffusion: {0}, initial: 0.01, reaction: "
      "beta*S*I "
      "- gamma*I}}, {{name: R, diffusion: {0}, reaction: gamma*I}}], timestep: 0.05, end_time: 30}}";
  Diffusion alone(fmt::format(fmt::runtime(deck), 0.0)), travel(fmt::format(fmt::runtime(deck), 0.3));
  alone.finish();
  travel.finish();
  double s = 0.99, i = 0.01, r = 0.0;  // the same by many Euler steps
  for (int k = 0; k < 600000; ++k) {
    const double ill = 0.5 * s * i * 5e-5, well = 0.1 * i * 5e-5;
    s -= ill;
    i += ill - well;
    r += well;
  }
  CHECK(alone.own()[0] == Approx(s).epsilon(1e-4));
  CHECK(alone.own()[2] == Approx(r).epsilon(1e-4));
  for (auto* run : {&alone, &travel})
    CHECK((*run)("S_total") + (*run)("I_total") + (*run)("R_total") == Approx(50.0).epsilon(1e-13));
}

TEST_CASE("spots reach so many edges") {
  Diffusion run(
      "{graph: {ring: {nodes: 12}}, species: [{name: u, diffusion: 1, initial: 5, spots: {nodes: [0, 6], hops: 1, "
      "value: "
      "2}}], end_time: 1}");
  CHECK(run.own() == std::vector<double>{2, 2, 5, 5, 5, 2, 2, 2, 5, 5, 5, 2});
  const double stable = 2.51 / 4.0;  // the ring's largest eigenvalue is 4
  CHECK(run("timestep") == Approx(0.125).epsilon(1e-12));
  CHECK(0.2 * stable > 0.125);
}

TEST_CASE("steps that nobody chose follow a spot on all its modes, and keep it positive") {
  const int n = 24;
  for (const char* laplacian : {"combinatorial", "random_walk", "symmetric"}) {
    Diffusion run(
        fmt::format("{{graph: {{ring: {{nodes: {}}}}}, laplacian: {}, species: [{{name: u, diffusion: 1, "
                    "spots: {{nodes: [0], value: 1}}}}], end_time: 1}}",
                    n, laplacian));
    run.finish();
    const double scale = std::string(laplacian) == "combinatorial" ? 1.0 : 0.5;
    INFO(laplacian);
    for (int i = 0; i < n; ++i) {
      double exact = 0.0;
      for (int m = 0; m < n; ++m)
        exact += std::exp(-scale * (2.0 - 2.0 * std::cos(2.0 * pi * m / n))) * std::cos(2.0 * pi * m * i / n) / n;
      const double u = run.own()[i];
      CHECK(u == Approx(exact).margin(2e-3));
      CHECK(u >= 0.0);
    }
  }
}

TEST_CASE("the stable step is stable and a little more is not") {
  Diffusion run(
      "{graph: {ring: {nodes: 64}}, species: [{name: u, diffusion: 1, initial: sin(12345*node)}], courant: 1, "
      "end_time: "
      "600}");
  const double begun = run("u_deviation");
  run.finish();
  CHECK(run("u_deviation") < 0.1 * begun);
  CHECK_THROWS_WITH(
      Diffusion(
          "{graph: {ring: {nodes: 64}}, species: [{name: u, diffusion: 1, initial: sin(12345*node)}], timestep: 0.63, "
          "end_time: 600}"),
      "timestep 0.63 is longer than the longest stable step, 0.6275; take a shorter one, none, or 'method: implicit'");
}

TEST_CASE("nothing reaches a part of the graph that no edge leads to, whatever the solver's tolerance leaves") {
  // Two rings and two nodes by themselves; one ring holds much, and a reaction would make much of little.
  const double grown = std::pow(1.0 + 0.25 + 0.25 * 0.25 / 2.0, 20);
  const Scratch scratch;
  {
    std::ofstream file(scratch.file("parts.edges"));
    for (int i = 0; i < 20; ++i) file << i << " " << (i + 1) % 20 << "\n" << 20 + i << " " << 20 + (i + 1) % 20 << "\n";
    file << "41 41\n40 40\n";
  }
  for (const char* laplacian : {"combinatorial", "random_walk", "symmetric"}) {
    Diffusion run(fmt::format(
        "{{graph: {{file: {}}}, laplacian: {}, method: implicit, tolerance: 1e-3, timestep: 0.5, end_time: 10, "
        "species: [{{name: u, diffusion: 1, initial: \"if(node < 20, 1e6*(1 + cos(node)), if(node == 40, 7, 0))\", "
        "reaction: 0.5*u}}]}}",
        scratch.file("parts.edges"), laplacian));
    const double begun = run("u_total");
    run.finish();
    INFO(laplacian);
    const auto u = run.own();
    const auto& number = run.node_run().shown().number;
    double there = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      if (number[i] >= 20 && number[i] != 40) CHECK(u[i] == 0.0);
      if (number[i] == 40) CHECK(u[i] == Approx(7.0 * grown).epsilon(1e-12));
      if (number[i] < 20) there += u[i];
    }
    CHECK(there > begun);
  }
}

TEST_CASE("spots and formulas call nodes by the numbers of the file") {
  const Scratch scratch;
  std::ofstream(scratch.file("gaps.edges")) << "510 520\n520 530\n530 5000000000\n";
  const auto begun = [&](const std::string& graph, const std::string& species) {
    return Diffusion(fmt::format("{{graph: {{file: {}{}}}, species: [{{name: u, diffusion: 1, {}}}], end_time: 0.1}}",
                                 scratch.file("gaps.edges"), graph, species));
  };
  const auto value_of = [](Diffusion& run, std::int64_t name) {
    const auto& shown = run.node_run().shown();
    for (std::size_t i = 0; i < shown.number.size(); ++i)
      if (shown.names.number(shown.number[i]) == name) return run.own()[i];
    return -1.0;
  };
  auto spots = begun("", "spots: {nodes: [520, 5000000000], value: 2}");
  CHECK(spots.own().size() == 4);
  CHECK(spots("u_total") == 4.0);
  CHECK(value_of(spots, 520) == 2.0);
  CHECK(value_of(spots, 5000000000) == 2.0);
  CHECK(value_of(spots, 530) == 0.0);
  auto formula = begun("", "initial: node - 500");
  CHECK(value_of(formula, 510) == 10.0);
  CHECK(value_of(formula, 530) == 30.0);
  CHECK_THROWS_WITH(begun("", "spots: {nodes: [0]}"),
                    "spots of 'u': there is no node 0, they are numbered 510 to 5000000000 with gaps");
  std::ofstream(scratch.file("gaps.edges")) << "1 2\n2 3\n";
  auto first = begun(", first: 1", "spots: {nodes: [1]}");
  CHECK(value_of(first, 1) == 1.0);
}
