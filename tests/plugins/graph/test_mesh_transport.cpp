// Manufactured solutions, the rotating hill, amounts that stay, uniform fields, boundaries.
#include "core/base/constants.hpp"
#include "tests/plugins/graph/node_case.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

/// c = sin(t) + cos(pi x) cos(pi y) e^-t with flow and diffusion in the unit square; no flux through its walls.
const char* made_up =
    "{{mesh: {{rectangle: {{cells: [{0}, {0}], shake: {1}}}}}, parameters: {{k: {2}}}, stream: "
    "{3}*sin(pi*x)*sin(pi*y)/pi, "
    "diffusivity: k, exact: sin(t) + cos(pi*x)*cos(pi*y)*exp(-t), initial: cos(pi*x)*cos(pi*y), source: "
    "\"cos(t) + cos(pi*x)*cos(pi*y)*exp(-t)*(2*k*pi^2 - 1) + {3}*exp(-t)*pi*(-sin(pi*x)^2*cos(pi*y)^2 + "
    "cos(pi*x)^2*sin(pi*y)^2)\", method: {4}, {5} end_time: 0.5}}";

double error_of(int cells, double shake, double kappa, double flow, const char* method, const std::string& more = "") {
  Transport run(fmt::format(fmt::runtime(made_up), cells, shake, kappa, flow, method, more));
  run.finish();
  return run("error");
}

}  // namespace

TEST_CASE("errors fall with the square of the triangles' size, flow and diffusion alike, on shaken meshes too") {
  struct Setting {
    double shake, kappa, flow;
    const char* method;
  };
  for (const Setting& s :
       {Setting{0.0, 0.1, 1.0, "explicit"}, Setting{0.2, 0.1, 1.0, "explicit"}, Setting{0.2, 0.1, 0.0, "explicit"},
        Setting{0.2, 0.0, 1.0, "explicit"}, Setting{0.2, 0.1, 1.0, "implicit"}}) {
    std::vector<double> error;
    for (const int cells : {8, 16, 32}) error.push_back(error_of(cells, s.shake, s.kappa, s.flow, s.method));
    INFO(s.method << " shake " << s.shake << " kappa " << s.kappa << " flow " << s.flow << ": " << error[0] << " "
                  << error[1] << " " << error[2]);
    CHECK(std::log2(error[0] / error[1]) > 1.75);
    CHECK(std::log2(error[1] / error[2]) > 1.8);
    CHECK(error[2] < 5e-3);
  }
}

TEST_CASE("halved steps quarter the error in time of implicit steps, and more of explicit ones") {
  // Against shorter steps on the same mesh.
  for (const char* method : {"implicit", "explicit"}) {
    const bool implicit = std::string(method) == "implicit";
    const auto ended = [&](double dt) {
      Transport run(fmt::format(fmt::runtime(made_up), 8, 0.2, 0.1, 1.0, method,
                                fmt::format("timestep: {}, tolerance: 1e-14,", dt * (implicit ? 1.0 : 0.4))));
      run.finish();
      return run.own();
    };
    const auto best = ended(0.05 / 64);
    std::vector<double> error;
    for (const double dt : {0.025, 0.0125, 0.00625}) {
      double worst = 0.0;
      const auto now = ended(dt);
      for (std::size_t i = 0; i < now.size(); ++i) worst = std::max(worst, std::abs(now[i] - best[i]));
      error.push_back(worst);
    }
    INFO(method << ": " << error[0] << " " << error[1] << " " << error[2]);
    CHECK(std::log2(error[0] / error[1]) > (implicit ? 1.85 : 2.8));
    CHECK(std::log2(error[1] / error[2]) > (implicit ? 1.85 : 2.8));
  }
}

TEST_CASE("a hill comes back after a turn") {
  std::vector<double> error;
  for (const int rings : {16, 32}) {
    Transport run(
        fmt::format("{{mesh: {{disc: {{rings: {}}}}}, velocity: [-2*pi*y, 2*pi*x], initial: "
                    "exp(-30*((x - 0.4)^2 + y^2)), exact: exp(-30*((x - 0.4*cos(2*pi*t))^2 + (y - "
                    "0.4*sin(2*pi*t))^2)), end_time: 1}}",
                    rings));
    const double begun = run("total");
    run.finish();
    CHECK(std::abs(run("total") / begun - 1.0) < 1e-12);
    error.push_back(run("error"));
  }
  INFO(error[0] << " " << error[1]);
  CHECK(std::log2(error[0] / error[1]) > 1.8);
  CHECK(error[1] < 0.01);
}

TEST_CASE("what is inside closed walls stays there") {
  for (const char* method : {"explicit", "implicit"})
    for (const char* advection : {"linear", "limited", "upwind"}) {
      Transport run(
          fmt::format("{{mesh: {{rectangle: {{cells: [20, 10], size: [2, 1], shake: 0.3}}}}, stream: "
                      "\"sin(pi*(x + 0.25*sin(6*t)*x*(2 - x)))*sin(pi*y)\", diffusivity: 1e-3*(1 + x), initial: "
                      "exp(-20*((x - 0.5)^2 + (y - 0.5)^2)), method: {}, advection: {}, tolerance: 1e-4, end_time: "
                      "3}}",
                      method, advection));
      const double begun = run("total"), variance = run("variance");
      run.finish();
      INFO(method << " " << advection);
      CHECK(run.state().step > 100);
      CHECK(std::abs(run("total") / begun - 1.0) < 1e-12);
      CHECK(run("variance") < 0.9 * variance);
      if (std::string(advection) == "upwind") CHECK(run("c_min") > -1e-3);
      if (std::string(advection) == "limited") CHECK(run("c_min") > -0.01);
    }
}

TEST_CASE("a stream function leaves what is uniform as it is, a velocity nearly so") {
  const char* deck =
      "{{mesh: {{rectangle: {{cells: [12, 12], shake: 0.3}}}}, {}, initial: 3, diffusivity: 0.01, exact: 3, end_time: "
      "1}}";
  Transport stream(fmt::format(fmt::runtime(deck), "stream: sin(pi*x)^2*sin(pi*y)^2")),
      velocity(fmt::format(fmt::runtime(deck),
                           "velocity: [2*pi*sin(pi*x)^2*sin(pi*y)*cos(pi*y), "
                           "-2*pi*sin(pi*x)*cos(pi*x)*sin(pi*y)^2]"));
  stream.finish();
  velocity.finish();
  CHECK(stream("error") < 1e-12);
  CHECK(velocity("error") < 1e-3);
  CHECK(velocity("error") > 1e-9);
}

TEST_CASE("given values hold, and a steady state between them is the straight line") {
  for (const char* method : {"method: explicit", "method: implicit, timestep: 0.05"}) {
    Transport run(
        fmt::format("{{mesh: {{rectangle: {{cells: [10, 6], size: [1, 0.5], shake: 0.3}}}}, diffusivity: 1, exact: "
                    "1 + 2*x, initial: 1, boundaries: {{left: {{value: 1}}, right: {{value: 3}}}}, tolerance: "
                    "1e-12, {}, end_time: 3}}",
                    method));
    run.finish();
    CHECK(run("error") < 1e-9);  // linear elements are exact
  }
}

TEST_CASE("a flux fills the domain, an outflow lets a profile leave") {
  Transport fill(
      "{mesh: {rectangle: {cells: [8, 8], size: [2, 1]}}, diffusivity: 0.1, boundaries: {left: {flux: 3 + y}}, "
      "end_time: 2}");
  fill.finish();
  CHECK(fill("total") == Approx(2.0 * 3.5).epsilon(1e-12));
  std::vector<double> error;
  for (const int cells : {40, 80}) {
    Transport pipe(
        fmt::format("{{mesh: {{rectangle: {{cells: [{}, 4], size: [2, 0.1]}}}}, velocity: [1, 0], exact: "
                    "sin(2*pi*(t - x)), initial: -sin(2*pi*x), boundaries: {{left: {{value: sin(2*pi*t)}}, right: "
                    "{{outflow: true}}}}, end_time: 3}}",
                    cells));
    pipe.finish();
    error.push_back(pipe("error"));
  }
  INFO(error[0] << " " << error[1]);
  CHECK(std::log2(error[0] / error[1]) > 1.8);
  CHECK(error[1] < 0.01);  // of a wave of height 1 on 40 cells, two lengths on
}

TEST_CASE("a part of the boundary is found by a condition") {
  Transport run(
      "{mesh: {rectangle: {cells: [8, 8]}}, diffusivity: 1, exact: 2, boundaries: {half: {where: y < 0.5 and x < 1e-9, "
      "value: "
      "2}}, end_time: 8}");
  run.finish();
  CHECK(run("error") < 1e-4);
}
