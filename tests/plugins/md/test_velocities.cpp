// Starting velocities: temperature, drift, distribution, independence of ranks, frozen groups.
#include <cmath>
#include <map>

#include "core/base/constants.hpp"
#include "core/particles/lattice.hpp"
#include "core/particles/velocities.hpp"
#include "plugins/md/domain/domain.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::md;

namespace {

Particles crystal(const Comm& comm) {
  LatticeSpec spec;
  spec.type = LatticeType::bcc;
  spec.a = 4.0;
  spec.cells = {8, 8, 8};
  spec.species = {"Cs", "Cl"};
  return particles_of(make_lattice(spec, comm, 1));
}

/// Momentum (3), sum m v^2, per species sum m v^2 (2), fourth moment of v sqrt(m), and atoms with zero velocity.
std::vector<double> moments(const Comm& comm, const Particles& p) {
  std::vector<double> s(8, 0.0);
  const auto v = Kokkos::create_mirror_view(p.v);
  const auto x = Kokkos::create_mirror_view(p.x);
  Kokkos::deep_copy(v, p.v);
  Kokkos::deep_copy(x, p.x);
  for (int i = 0; i < p.nlocal; ++i) {
    const int type = static_cast<int>(x(i, 3));
    const double m = p.species[type].mass;
    for (int k = 0; k < 3; ++k) {
      s[k] += m * v(i, k);
      s[3] += m * v(i, k) * v(i, k);
      s[4 + type] += m * v(i, k) * v(i, k);
      s[6] += std::pow(m * v(i, k) * v(i, k), 2);
    }
    s[7] += v(i, 0) == 0.0 && v(i, 1) == 0.0 && v(i, 2) == 0.0;
  }
  comm.sum(s);
  return s;
}

}  // namespace

TEST_CASE("velocities have the temperature asked for, no drift and Maxwell's shape") {
  Comm comm;
  Particles p = crystal(comm);
  init_velocities(p, comm, 450.0, 3);
  const auto s = moments(comm, p);
  const double n = static_cast<double>(p.nglobal), kt = 8.617333262e-5 * 450.0;
  for (int k = 0; k < 3; ++k) CHECK(std::fabs(s[k]) < 1e-9);
  CHECK(1.0364269656262175e-4 * s[3] / ((3 * n - 3) * kt) == Approx(1.0).epsilon(1e-9));
  // Equipartition between heavy and light, and a Gaussian's kurtosis of 3, within five standard errors.
  const double error = std::sqrt(2.0 / (1.5 * n));
  CHECK(s[4] / s[5] == Approx(1.0).margin(5 * 1.5 * error));
  CHECK(s[6] * 3 * n / (s[3] * s[3]) == Approx(3.0).margin(5 * std::sqrt(24.0 / (3 * n))));
}

TEST_CASE("velocities belong to tags, not to ranks or rows") {
  Comm world;
  const Comm self(MPI_COMM_SELF);
  Particles all = crystal(self), mine = crystal(world);
  init_velocities(all, self, 300.0, 5);
  Domain domain(world, mine.box);
  domain.migrate(mine);
  init_velocities(mine, world, 300.0, 5);
  const auto va = Kokkos::create_mirror_view(all.v);
  const auto vm = Kokkos::create_mirror_view(mine.v);
  const auto tag = Kokkos::create_mirror_view(mine.tag);
  Kokkos::deep_copy(va, all.v);
  Kokkos::deep_copy(vm, mine.v);
  Kokkos::deep_copy(tag, mine.tag);
  double worst = 0.0;
  for (int i = 0; i < mine.nlocal; ++i)
    for (int k = 0; k < 3; ++k) worst = std::max(worst, std::fabs(va(tag(i) - 1, k) - vm(i, k)));
  CHECK(worst < 1e-13);

  Particles other = crystal(self);
  init_velocities(other, self, 300.0, 6);
  const auto vo = Kokkos::create_mirror_view(other.v);
  Kokkos::deep_copy(vo, other.v);
  CHECK(std::fabs(vo(0, 0) - va(0, 0)) > 1e-6);
}

TEST_CASE("frozen atoms stand still and the others carry all the heat") {
  Comm comm;
  Particles p = crystal(comm);
  const auto group = Kokkos::create_mirror_view(p.group);
  const auto tag = Kokkos::create_mirror_view(p.tag);
  Kokkos::deep_copy(tag, p.tag);
  for (int i = 0; i < p.nlocal; ++i) group(i) = tag(i) % 4 == 0 ? 4u : 1u;
  Kokkos::deep_copy(p.group, group);
  init_velocities(p, comm, 300.0, 3, 4u);
  const auto s = moments(comm, p);
  const double n = static_cast<double>(p.nglobal);
  CHECK(s[7] == n / 4);
  CHECK(constants::mvv2e * s[3] == Approx(3 * (0.75 * n) * constants::boltzmann * 300.0).epsilon(1e-9));
}

TEST_CASE("zero temperature and a single atom give rest") {
  Comm comm;
  Particles p = crystal(comm);
  init_velocities(p, comm, 0.0, 3);
  CHECK(moments(comm, p)[3] == 0.0);
  LatticeSpec one;
  one.type = LatticeType::sc;
  one.a = 3.0;
  one.species = {"Ar"};
  Particles atom = particles_of(make_lattice(one, comm, 1));
  init_velocities(atom, comm, 300.0, 3);
  CHECK(moments(comm, atom)[3] == 0.0);
}

TEST_CASE("the units of metal hang together") {
  CHECK(constants::boltzmann == Approx(8.617333262e-5).epsilon(1e-9));
  CHECK(constants::mvv2e == Approx(1.0364269656262175e-4).epsilon(1e-12));
  // alpha hbar c = e^2 / (4 pi epsilon_0), from CODATA's epsilon_0.
  CHECK(constants::coulomb == Approx(1.602176634e-19 / (4 * M_PI * 8.8541878128e-12) * 1e10).epsilon(1e-9));
}
