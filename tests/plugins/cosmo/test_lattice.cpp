// A lattice of particles under the forces of a mesh, judged by exact forces: lattice sums of all pairs and their
// images.
#include <array>
#include <complex>

#include "plugins/cosmo/gravity/clouds.hpp"
#include "plugins/cosmo/gravity/lagrangian.hpp"
#include "plugins/cosmo/gravity/time_steps.hpp"
#include "tests/plugins/cosmo/cosmo_case.hpp"

using namespace cambium;
using namespace cambium::cosmo;
using namespace cambium::cosmo::test;

namespace {

constexpr int n = 8;  ///< particles along an edge, of which each is n
using Vector = std::array<double, 3>;

/// P. Ewald, Ann. Phys. 369, 253 (1921): -grad phi at each particle of a periodic box of edge n, laplacian phi = delta.
/// Screened pairs are taken at their nearest image, which leaves out less than 1e-8 of the force of a neighbour.
std::vector<Vector> ewald(const std::vector<Vector>& x, const std::vector<std::pair<Vector, double>>& waves) {
  const double screen = 8.0 / n;
  std::vector<Vector> f(x.size(), Vector{});
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vector r;
      for (int d = 0; d < 3; ++d) r[d] = x[i][d] - x[j][d] - n * std::round((x[i][d] - x[j][d]) / n);
      const double s = std::hypot(r[0], r[1], r[2]), y = screen * s;
      if (y > 5.0) continue;
      const double size = (std::erfc(y) / s + 2.0 * screen / std::sqrt(pi) * std::exp(-y * y)) / (4.0 * pi * s * s);
      for (int d = 0; d < 3; ++d) {
        f[i][d] -= size * r[d];
        f[j][d] += size * r[d];
      }
    }
  std::vector<std::complex<double>> phase(x.size());
  for (const auto& [k, weight] : waves) {
    std::complex<double> sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      phase[i] = std::polar(1.0, k[0] * x[i][0] + k[1] * x[i][1] + k[2] * x[i][2]);
      sum += std::conj(phase[i]);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double size = -2.0 * weight * (sum * phase[i]).imag();
      for (int d = 0; d < 3; ++d) f[i][d] += size * k[d];
    }
  }
  return f;
}

/// Half of the waves of the smooth part of the potential, with their weights over the particles.
std::vector<std::pair<Vector, double>> smooth_waves() {
  const double unit = 2.0 * pi / n, screen = 8.0 / n;
  std::vector<std::pair<Vector, double>> out;
  for (int x = 0; x <= 9; ++x)
    for (int y = -9; y <= 9; ++y)
      for (int z = -9; z <= 9; ++z) {
        if (x == 0 && (y < 0 || (y == 0 && z <= 0))) continue;
        const double square = unit * unit * (x * x + y * y + z * z), weight = std::exp(-square / (4 * screen * screen));
        if (weight > 1e-7) out.push_back({{unit * x, unit * y, unit * z}, weight / square / (n * n * n)});
      }
  return out;
}

const std::vector<std::array<int, 3>> modes{{1, 0, 0}, {2, 0, 0}, {1, 1, 1}, {2, 1, 0}, {2, 1, 1}, {0, 2, 2}};

/// Particles of a lattice with small displacements along waves, and forces on them: of a mesh, or exact ones.
struct Lattice {
  Comm comm{MPI_COMM_SELF};
  Expansion expansion{1.0};
  ParticleMesh matter;
  bool exact;
  std::vector<std::pair<Vector, double>> waves = smooth_waves();

  Lattice(int mesh, Clouds clouds, bool exact_forces)
      : matter(mesh, n, n * n * n, expansion, clouds, comm), exact(exact_forces) {
    matter.resize(n * n * n);
  }
  /// Displacements of all modes together, with a momentum that makes them grow with a.
  void place(double size, double a) {
    const BoxWaves lattice(n, n);
    const View<double*> density("density", lattice.waves());
    lattice.forward(on_mesh(n,
                            [&](double x, double y, double z) {
                              double sum = 0.0;
                              for (const auto& m : modes) sum += std::cos(2 * pi * (m[0] * x + m[1] * y + m[2] * z));
                              return size / a * sum;
                            }),
                    density);
    move_to(displacements(lattice, density, 1, 0, n * n * n), {expansion.growth(a), a, expansion.rate(a)}, lattice,
            matter.origin(), 0, matter.position, matter.momentum);
  }
  void forces() {
    if (!exact) return matter.forces();
    const auto x = numbers(matter.position);
    std::vector<Vector> places(x.size() / 3);
    for (std::size_t i = 0; i < x.size(); ++i) places[i / 3][i % 3] = x[i];
    const auto f = ewald(places, waves);
    const auto host = Kokkos::create_mirror_view(matter.force);
    for (std::size_t i = 0; i < x.size(); ++i) host.data()[i] = 1.5 * f[i / 3][i % 3];
    Kokkos::deep_copy(matter.force, host);
  }
  /// Of each mode: the part of `values` (displacements or forces) along it, over that of linear theory at `size`.
  std::vector<double> along_modes(const std::vector<double>& values, double size) const {
    std::vector<double> out;
    for (const auto& m : modes) {
      const double unit = 2.0 * pi / n;
      double sum = 0.0;
      for (int i = 0; i < n * n * n; ++i) {
        const double angle = unit * (m[0] * (i / n / n) + m[1] * (i / n % n) + m[2] * (i % n));
        sum -= std::sin(angle) * (m[0] * values[3 * i] + m[1] * values[3 * i + 1] + m[2] * values[3 * i + 2]);
      }
      out.push_back(sum * unit * 2.0 / (n * n * n) / size);
    }
    return out;
  }
  std::vector<double> displacement() const {
    auto x = numbers(matter.position);
    for (int i = 0; i < n * n * n; ++i) {
      const double site[3] = {1.0 * (i / n / n), 1.0 * (i / n % n), 1.0 * (i % n)};
      for (int d = 0; d < 3; ++d) {
        double& moved = x[3 * i + d];
        moved -= site[d] + matter.origin();
        moved -= n * std::round(moved / n);
      }
    }
    return x;
  }
};

std::vector<double> force_along_modes(int mesh, Clouds clouds, bool exact) {
  Lattice lattice(mesh, clouds, exact);
  lattice.place(1e-4, 1.0);
  lattice.forces();
  return lattice.along_modes(numbers(lattice.matter.force), 1.5e-4);
}

/// Power of each mode over linear theory when a has grown 25 times.
std::vector<double> grown_power(int mesh, Clouds clouds, bool exact) {
  const TimeSteps times{0.02, 0.5, 24};
  Lattice lattice(mesh, clouds, exact);
  lattice.place(1e-5, 0.02);
  lattice.forces();
  for (int s = 0; s < 24; ++s) {
    lattice.matter.kick(times.after(s), times.within(s));
    lattice.matter.drift(times.after(s), times.after(s + 1));
    lattice.forces();
    lattice.matter.kick(times.within(s), times.after(s + 1));
  }
  auto out = lattice.along_modes(lattice.displacement(), 25e-5);
  for (auto& p : out) p *= p;
  return out;
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]));
  return out;
}

std::string words(const std::vector<double>& values) {
  std::string out;
  for (const double v : values) out += fmt::format(" {:.3f}", v);
  return out;
}

}  // namespace

TEST_CASE("the forces of a mesh on a lattice of particles are those of its exact sums") {
  const auto exact = force_along_modes(n, Clouds::cloud_in_cell, true);
  for (const auto clouds : {Clouds::cloud_in_cell, Clouds::triangular})
    for (const int multiple : {2, 3, 4}) {
      const auto found = force_along_modes(multiple * n, clouds, false);
      INFO("order " << static_cast<int>(clouds) << ", " << multiple << " times as many cells:" << words(found)
                    << " exact:" << words(exact));
      CHECK(farthest(found, exact) < (clouds == Clouds::cloud_in_cell ? 0.07 : 0.1));
    }
}

TEST_CASE("waves of a lattice grow with a finer mesh as by exact forces") {
  const auto exact = grown_power(n, Clouds::cloud_in_cell, true);
  for (const auto clouds : {Clouds::cloud_in_cell, Clouds::triangular})
    for (const int multiple : {2, 4}) {
      const auto found = grown_power(multiple * n, clouds, false);
      INFO("order " << static_cast<int>(clouds) << ", " << multiple << " times as many cells:" << words(found)
                    << " exact:" << words(exact));
      for (std::size_t m = 0; m < modes.size(); ++m) CHECK(found[m] == Approx(exact[m]).epsilon(0.3));
    }
}

TEST_CASE("a lattice at rest feels no force where its mesh fits it") {
  for (const auto clouds : {Clouds::cloud_in_cell, Clouds::triangular})
    for (const int mesh : {n / 2, n, 2 * n, 3 * n}) {
      Lattice lattice(mesh, clouds, false);
      lattice.place(0.0, 1.0);
      lattice.forces();
      for (const double f : numbers(lattice.matter.force)) CHECK(std::abs(f) < 1e-9);
    }
}
