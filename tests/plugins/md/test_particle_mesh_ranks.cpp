// The mesh of charges divided among ranks: the numbers of one rank, whatever atoms a rank has, and its share of memory
// and messages.
#include <algorithm>
#include <cmath>

#include "core/base/message_count.hpp"
#include "core/parallel/random.hpp"
#include "plugins/md/coulomb/particle_mesh.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

constexpr int atoms = 240, order = 6, edge_points = 32;
constexpr std::array<int, 3> points{edge_points, 30, 36};

Box skew() {
  const double rows[3][3] = {{14.0, 0, 0}, {1.7, 13.0, 0}, {-2.1, 1.9, 15.0}};
  return Box::from_vectors(rows);
}

/// Energy, six components of the virial, and for each atom force, energy and virial.
struct Found {
  std::vector<double> totals, of_atoms;
  double bytes = 0.0, brick = 0.0;
  MessageTotals messages;
};

/// Atoms for which mine(fractional coordinates, tag) is true, on the ranks of `comm`.
template <class F>
Found evaluate(const Comm& comm, bool per_atom, const F& mine) {
  const Box box = skew();
  std::vector<int> tags;
  Particles p;
  p.box = box;
  p.nglobal = atoms;
  const auto place = [](int tag, int d) { return Random4(5, Stream::test, tag, 0).uniform(d); };
  for (int t = 0; t < atoms; ++t)
    if (mine(place(t, 0), place(t, 1), t)) tags.push_back(t);
  p.nlocal = static_cast<int>(tags.size());
  p.reserve(p.nlocal);
  const auto x = Kokkos::create_mirror_view(p.x);
  const View<double*> charge("charges", p.capacity());
  const auto q = Kokkos::create_mirror_view(charge);
  for (int i = 0; i < p.nlocal; ++i) {
    const int tag = tags[static_cast<std::size_t>(i)];
    const double s[3] = {place(tag, 0) + tag % 3 - 1, place(tag, 1), place(tag, 2) - tag % 2};  // any image
    double r[3];
    box.to_cartesian(s, r);
    for (int d = 0; d < 3; ++d) x(i, d) = r[d];
    q(i) = tag % 2 ? 1.0 : -1.0;
  }
  Kokkos::deep_copy(p.x, x);
  Kokkos::deep_copy(charge, q);
  md::ParticleMesh mesh;
  mesh.prepare(box, 0.4, points, order, comm);
  ForceOutput out;
  out.f = p.f;
  Kokkos::deep_copy(p.f, 0.0);
  out.atom_energy = View<double*>("energies", p.capacity());
  out.atom_virial = View<double* [9]>("virials", p.capacity());
  Found found;
  {
    const MessageCount count;
    mesh.compute(p, charge, {true, per_atom}, out, comm);
    found.messages = count.totals();
  }
  found.bytes = static_cast<double>(mesh.bytes());
  found.brick = static_cast<double>(mesh.brick().points());
  found.totals.assign(out.virial, out.virial + 9);
  found.totals.push_back(out.energy);
  comm.sum(found.totals);
  found.of_atoms.assign(13 * atoms, 0.0);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.f);
  const auto e = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  const auto w = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  for (int i = 0; i < p.nlocal; ++i) {
    double* row = &found.of_atoms[static_cast<std::size_t>(13 * tags[static_cast<std::size_t>(i)])];
    for (int k = 0; k < 3; ++k) row[k] = f(i, k);
    row[3] = e(i);
    for (int k = 0; k < 9; ++k) row[4 + k] = w(i, k);
  }
  comm.sum(found.of_atoms);
  return found;
}

void check_same(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0, largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    worst = std::max(worst, std::abs(a[k] - b[k]));
    largest = std::max(largest, std::abs(b[k]));
  }
  INFO("worst difference " << worst << " of " << largest);
  CHECK(worst < 1e-12 * largest);
}

/// Which rank of `ranks` has a place along an edge.
int layer(double s, int ranks) { return std::min(static_cast<int>(s * ranks), ranks - 1); }

}  // namespace

TEST_CASE("particle mesh: a divided mesh gives what one rank gives, whatever atoms a rank has") {
  const Comm comm, lone(MPI_COMM_SELF);
  const int rank = comm.rank(), ranks = comm.size();
  const Found whole = evaluate(lone, true, [](double, double, int) { return true; });
  const auto check = [&](const Found& found) {
    check_same(found.totals, whole.totals);
    check_same(found.of_atoms, whole.of_atoms);
  };
  check(evaluate(comm, true, [&](double x, double, int) { return layer(x, ranks) == rank; }));
  check(evaluate(comm, true, [&](double, double y, int) { return layer(y, ranks) == rank; }));
  check(evaluate(comm, true, [&](double x, double, int) { return layer(std::fmod(x + 0.4, 1.0), ranks) == rank; }));
  check(evaluate(comm, true, [&](double, double, int tag) { return tag % ranks == rank; }));
  check(evaluate(comm, true, [&](double, double, int) { return rank == ranks - 1; }));  // the others have no atoms
}

TEST_CASE("particle mesh: memory and messages of a rank fall with the number of ranks") {
  const Comm comm, lone(MPI_COMM_SELF);
  const int rank = comm.rank(), ranks = comm.size();
  const Found whole = evaluate(lone, false, [](double, double, int) { return true; });
  const Found part = evaluate(comm, false, [&](double x, double, int) { return layer(x, ranks) == rank; });
  CHECK(whole.messages.messages == 0);
  if (ranks == 1) return;
  const double plane = points[1] * points[2], halo = order + 1;
  CHECK(part.brick <= (static_cast<double>(edge_points) / ranks + halo) * plane);
  const double uneven = 1.5;  // planes and modes are whole numbers
  CHECK(part.bytes <= uneven * whole.bytes / ranks + 8.0 * part.brick);
  // Twice through the transposed mesh, two columns wider along y and z, and halos there and back.
  const double columns = (points[1] + 2.0) * (points[2] + 2.0);
  CHECK(part.messages.sent <= 8.0 * (2.0 * uneven * edge_points * columns / ranks + 4.0 * halo * plane) + 1000.0);
  CHECK(part.messages.messages <= 2 * (ranks - 1) + 2 * std::min(ranks - 1, 2 * static_cast<int>(halo)));
}
