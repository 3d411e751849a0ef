#include "plugins/md/coulomb/particle_mesh.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "core/pair/lanes.hpp"
#include "core/parallel/sums.hpp"
#include "plugins/md/coulomb/splines.hpp"

namespace cambium::md {

namespace {

using constants::pi;

/// Mesh points and weights of an atom's splines in the brick of its rank.
template <int order>
struct MeshPlace {
  int at[3][order];  ///< points along each axis
  double value[3][order], slope[3][order];

  CAMBIUM_FN MeshPlace(const Box& box, const int* points, const MeshBrick& brick, const double* x) {
    double s[3];
    box.to_fractional(x, s);
    for (int d = 0; d < 3; ++d) {
      double u;
      const int first = first_point(s[d], points[d], u);
      const Splines<order> splines(u - first);
      for (int j = 0; j < order; ++j) {
        at[d][j] = brick.local(d, first - j, points[d]);
        value[d][j] = splines.value[j];
        slope[d][j] = splines.slope[j];
      }
    }
  }
};

/// 1 / |sum_j M_order(j + 1) exp(2 pi i m j / n)|^2 of modes m = 0 .. n/2.
std::vector<double> spline_factors(int n, int order) {
  std::vector<double> at_points(order + 1, 0.0);  // M(j) by the recursion, from M_2(1) = 1
  at_points[1] = 1.0;
  for (int p = 3; p <= order; ++p)
    for (int j = p - 1; j > 0; --j) at_points[j] = (j * at_points[j] + (p - j) * at_points[j - 1]) / (p - 1);
  std::vector<double> out;
  for (int m = 0; m <= n / 2; ++m) {
    std::complex<double> sum = 0.0;
    for (int j = 0; j < order - 1; ++j) sum += at_points[j + 1] * std::polar(1.0, 2.0 * pi * m * j / n);
    out.push_back(1.0 / std::norm(sum));
  }
  return out;
}

View<double*> on_device(const std::vector<double>& values) {
  View<double*> out("coulomb: splines", values.size());
  const auto host = Kokkos::create_mirror_view(out);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(out, host);
  return out;
}

/// Numbers of own modes on the half axes, x fastest, and the first mode of y.
struct Modes {
  int x, y, z, first_y;
  explicit Modes(const MeshWaves& waves)
      : x(waves.points()[0] / 2 + 1), y(waves.modes()), z(waves.points()[2] / 2 + 1), first_y(waves.first_mode()) {}
  int count() const { return x * y * z; }
};

bool same(const Box& a, const Box& b) { return std::memcmp(a.h, b.h, sizeof a.h) == 0; }

}  // namespace

void ParticleMesh::prepare(const Box& box, double alpha, const std::array<int, 3>& points, int order,
                           const Comm& comm) {
  const bool mesh = waves_ && waves_->points() == points;
  const bool green = mesh && order == order_ && alpha == alpha_ && same(box, box_);
  box_ = box;
  if (green) return;
  reciprocal_ = Reciprocal(box);
  alpha_ = alpha;
  order_ = order;
  if (!mesh) {
    waves_.emplace(points, comm);
    slab_ = View<double*>("coulomb: slab", waves_->values());
    patch_values_ = comm.size() == 1 ? slab_ : View<double*>();
    charge_waves_ = View<double*>("coulomb: waves of charges", waves_->waves());
    potential_waves_ = View<double*>("coulomb: waves of potential", waves_->waves());
    green_ = View<double* [4]>("coulomb: green", Modes(*waves_).count());
  }
  tabulate_green();
}

std::int64_t ParticleMesh::bytes() const {
  if (!waves_) return 0;
  const std::size_t values = slab_.extent(0) + charge_waves_.extent(0) + potential_waves_.extent(0) +
                             4 * green_.extent(0) +
                             (slab_.data() == patch_values_.data() ? 0 : patch_values_.extent(0));
  return static_cast<std::int64_t>(values * sizeof(double)) + waves_->bytes();
}

void ParticleMesh::tabulate_green() {
  const auto n = waves_->points();
  const auto bx = on_device(spline_factors(n[0], order_)), by = on_device(spline_factors(n[1], order_)),
             bz = on_device(spline_factors(n[2], order_));
  const Modes modes(*waves_);
  const auto green = green_;
  const auto reciprocal = reciprocal_;
  const double exponent = -0.25 / (alpha_ * alpha_);
  const double front = constants::coulomb * 4.0 * pi / box_.volume() * static_cast<double>(waves_->all_values());
  Kokkos::parallel_for(
      "coulomb: green", Range(0, modes.count()), KOKKOS_LAMBDA(int at) {
        const int x = at % modes.x, z = at / modes.x % modes.z, y = modes.first_y + at / modes.x / modes.z;
        const bool mean = x == 0 && y == 0 && z == 0;
        for (int signs = 0; signs < 4; ++signs) {
          double k[3];
          const double square = reciprocal.wave(signs & 1 ? -x : x, signs & 2 ? -y : y, z, k);
          const double shape = front * bx(x) * by(y) * bz(z);
          green(at, signs) = mean ? 0.0 : shape * std::exp(exponent * square) / square;
        }
      });
}

template <int order>
void ParticleMesh::spread(const Particles& particles, const View<const double*>& charge) {
  const auto x = particles.x;
  const auto box = particles.box;
  const auto values = patch_values_;
  const MeshBrick brick = patch_.brick();
  const auto n = waves_->points();
  const int nx = n[0], ny = n[1], nz = n[2];
  Kokkos::deep_copy(values, 0.0);
  Kokkos::parallel_for(
      "coulomb: spread", Range(0, particles.nlocal), KOKKOS_LAMBDA(int i) {
        const int points[3] = {nx, ny, nz};
        const MeshPlace<order> place(box, points, brick, &x(i, 0));
        for (int a = 0; a < order; ++a)
          for (int b = 0; b < order; ++b) {
            const double weight = charge(i) * place.value[0][a] * place.value[1][b];
            double* row =
                &values((static_cast<std::int64_t>(place.at[0][a]) * brick.count[1] + place.at[1][b]) * brick.count[2]);
            for (int c = 0; c < order; ++c) add_to(row + place.at[2][c], weight * place.value[2][c]);
          }
      });
}

template <int order>
void ParticleMesh::gather(const Particles& particles, const View<const double*>& charge, bool per_atom,
                          ForceOutput& out) {
  const auto x = particles.x;
  const auto f = out.f;
  const auto atom_energy = out.atom_energy;
  const auto box = particles.box;
  const auto reciprocal = reciprocal_;
  const View<const double*> values = patch_values_;
  const MeshBrick brick = patch_.brick();
  const auto n = waves_->points();
  const int nx = n[0], ny = n[1], nz = n[2];
  double energy = 0.0;
  Kokkos::parallel_reduce(
      "coulomb: gather", Range(0, particles.nlocal),
      KOKKOS_LAMBDA(int i, double& sum) {
        const int points[3] = {nx, ny, nz};
        const MeshPlace<order> place(box, points, brick, &x(i, 0));
        double potential = 0.0, by[3] = {0.0, 0.0, 0.0};
        for (int a = 0; a < order; ++a)
          for (int b = 0; b < order; ++b) {
            const double* row =
                &values((static_cast<std::int64_t>(place.at[0][a]) * brick.count[1] + place.at[1][b]) * brick.count[2]);
            double value = 0.0, slope = 0.0;
            for (int c = 0; c < order; ++c) {
              value += place.value[2][c] * row[place.at[2][c]];
              slope += place.slope[2][c] * row[place.at[2][c]];
            }
            const double weight = place.value[0][a] * place.value[1][b];
            potential += weight * value;
            by[0] += place.slope[0][a] * place.value[1][b] * value;
            by[1] += place.value[0][a] * place.slope[1][b] * value;
            by[2] += weight * slope;
          }
        for (int k = 0; k < 3; ++k)
          f(i, k) -= charge(i) * (nx * by[0] * reciprocal.g[0][k] + ny * by[1] * reciprocal.g[1][k] +
                                  nz * by[2] * reciprocal.g[2][k]);
        const double own = 0.5 * charge(i) * potential;
        sum += own;
        if (per_atom) atom_energy(i) += own;
      },
      energy);
  out.energy += energy;
}

template <int order>
void ParticleMesh::gather_virial(const Particles& particles, const View<const double*>& charge, int a, int b,
                                 ForceOutput& out) {
  const auto x = particles.x;
  const auto atom_virial = out.atom_virial;
  const auto box = particles.box;
  const View<const double*> values = patch_values_;
  const MeshBrick brick = patch_.brick();
  const auto n = waves_->points();
  const int nx = n[0], ny = n[1], nz = n[2];
  Kokkos::parallel_for(
      "coulomb: gather virial", Range(0, particles.nlocal), KOKKOS_LAMBDA(int i) {
        const int points[3] = {nx, ny, nz};
        const MeshPlace<order> place(box, points, brick, &x(i, 0));
        double sum = 0.0;
        for (int p = 0; p < order; ++p)
          for (int q = 0; q < order; ++q) {
            const double* row =
                &values((static_cast<std::int64_t>(place.at[0][p]) * brick.count[1] + place.at[1][q]) * brick.count[2]);
            for (int r = 0; r < order; ++r)
              sum += place.value[0][p] * place.value[1][q] * place.value[2][r] * row[place.at[2][r]];
          }
        atom_virial(i, 3 * a + b) += 0.5 * charge(i) * sum;
        if (a != b) atom_virial(i, 3 * b + a) += 0.5 * charge(i) * sum;
      });
}

namespace {

/// The eight products of cosines and sines of modes (x, y, z), viewed as complex waves for four pairs of signs.
struct EightWaves {
  std::int64_t at[2][2][2];  ///< by x, y, z: 0 cosine, 1 sine
  double t[2][2][2];

  /// `y` counts the `modes` own modes.
  CAMBIUM_FN EightWaves(const double* waves, int x, int y, int z, int nx, int modes, int nz) {
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        for (int c = 0; c < 2; ++c) {
          const std::int64_t row = static_cast<std::int64_t>(y + b * modes) * (nz + 2) + z + c * (nz / 2 + 1);
          at[a][b][c] = row * (nx + 2) + x + a * (nx / 2 + 1);
          t[a][b][c] = waves[at[a][b][c]];
        }
  }
  /// Complex wave for signs sx, sy and a positive z.
  CAMBIUM_FN void wave(double sx, double sy, double& re, double& im) const {
    re = t[0][0][0] - sx * sy * t[1][1][0] - sx * t[1][0][1] - sy * t[0][1][1];
    im = sx * t[1][0][0] + sy * t[0][1][0] + t[0][0][1] - sx * sy * t[1][1][1];
  }
  CAMBIUM_FN void clear() {
    for (int k = 0; k < 8; ++k) t[k / 4][k / 2 % 2][k % 2] = 0.0;
  }
  CAMBIUM_FN void add(double sx, double sy, double re, double im) {
    t[0][0][0] += 0.25 * re;
    t[1][1][0] -= 0.25 * sx * sy * re;
    t[1][0][1] -= 0.25 * sx * re;
    t[0][1][1] -= 0.25 * sy * re;
    t[1][0][0] += 0.25 * sx * im;
    t[0][1][0] += 0.25 * sy * im;
    t[0][0][1] += 0.25 * im;
    t[1][1][1] -= 0.25 * sx * sy * im;
  }
  CAMBIUM_FN void store(double* waves) const {
    for (int k = 0; k < 8; ++k) waves[at[k / 4][k / 2 % 2][k % 2]] = t[k / 4][k / 2 % 2][k % 2];
  }
};

CAMBIUM_FN bool single(int mode, int n) { return mode == 0 || mode == n / 2; }

}  // namespace

/// Waves of the potential (component -1), or of the potential of a component of the virial; if not null, `virial`
/// receives the six sums over modes.
template <int component>
void ParticleMesh::multiply(const View<const double*>& from, const View<double*>& to, double* virial) const {
  const auto n = waves_->points();
  const int nx = n[0], ny = n[1], nz = n[2];
  const Modes modes(*waves_);
  const auto green = green_;
  const auto reciprocal = reciprocal_;
  const double alpha = alpha_, per_point = 0.5 / static_cast<double>(waves_->all_values());
  const bool sums = virial != nullptr;
  Sums<6> all;
  Kokkos::parallel_reduce(
      "coulomb: modes", Range(0, modes.count()),
      KOKKOS_LAMBDA(int at, Sums<6>& sum) {
        const int x = at % modes.x, z = at / modes.x % modes.z, own_y = at / modes.x / modes.z;
        const int y = modes.first_y + own_y;
        const bool mean = x == 0 && y == 0 && z == 0;
        EightWaves eight(from.data(), x, own_y, z, nx, modes.y, nz);
        EightWaves changed = eight;
        changed.clear();
        const double weight =
            per_point * 0.25 * (single(x, nx) ? 1.0 : 2.0) * (single(y, ny) ? 1.0 : 2.0) * (single(z, nz) ? 1.0 : 2.0);
        for (int signs = 0; signs < 4; ++signs) {
          const double sx = signs & 1 ? -1.0 : 1.0, sy = signs & 2 ? -1.0 : 1.0;
          double re, im, k[3];
          eight.wave(sx, sy, re, im);
          double factor = green(at, signs);
          const double square = reciprocal.wave(sx * x, sy * y, z, k);
          if (sums && !mean)
            for (int c = 0; c < 6; ++c)
              sum.v[c] += weight * factor * (re * re + im * im) * wave_virial(c, k, square, alpha);
          if (component >= 0 && !mean) factor *= wave_virial(component, k, square, alpha);
          changed.add(sx, sy, factor * re, factor * im);
        }
        changed.store(to.data());
      },
      Kokkos::Sum<Sums<6>>(all));
  for (int c = 0; sums && c < 6; ++c) virial[c] += all.v[c];
}

void ParticleMesh::find_patch(const Particles& particles, const Comm& comm) {
  patch_.place(particles, waves_->points(), order_, comm);
  if (comm.size() > 1 && static_cast<std::int64_t>(patch_values_.extent(0)) < patch_.brick().points())
    patch_values_ = View<double*>("coulomb: patch", patch_.brick().points());
}

/// The potential at the points of the patch, from its waves.
void ParticleMesh::to_patch(const Comm& comm) {
  waves_->backward(potential_waves_, slab_, comm);
  if (comm.size() > 1) patch_.fetch(slab_, *waves_, patch_values_, comm);
}

template <int order>
void ParticleMesh::run(const Particles& particles, const View<const double*>& charge, const ForceRequest& request,
                       ForceOutput& out, const Comm& comm) {
  find_patch(particles, comm);
  spread<order>(particles, charge);
  if (comm.size() > 1) patch_.add_up(patch_values_, *waves_, slab_, comm);
  waves_->forward(slab_, charge_waves_, comm);
  double virial[6] = {};
  multiply<-1>(charge_waves_, potential_waves_, request.totals || request.per_atom ? virial : nullptr);
  add_symmetric(out.virial, virial);
  to_patch(comm);
  gather<order>(particles, charge, request.per_atom, out);
  if (!request.per_atom) return;
  const auto component = [&]<int c>(int a, int b) {
    multiply<c>(charge_waves_, potential_waves_, nullptr);
    to_patch(comm);
    gather_virial<order>(particles, charge, a, b, out);
  };
  component.template operator()<0>(0, 0);
  component.template operator()<1>(1, 1);
  component.template operator()<2>(2, 2);
  component.template operator()<3>(0, 1);
  component.template operator()<4>(0, 2);
  component.template operator()<5>(1, 2);
}

void ParticleMesh::compute(const Particles& particles, const View<const double*>& charge, const ForceRequest& request,
                           ForceOutput& out, const Comm& comm) {
  switch (order_) {
    case 4:
      return run<4>(particles, charge, request, out, comm);
    case 6:
      return run<6>(particles, charge, request, out, comm);
    case 8:
      return run<8>(particles, charge, request, out, comm);
    case 10:
      return run<10>(particles, charge, request, out, comm);
    default:
      return run<12>(particles, charge, request, out, comm);
  }
}

}  // namespace cambium::md
