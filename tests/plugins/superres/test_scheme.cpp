// The parts of the scheme against plain sums.
#include "core/parallel/host_threads.hpp"
#include "core/parallel/random.hpp"
#include "plugins/superres/convection/rows.hpp"
#include "tests/plugins/superres/convection_case.hpp"

using namespace cambium;
using namespace cambium::superres;

namespace {

Fluid some_fluid(double viscosity) {
  Fluid fluid;
  fluid.viscosity = fluid.diffusivity = viscosity;
  return fluid;
}

/// Fills the interior with numbers that belong to places, not to ranks; w on the lower plate stays zero.
void fill_random(const Flow& flow) {
  const auto host = Kokkos::create_mirror_view(flow.fields);
  for (int f = 0; f < 4; ++f)
    for (int row = 1; row <= flow.rows(); ++row)
      for (int i = 0; i < flow.nx(); ++i) {
        const int k = flow.slab.first + row - 1;
        const bool wall = (f == field_w && k == 0) || (f == field_u && i == 0 && !flow.slab.grid.periodic);
        host(f, row, margin + i) = wall ? 0.0 : Random4(3, Stream::test, k * 1000 + i, f).normal(0);
      }
  Kokkos::deep_copy(flow.fields, host);
}

}  // namespace

TEST_CASE("strips cover all packs, and threads have equally many of them") {
  for (int threads = 1; threads <= 9; ++threads)
    for (int packs = 1; packs <= 300; ++packs) {
      INFO(packs << " packs, " << threads << " threads");
      const Strips strips = Strips::of(packs, threads);
      REQUIRE(strips.begin(0) == 0);
      REQUIRE(strips.begin(strips.count) == packs);
      for (int s = 0; s < strips.count; ++s) {
        const int width = strips.begin(s + 1) - strips.begin(s);
        REQUIRE((width >= 1 && width <= strip));
      }
      // A thread's strips follow each other.
      const auto border = [&](int t) { return strips.begin(strips.count * t / threads); };
      for (int t = 0; t < threads; ++t) REQUIRE(border(t + 1) - border(t) <= (packs + threads - 1) / threads);
    }
  if (device_is_host) {
    const AsIfThreads two(2);
    REQUIRE(Strips::of_columns(8, 8 + 33 * lanes).count == 6);
  }
}

TEST_CASE("threads give the flow of one thread, bit for bit") {
  const Comm comm(MPI_COMM_WORLD);
  const auto flow_on = [&](int threads, bool periodic) {
    const AsIfThreads as_if(threads);
    const Slab slab = Slab::make(Grid::make(150, 24, 2.0, 1.0, 1.5, periodic), comm.rank(), comm.size());
    Stepper stepper(comm, slab, some_fluid(0.1));
    fill_random(stepper.flow());
    stepper.fill_ghosts();
    stepper.start();
    for (int step = 0; step < 3; ++step) stepper.step(1e-4);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), stepper.flow().fields);
    return std::vector<double>(host.data(), host.data() + host.size());
  };
  for (const bool periodic : {true, false})
    for (const int threads : {2, 3, 5}) REQUIRE(flow_on(threads, periodic) == flow_on(1, periodic));
}

TEST_CASE("projection leaves no divergence") {
  const Comm comm(MPI_COMM_WORLD);
  for (const bool periodic : {true, false})
    for (const auto& [nx, nz] : {std::pair{16, 8}, {30, 17}, {64, 33}, {100, 48}}) {
      const Slab slab = Slab::make(Grid::make(nx, nz, 2.0, 1.0, 1.5, periodic), comm.rank(), comm.size());
      Stepper stepper(comm, slab, some_fluid(0.1));
      fill_random(stepper.flow());
      stepper.fill_ghosts();
      const double before = comm.max(largest_divergence(stepper.flow()));
      stepper.start();
      INFO("periodic " << periodic << ", cells " << nx << " x " << nz << ", ranks " << comm.size());
      CHECK(comm.max(largest_divergence(stepper.flow())) < 1e-12 * before);
    }
}

TEST_CASE("advection does no work and creates no variance") {
  const Comm comm(MPI_COMM_WORLD);
  const Slab slab = Slab::make(Grid::make(24, 20, 2.0, 1.0, 1.5, true), comm.rank(), comm.size());
  Fluid fluid = some_fluid(0.0);
  fluid.bottom = fluid.top = 0.0;
  Stepper stepper(comm, slab, fluid);
  fill_random(stepper.flow());
  stepper.fill_ghosts();
  stepper.start();
  Fields h("h", 3, slab.rows + 2, pitch_of(24)), r("r", 3, slab.rows + 2, pitch_of(24));
  explicit_terms(stepper.flow(), stages[0], 1.0, h, r, 1, stepper.flow().rows() + 1);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), stepper.flow().fields);
  const auto t = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
  double work = 0.0, variance = 0.0, size = 0.0;
  for (int row = 1; row <= slab.rows; ++row)
    for (int i = margin; i < margin + 24; ++i) {
      const int k = slab.first + row - 1;
      const double cell = slab.grid.height(k), face = slab.grid.between(k);
      const double buoyancy = 0.5 * (f(field_b, row - 1, i) + f(field_b, row, i));
      const double lift = k == 0 ? 0.0 : t(field_w, row, i) - buoyancy;
      work += f(field_u, row, i) * t(field_u, row, i) * cell + f(field_w, row, i) * lift * face;
      variance += f(field_b, row, i) * t(field_b, row, i) * cell;
      size += std::fabs(f(field_u, row, i) * t(field_u, row, i) * cell);
    }
  size = comm.sum(size);
  CHECK(std::fabs(comm.sum(work)) < 1e-12 * size);
  CHECK(std::fabs(comm.sum(variance)) < 1e-12 * size);
}

TEST_CASE("explicit terms converge to the derivatives that they stand for") {
  // Stream function sin(x) cos(z)-like fields away from the plates; every term of H has its own sign and factor here.
  auto worst = [](int n) {
    const Comm comm(MPI_COMM_SELF);
    const double kx = 2.0 * M_PI / 2.0, kz = M_PI, nu = 0.3;
    const Slab slab = Slab::make(Grid::make(n, n, 2.0, 1.0, 1.0, true), 0, 1);
    Fluid fluid = some_fluid(nu);
    fluid.diffusivity = 0.7;
    Stepper stepper(comm, slab, fluid);
    auto u = [=](double x, double z) { return std::cos(kx * x) * std::cos(kz * z); };
    auto w = [=](double x, double z) { return kx / kz * std::sin(kx * x) * std::sin(kz * z); };
    auto b = [=](double x, double z) { return std::sin(kx * x + 0.3) * std::exp(z); };
    const auto host = Kokkos::create_mirror_view(stepper.flow().fields);
    const Grid& g = slab.grid;
    for (int k = -1; k <= n; ++k)
      for (int i = 0; i < n; ++i) {
        const double x = (i + 0.5) * g.dx(), left = i * g.dx();
        const double z = k < 0 ? -g.center(0) : k == n ? 2.0 - g.center(n - 1) : g.center(k);
        const double low = k < 0 ? -g.height(0) : k == n ? 1.0 : g.face[k];
        host(field_u, k + 1, margin + i) = u(left, z);
        host(field_w, k + 1, margin + i) = w(x, low);
        host(field_b, k + 1, margin + i) = b(x, z);
      }
    Kokkos::deep_copy(stepper.flow().fields, host);
    for (int f = 0; f < 3; ++f) fill_columns(stepper.flow().field(f), g, 0, n + 2, 0, 0, 0);
    Fields h("h", 3, n + 2, pitch_of(n)), r("r", 3, n + 2, pitch_of(n));
    explicit_terms(stepper.flow(), stages[0], 1.0, h, r, 1, stepper.flow().rows() + 1);
    const auto t = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
    double error = 0.0, size = 0.0;
    for (int k = 1; k < n - 1; ++k)
      for (int i = 0; i < n; ++i) {
        const double xc = (i + 0.5) * g.dx(), xf = i * g.dx(), zc = g.center(k), zf = g.face[k];
        auto gradient = [](auto f, double x, double z) {
          const double d = 1e-5;
          return std::pair{(f(x + d, z) - f(x - d, z)) / (2 * d), (f(x, z + d) - f(x, z - d)) / (2 * d)};
        };
        auto advect = [&](auto f, double x, double z) {
          const auto [dx, dz] = gradient(f, x, z);
          return -(u(x, z) * dx + w(x, z) * dz);
        };
        const double hu = advect(u, xf, zc) - nu * kx * kx * u(xf, zc);
        const double hw = advect(w, xc, zf) - nu * kx * kx * w(xc, zf) + b(xc, zf);
        const double hb = advect(b, xc, zc) - 0.7 * kx * kx * b(xc, zc);
        size = std::max({size, std::fabs(hu), std::fabs(hw), std::fabs(hb)});
        error =
            std::max({error, std::fabs(t(field_u, k + 1, margin + i) - hu),
                      std::fabs(t(field_w, k + 1, margin + i) - hw), std::fabs(t(field_b, k + 1, margin + i) - hb)});
      }
    return error / size;
  };
  const double coarse = worst(32), fine = worst(64);
  CHECK(fine < std::pow(M_PI * 2.0 / 64, 2));  // (k dx)^2
  CHECK(std::log2(coarse / fine) > 1.8);
}
