// Growth of large waves against linear theory, one wave against its exact solution, order in time, momentum, and what a
// finer run says of the cheaper ways to the same spectrum.
#include "plugins/cosmo/gravity/clouds.hpp"
#include "tests/plugins/cosmo/cosmo_case.hpp"

using namespace cambium;
using namespace cambium::cosmo;
using namespace cambium::cosmo::test;

namespace {

std::string keys(int particles, double box, const std::string& more) {
  return fmt::format("{{box: {}, particles: {}, {}}}", box, particles, more);
}

/// Root mean square distance of the particles of two runs.
double distance(Case& a, Case& b) {
  const double box = a.physics().params().box;
  const auto x = numbers(a.physics().matter().position), y = numbers(b.physics().matter().position);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = x[i] - y[i] - box * std::round((x[i] - y[i]) / box);
    sum += off * off;
  }
  return std::sqrt(3.0 * sum / static_cast<double>(x.size()));
}

}  // namespace

TEST_CASE("the largest waves grow as linear theory says") {
  for (const char* more : {"", "assignment: cloud_in_cell, mesh: 64, ", "cosmology: {omega_m: 0.15, sigma_8: 0.7}, ",
                           "cosmology: {omega_m: 1, omega_b: 0.05, h: 0.5}, "}) {
    Case run(keys(32, 1024, fmt::format("{}end: 0.5, time_steps: 40", more)));
    CHECK(run("growth") == Approx(1.0).epsilon(1e-12));
    run.finish();
    INFO(more << "grown " << run("growth") << " times");
    CHECK(run.state().time == Approx(0.5).epsilon(1e-12));
    CHECK(run("growth") > 10.0);
    CHECK(run("growth_over_linear") == Approx(1.0).margin(0.005));
    CHECK(run("redshift") == Approx(1.0).epsilon(1e-12));
  }
}

namespace {

/// Farthest distance of the particles of one wave from x = q - D A sin(k q)/k, in units of A/k, at D A = 0.8, where
/// density is five times its mean in the knot.
double off_the_exact_wave(int n) {
  const double edge = 64.0, k = 2 * pi / edge;
  const Comm comm(MPI_COMM_SELF);
  const Expansion expansion(0.3);
  const BoxWaves lattice(n, edge);
  const View<double*> waves("waves", lattice.waves());
  const double amplitude = 0.8 / expansion.growth(0.5).first;
  lattice.forward(on_mesh(n, [&](double, double, double z) { return amplitude * std::cos(2 * pi * z); }), waves);
  ParticleMesh matter(n, edge, lattice.values(), expansion, Clouds::triangular, comm);
  matter.resize(lattice.values());
  move_to(displacements(lattice, waves, 2, 0, lattice.values()), {expansion.growth(0.02), 0.02, expansion.rate(0.02)},
          lattice, matter.origin(), 0, matter.position, matter.momentum);
  const TimeSteps times{0.02, 0.5, 30};
  matter.assign();
  matter.solve();
  matter.interpolate();
  for (int s = 0; s < 30; ++s) {
    matter.kick(times.after(s), times.within(s));
    matter.drift(times.after(s), times.after(s + 1));
    matter.assign();
    matter.solve();
    matter.interpolate();
    matter.kick(times.within(s), times.after(s + 1));
  }
  const auto x = numbers(matter.position);
  double worst = 0.0;
  for (int i = 0; i < n * n * n; ++i) {
    const double q = edge * (i % n) / n, moved = x[3 * i + 2] - matter.origin() - q;
    worst = std::max(worst, std::abs(moved - edge * std::round(moved / edge) + 0.8 / k * std::sin(k * q)));
  }
  return worst * k / 0.8;
}

}  // namespace

// Zel'dovich's displacements solve the equations of one wave until particles cross, at D A = 1 (A&A 5, 84 (1970)).
TEST_CASE("one wave comes nearer to its exact solution the finer the mesh is") {
  const double coarse = off_the_exact_wave(16), middle = off_the_exact_wave(32), fine = off_the_exact_wave(64);
  INFO(coarse << " " << middle << " " << fine);
  CHECK(fine < 0.01);
  CHECK(fine < 0.6 * middle);
  CHECK(middle < 0.6 * coarse);
}

TEST_CASE("errors fall with the square of the time step") {
  for (const char* spacing : {"logarithmic", "linear"}) {
    const auto run = [&](int steps) {
      auto out = std::make_unique<Case>(
          keys(16, 400, fmt::format("start: 0.1, end: 0.5, spacing: {}, time_steps: {}", spacing, steps)));
      out->finish();
      return out;
    };
    const auto exact = run(512);
    const double coarse = distance(*run(8), *exact), middle = distance(*run(16), *exact),
                 fine = distance(*run(32), *exact);
    INFO(spacing << ": " << coarse << " " << middle << " " << fine);
    CHECK(std::log2(coarse / middle) == Approx(2.0).margin(0.2));
    CHECK(std::log2(middle / fine) == Approx(2.0).margin(0.2));
  }
}

TEST_CASE("momentum stays") {
  Case run(keys(16, 50, "time_steps: 30"));
  CHECK(run("momentum") < 1e-12);
  run.finish();
  CHECK(run("deviation") > 1.0);
  CHECK(run("momentum") < 1e-12);
}

TEST_CASE("forces of a mesh on all particles add up to nothing") {
  const Comm comm(MPI_COMM_SELF);
  ParticleMesh matter(8, 8.0, 500, Expansion(0.3), Clouds::triangular, comm);
  matter.resize(500);
  const auto place = Kokkos::create_mirror_view(matter.position);
  for (int i = 0; i < 1500; ++i) place.data()[i] = 8.0 * std::pow(std::fmod(0.618034 * i, 1.0), 2);
  Kokkos::deep_copy(matter.position, place);
  matter.assign();
  matter.solve();
  matter.interpolate();
  const auto f = numbers(matter.force);
  double sum[3] = {}, size = 0.0;
  for (int i = 0; i < 1500; ++i) {
    sum[i % 3] += f[i];
    size += std::abs(f[i]);
  }
  for (const double s : sum) CHECK(std::abs(s) < 1e-12 * size);
  CHECK(size > 1.0);
}

// The judge is a run with twice as many cells along an edge, clouds in them (whose forces on a lattice are within a few
// per cent of its exact sums, test_lattice.cpp), and four times as many steps.
TEST_CASE("where structure is not linear any more, the particle mesh is nearer to a finer run than theory alone") {
  const std::string cosmology = "cosmology: {sigma_8: 0.8}";
  Case run(keys(32, 128, "time_steps: 40, " + cosmology)),
      fine(keys(32, 128, "mesh: 64, assignment: cloud_in_cell, time_steps: 160, " + cosmology));
  run.finish();
  fine.finish();
  const auto found = run.physics().spectra(), judge = fine.physics().spectra();
  double mesh = 0.0, linear = 0.0, lpt = 0.0;
  for (int b = 2; b < 8; ++b) {  // 0.15 to 0.4 h/Mpc
    INFO("k " << found.bins.k[b] << " linear " << found.linear[b] << " 2LPT " << found.lpt[b] << " mesh "
              << found.power[b] << " finer " << judge.power[b]);
    CHECK(found.bins.k[b] == judge.bins.k[b]);
    mesh += std::abs(std::log(found.power[b] / judge.power[b])) / 6.0;
    linear += std::abs(std::log(found.linear[b] / judge.power[b])) / 6.0;
    lpt += std::abs(std::log(found.lpt[b] / judge.power[b])) / 6.0;
  }
  INFO("mean distance in ln P: mesh " << mesh << " linear " << linear << " 2LPT " << lpt);
  CHECK(mesh < 0.5 * linear);
  CHECK(mesh < 0.5 * lpt);
}

TEST_CASE("the spectrum at the start is that of theory, whichever way it is found") {
  Case run(keys(32, 1024, "start: 0.1, end: 0.2, time_steps: 2"));
  const auto s = run.physics().spectra();
  CHECK(s.a == 0.1);
  CHECK(s.shot_noise == 32768.0);
  for (std::size_t b = 0; b < 6; ++b) {
    const double scatter = std::sqrt(2.0 / s.bins.modes[b]);
    CHECK(s.power[b] == s.lpt[b]);
    CHECK(s.power[b] == s.linear[b]);
    CHECK(std::abs(s.power[b] / s.expected[b] - 1.0) < 4.0 * scatter);
  }
}

TEST_CASE("cells of the grid hold the particles around them, in the order of drawings") {
  Case run(keys(8, 80, "mesh: 4, start: 0.5, time_steps: 1"));
  const auto grid = run.physics().grid_fields(run.state(), run.comm());
  REQUIRE(grid);
  CHECK(grid->cells() == 64);
  const auto mass = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), run.physics().matter().mass());
  double sum = 0.0;
  for (int z = 0, at = 0; z < 4; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x, ++at) {
        CHECK(grid->fields[0].values[at] ==
              Approx(static_cast<double>(mass((x * 4 + y) * 4 + z)) / (8.0 * whole_particle)).epsilon(1e-14));
        sum += grid->fields[0].values[at];
      }
  CHECK(sum == Approx(64.0).epsilon(1e-13));
}

TEST_CASE("the page tells the wave numbers of a large box apart") {
  Case run(keys(8, 50000, "time_steps: 1"));
  run.finish();
  const auto page = run.physics().report();
  REQUIRE(page.size() > 2);
  CHECK(page[1].starts_with("0.0001604 "));
  CHECK(page[2].starts_with("0.0002803 "));
}
