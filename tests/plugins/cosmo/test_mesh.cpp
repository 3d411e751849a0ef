// Transforms of a cube, derivatives, inverse Laplacians; clouds keep their mass; counted power.
#include <cmath>
#include <complex>

#include "plugins/cosmo/gravity/clouds.hpp"
#include "plugins/cosmo/gravity/spectrum.hpp"
#include "tests/plugins/cosmo/cosmo_case.hpp"

using namespace cambium;
using namespace cambium::cosmo;
using namespace cambium::cosmo::test;

namespace {

std::vector<double> host_of(const View<double*>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.size()};
}

double farthest(const View<double*>& a, const View<double*>& b) {
  const auto x = host_of(a), y = host_of(b);
  double out = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) out = std::max(out, std::abs(x[i] - y[i]));
  return out;
}

View<double**> places(const std::vector<double>& values) {
  View<double**> out("places", values.size() / 3, 3);
  const auto host = Kokkos::create_mirror_view(out);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(out, host);
  return out;
}

double noise(int i) { return std::fmod(std::abs(std::sin(12.9898 * i + 4.1414) * 43758.5453), 1.0); }

}  // namespace

TEST_CASE("a cube comes back from its waves, and a wave is where it belongs") {
  for (const int n : {8, 12, 10}) {
    const BoxWaves box(n, 3.0);
    const View<double*> waves("waves", box.waves()), back("back", box.values());
    int at = 0;
    const auto field = on_mesh(n, [&](double, double, double) { return noise(at++) - 0.5; });
    box.forward(field, waves);
    box.backward(waves, back);
    CHECK(farthest(field, back) < 1e-14);
  }
  const int n = 8, c = n + 2, half = n / 2;
  const BoxWaves box(n, 1.0);
  const View<double*> waves("waves", box.waves());
  // cos(2 pi x) sin(2 pi 2 y) cos(2 pi 3 z): mode 1 of x with cosines, 2 of y with sines, 3 of z with cosines
  box.forward(on_mesh(n, [](double x, double y,
                            double z) { return std::cos(2 * pi * x) * std::sin(4 * pi * y) * std::cos(6 * pi * z); }),
              waves);
  const auto values = host_of(waves);
  const int here = ((half + 1 + 2) * c + 3) * c + 1;
  for (int i = 0; i < std::ssize(values); ++i)
    CHECK(values[i] == Approx(i == here ? -n * n * n / 8.0 : 0.0).margin(1e-12));
}

TEST_CASE("derivatives along each axis and the inverse Laplacian of products of waves") {
  const int n = 12;
  const double edge = 2.5, u = 2 * pi / edge;
  const BoxWaves box(n, edge);
  const View<double*> waves("waves", box.waves()), changed("changed", box.waves()), back("back", box.values());
  const auto f = [](double x, double y, double z) {
    return std::sin(2 * pi * (x + 0.1)) * std::cos(4 * pi * (y - 0.2)) * std::sin(6 * pi * (z + 0.05));
  };
  box.forward(on_mesh(n, f), waves);
  for (int axis = 0; axis < 3; ++axis) {
    box.derivative(waves, axis, changed);
    box.backward(changed, back);
    const auto exact = on_mesh(n, [&](double x, double y, double z) {
      const double a = 2 * pi * (x + 0.1), b = 4 * pi * (y - 0.2), c = 6 * pi * (z + 0.05);
      if (axis == 0) return u * std::cos(a) * std::cos(b) * std::sin(c);
      if (axis == 1) return -2 * u * std::sin(a) * std::sin(b) * std::sin(c);
      return 3 * u * std::sin(a) * std::cos(b) * std::cos(c);
    });
    INFO("axis " << axis);
    CHECK(farthest(back, exact) < 1e-13);
  }
  const View<double*> other("other", box.waves()), field("field", box.values());
  const double x = 4 * pi / n;  // differences of mode 2 along y
  box.difference(waves, 1, changed);
  box.derivative(waves, 1, other);
  box.backward(changed, back);
  box.backward(other, field);
  const auto plain = host_of(field), differences = host_of(back);
  for (std::size_t i = 0; i < plain.size(); ++i)
    CHECK(differences[i] == Approx((8 * std::sin(x) - std::sin(2 * x)) / (6 * x) * plain[i]).margin(1e-13));
  box.inverse_laplacian(waves, 2.0);
  box.backward(waves, back);
  const double square = u * u * (1 + 4 + 9);
  CHECK(farthest(back, on_mesh(n, [&](double x, double y, double z) { return -2.0 / square * f(x, y, z); })) < 1e-14);
}

TEST_CASE("clouds keep mass exactly, wherever they are") {
  const Comm comm(MPI_COMM_SELF);
  const int n = 6;
  const double box = 7.3;
  std::vector<double> at;
  for (int i = 0; i < 3000; ++i) at.push_back(box * noise(i));
  for (const double x : {0.0, box / n, std::nextafter(box, 0.0), 0.5 * box / n, 5.5 * box / n, 1e-300})
    at.insert(at.end(), {x, x, 0.0});
  const View<std::int64_t*> mass("mass", n * n * n);
  for (const auto clouds : {Clouds::cloud_in_cell, Clouds::triangular}) {
    assign_clouds(clouds, places(at), box, n, mass, comm);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mass);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < host.extent(0); ++i) sum += host(i);
    CHECK(sum == 1006 * whole_particle);
  }
}

TEST_CASE("a triangular cloud is shared by parabolas, and keeps place and square") {
  for (const double place : {2.0, 2.3, 2.5, 1.7}) {
    const AxisWeights<3> w(place);
    double mass = 0.0, mean = 0.0, square = 0.0;
    for (int j = 0; j < 3; ++j) {
      mass += w.weight[j];
      mean += w.weight[j] * (w.low + j);
      square += w.weight[j] * std::pow(w.low + j - place, 2);
    }
    CHECK(mass == Approx(1.0).epsilon(1e-15));
    CHECK(mean == Approx(place).epsilon(1e-15));
    CHECK(square == Approx(0.25).epsilon(1e-14));  // wherever it is, unlike that of a cloud in a cell
  }
}

TEST_CASE("a cloud is shared by distance, and a linear field comes back from the mesh") {
  const Comm comm(MPI_COMM_SELF);
  const int n = 4;
  const View<std::int64_t*> mass("mass", n * n * n);
  assign_clouds(Clouds::cloud_in_cell, places({3.25, 1.5, 0.0}), 4.0, n, mass,
                comm);  // x: cells 3 and 0, y: 1 and 2, z: 0
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mass);
  const auto part = [&](int x, int y, int z) {
    return static_cast<double>(host((x * n + y) * n + z)) / whole_particle;
  };
  CHECK(part(3, 1, 0) == 0.375);
  CHECK(part(3, 2, 0) == 0.375);
  CHECK(part(0, 1, 0) == 0.125);
  CHECK(part(0, 2, 0) == 0.125);
  const auto field = on_mesh(n, [](double x, double y, double z) { return 4 * x + 40 * y + 400 * z; });
  const auto mirrored = on_mesh(n, [](double x, double y, double z) { return -4 * x - 40 * y - 400 * z; });
  const View<double**> out("out", 1, 3);
  for (const auto clouds : {Clouds::cloud_in_cell, Clouds::triangular}) {
    interpolate(clouds, {{field, mirrored, field}}, n, places({2.25, 1.5, 1.125}), 4.0, out);
    CHECK(numbers(out)[0] == Approx(2.25 + 15.0 + 112.5).epsilon(1e-10));
    CHECK(numbers(out)[1] == -numbers(out)[2]);
  }
}

TEST_CASE("every wave is counted once, and power is that of a sum over all of them") {
  const int n = 10;
  const double edge = 5.0;
  const BoxWaves box(n, edge);
  std::vector<double> count(n / 2, 0.0), mean(n / 2, 0.0);
  for (int x = -n / 2 + 1; x <= n / 2; ++x)
    for (int y = -n / 2 + 1; y <= n / 2; ++y)
      for (int z = -n / 2 + 1; z <= n / 2; ++z) {
        const double k = std::sqrt(1.0 * x * x + y * y + z * z);
        const int bin = static_cast<int>(k + 0.5);
        if (bin >= 1 && bin <= n / 2) {
          count[bin - 1] += 1.0;
          mean[bin - 1] += 2 * pi / edge * k;
        }
      }
  const auto bins = bins_of(box);
  for (int b = 0; b < n / 2; ++b) {
    CHECK(bins.modes[b] == count[b]);
    CHECK(bins.k[b] == Approx(mean[b] / count[b]).epsilon(1e-13));
  }
  int at = 0;
  const auto field = on_mesh(n, [&](double, double, double) { return noise(at++) - 0.5; });
  const auto values = host_of(field);
  const View<double*> waves("waves", box.waves());
  box.forward(field, waves);
  const auto power = cross_power(box, waves, waves);
  double sum = 0.0;  // of bin 1 by its definition
  for (int x = -1; x <= 1; ++x)
    for (int y = -1; y <= 1; ++y)
      for (int z = -1; z <= 1; ++z) {
        if (x * x + y * y + z * z < 1 || x * x + y * y + z * z > 2) continue;
        std::complex<double> f = 0.0;
        for (int i = 0; i < n * n * n; ++i)
          f += values[i] * std::polar(1.0, -2 * pi / n * (x * (i / n / n) + y * (i / n % n) + z * (i % n)));
        sum += std::norm(f);
      }
  CHECK(power[0] == Approx(sum / count[0] * std::pow(edge, 3) / 1e6).epsilon(1e-12));
}
