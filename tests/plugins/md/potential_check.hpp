#pragma once
#include <algorithm>
// What every potential must satisfy, whatever its formula.
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/plugin/potential.hpp"
#include "tests/catch.hpp"
#include "tests/periodic.hpp"

namespace cambium::test {

/// The switch of every truncated potential as documented, in r.
inline double smooth_step(double r, double start, double stop) {
  const double t = std::clamp((r * r - start * start) / (stop * stop - start * start), 0.0, 1.0);
  return 1.0 - t * t * t * (10.0 - 15.0 * t + 6.0 * t * t);
}

struct Evaluation {
  double energy = 0.0;
  std::array<double, 9> virial{};
  std::vector<Position> forces;
  std::vector<double> atom_energy;
  std::vector<std::array<double, 9>> atom_virial;
};

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

/// Energies and forces with the given list; sums of ghosts are brought home.
inline Evaluation evaluate(Potential& potential, PeriodicSystem& system, const NeighborList& list, World& world,
                           ForceRequest request = {true, true}) {
  const Particles& p = system.particles;
  ForceOutput out;
  Kokkos::deep_copy(p.f, 0.0);
  out.f = p.f;
  if (request.per_atom) {
    out.atom_energy = View<double*>("atom_energy", p.capacity());
    out.atom_virial = View<double* [9]>("atom_virial", p.capacity());
  }
  potential.compute(p, list, system, request, out, world.context);
  if (potential.writes_ghost_forces()) {
    system.reverse_add(out.f);
    if (request.per_atom) system.reverse_add(out.atom_virial);
  }
  Evaluation r;
  r.energy = out.energy;
  std::copy(out.virial, out.virial + 9, r.virial.begin());
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  for (int i = 0; i < p.nlocal; ++i) r.forces.push_back({f(i, 0), f(i, 1), f(i, 2)});
  if (!request.per_atom) return r;
  const auto e = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  const auto v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  for (int i = 0; i < p.nlocal; ++i) {
    r.atom_energy.push_back(e(i));
    auto& w = r.atom_virial.emplace_back();
    for (int k = 0; k < 9; ++k) w[k] = v(i, k);
  }
  return r;
}

/// A system and the potential that acts in it. `oracle` is a plain sum over pairs and triples of owned atoms and
/// explicit images: the energy of the whole system (eV).
struct PotentialCase {
  Box box;
  std::vector<Position> positions;
  std::vector<int> types;
  std::vector<Species> species;
  std::unique_ptr<Potential> potential;
  std::function<double(const PeriodicSystem&)> oracle;
  double skin = 0.5;
  double gradient_step = 1e-4;  ///< Å

  PeriodicSystem system() const { return system(box, positions, types); }
  PeriodicSystem system(const Box& b, const std::vector<Position>& x, const std::vector<int>& t) const {
    return {b, x, t, potential->cutoff() + skin, species};
  }
  Evaluation evaluate(PeriodicSystem& s, World& world, ForceRequest request = {true, true}) const {
    NeighborList list;
    build_neighbors(s.particles, potential->cutoff(), skin, list);
    return test::evaluate(*potential, s, list, world, request);
  }
};

/// Magnitude against which a force error is measured: the largest component.
inline double largest(const std::vector<Position>& forces) {
  double m = 1e-300;
  for (const auto& f : forces)
    for (double c : f) m = std::max(m, std::abs(c));
  return m;
}

inline void check_energy_against_oracle(const PotentialCase& c, World& world) {
  auto s = c.system();
  const double expected = c.oracle(s);
  CHECK(c.evaluate(s, world).energy == Approx(expected).epsilon(1e-12).margin(1e-11));
}

/// Fourth-order central differences of the energy along every coordinate.
inline void check_forces_are_gradient(const PotentialCase& c, World& world) {
  auto s = c.system();
  NeighborList list;
  build_neighbors(s.particles, c.potential->cutoff(), c.skin, list);
  const auto home = wrapped_positions(s);
  const Evaluation at = evaluate(*c.potential, s, list, world);
  const double h = c.gradient_step, scale = largest(at.forces);
  double worst = 0.0;
  for (std::size_t i = 0; i < home.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      auto energy = [&](double d) {
        auto moved = home;
        moved[i][k] += d;
        s.update(moved);
        return evaluate(*c.potential, s, list, world, {true, false}).energy;
      };
      const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
      worst = std::max(worst, std::abs(slope + at.forces[i][k]) / scale);
    }
  CHECK(worst < 1e-7);
  Position total{};
  for (const auto& f : at.forces)
    for (int k = 0; k < 3; ++k) total[k] += f[k];
  for (double t : total) CHECK(std::abs(t) < 1e-11 * scale * home.size());
}

/// W_ab = -dE/d(strain_ab), where strain takes r to r + e_a strain_ab r_b, ghosts and cell included.
inline void check_virial_is_strain_derivative(const PotentialCase& c, World& world) {
  auto s = c.system();
  NeighborList list;
  build_neighbors(s.particles, c.potential->cutoff(), c.skin, list);
  const Evaluation at = evaluate(*c.potential, s, list, world);
  const auto home = Kokkos::create_mirror(s.particles.x);
  Kokkos::deep_copy(home, s.particles.x);
  const Box box = s.particles.box;
  double scale = 1e-300;
  for (double w : at.virial) scale = std::max(scale, std::abs(w));
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      auto energy = [&](double strain) {
        auto x = Kokkos::create_mirror(s.particles.x);
        Kokkos::deep_copy(x, home);
        for (int i = 0; i < s.particles.total(); ++i) x(i, a) += strain * home(i, b);
        Kokkos::deep_copy(s.particles.x, x);
        s.particles.box = box;
        if (a == b)  // a shear leaves the volume, and the cell's lower-triangular form cannot hold it
          for (auto& row : s.particles.box.h) row[a] *= 1.0 + strain;
        return evaluate(*c.potential, s, list, world, {true, false}).energy;
      };
      const double h = 1e-4;
      const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
      INFO("component " << a << b);
      CHECK(std::abs(slope + at.virial[3 * a + b]) < 1e-6 * scale);
    }
}

inline void check_same(const Evaluation& a, const Evaluation& b, const std::vector<int>& order) {
  const double scale = largest(a.forces);
  CHECK(b.energy == Approx(a.energy).epsilon(1e-11).margin(1e-11));
  for (int k = 0; k < 9; ++k) CHECK(b.virial[k] == Approx(a.virial[k]).margin(1e-10 * scale * a.forces.size()));
  double worst = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (int k = 0; k < 3; ++k) worst = std::max(worst, std::abs(b.forces[i][k] - a.forces[order[i]][k]));
  CHECK(worst < 1e-10 * scale);
}

/// Translation, another choice of images, and another order of atoms change nothing.
inline void check_invariances(const PotentialCase& c, World& world) {
  auto s = c.system();
  const Evaluation at = c.evaluate(s, world);
  std::vector<int> order(c.positions.size());
  std::iota(order.begin(), order.end(), 0);
  auto translated = c.positions;
  for (auto& p : translated) {
    p[0] += 1.234;
    p[1] -= 0.777;
    p[2] += 17.1;
  }
  auto t = c.system(c.box, translated, c.types);
  check_same(at, c.evaluate(t, world), order);
  Box shifted = c.box;  // other images become the owned ones
  for (int k = 0; k < 3; ++k) shifted.origin[k] += 0.37 * c.box.h[k][k];
  auto u = c.system(shifted, c.positions, c.types);
  check_same(at, c.evaluate(u, world), order);
  std::reverse(order.begin(), order.end());
  auto positions = c.positions;
  auto types = c.types;
  std::reverse(positions.begin(), positions.end());
  std::reverse(types.begin(), types.end());
  auto r = c.system(c.box, positions, types);
  check_same(at, c.evaluate(r, world), order);
}

/// The atoms as a free cluster, turned about an oblique axis: same energy, turned forces.
inline void check_rotation(const PotentialCase& c, World& world) {
  const double q[3][3] = {{2. / 3, -1. / 3, 2. / 3}, {2. / 3, 2. / 3, -1. / 3}, {-1. / 3, 2. / 3, 2. / 3}};
  double size = 0.0;
  for (const auto& p : c.positions)
    for (double x : p) size = std::max(size, std::abs(x));
  const double edge = 4.0 * size + 2.0 * (c.potential->cutoff() + c.skin);
  Box open = Box::orthogonal(edge, edge, edge);
  for (double& o : open.origin) o = -0.5 * edge;
  std::vector<Position> turned;
  for (const auto& p : c.positions) {
    Position r{};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) r[a] += q[a][b] * p[b];
    turned.push_back(r);
  }
  auto s = c.system(open, c.positions, c.types), t = c.system(open, turned, c.types);
  const Evaluation x = c.evaluate(s, world), y = c.evaluate(t, world);
  CHECK(y.energy == Approx(x.energy).epsilon(1e-11));
  double worst = 0.0;
  for (std::size_t i = 0; i < turned.size(); ++i)
    for (int a = 0; a < 3; ++a) {
      double f = 0.0;
      for (int b = 0; b < 3; ++b) f += q[a][b] * x.forces[i][b];
      worst = std::max(worst, std::abs(f - y.forces[i][a]));
    }
  CHECK(worst < 1e-10 * largest(x.forces));
}

/// Per-atom outputs add up to the totals, and asking for less changes no force.
inline void check_outputs_agree(const PotentialCase& c, World& world) {
  auto s = c.system();
  const Evaluation all = c.evaluate(s, world), totals = c.evaluate(s, world, {true, false}),
                   forces = c.evaluate(s, world, {false, false});
  CHECK(std::accumulate(all.atom_energy.begin(), all.atom_energy.end(), 0.0) ==
        Approx(all.energy).epsilon(1e-12).margin(1e-12));
  double scale = 1e-12;
  for (double w : all.virial) scale = std::max(scale, std::abs(w));
  for (int k = 0; k < 9; ++k) {
    double sum = 0.0;
    for (const auto& w : all.atom_virial) sum += w[k];
    CHECK(sum == Approx(all.virial[k]).margin(1e-11 * scale));
    CHECK(totals.virial[k] == Approx(all.virial[k]).margin(1e-12 * scale));
  }
  CHECK(totals.energy == Approx(all.energy).epsilon(1e-13));
  const double f = largest(all.forces);
  for (std::size_t i = 0; i < all.forces.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      REQUIRE(std::abs(totals.forces[i][k] - all.forces[i][k]) < 1e-12 * f);
      REQUIRE(std::abs(forces.forces[i][k] - all.forces[i][k]) < 1e-12 * f);
    }
}

inline void check_potential(const PotentialCase& c, World& world) {
  check_energy_against_oracle(c, world);
  check_forces_are_gradient(c, world);
  check_virial_is_strain_derivative(c, world);
  check_invariances(c, world);
  check_rotation(c, world);
  check_outputs_agree(c, world);
}

/// Sum over owned atoms i and all atoms j != i of the rows (x, y, z, type): f(r, type i, type j).
inline double sum_over_pairs(const PeriodicSystem& s, const std::function<double(double, int, int)>& f) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  double total = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i)
    for (int j = 0; j < s.particles.total(); ++j) {
      if (i == j) continue;
      const double d[3] = {x(j, 0) - x(i, 0), x(j, 1) - x(i, 1), x(j, 2) - x(i, 2)};
      total +=
          f(std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), static_cast<int>(x(i, 3)), static_cast<int>(x(j, 3)));
    }
  return total;
}

}  // namespace cambium::test
