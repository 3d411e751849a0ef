// Atoms that lie unevenly: the same forces as on one rank whatever the parts of the cell are, equal shares of the
// pairs, restarts bit for bit; and equal work, which must stay as it is.
#include <fmt/format.h>

#include <map>

#include "core/base/error.hpp"
#include "plugins/md/physics/md.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/md_run.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

const std::string argon = R"(
potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.0, truncation: smooth}
timestep: 0.005
initial_temperature: 120
)";
std::string crystal(int nx, int ny, int nz, const std::string& more = {}) {
  return argon + fmt::format(
                     "structure: {{lattice: {{type: fcc, a: 5.4, cells: [{}, {}, {}], species: [Ar], "
                     "displacement: 0.1}}{}}}\n",
                     nx, ny, nz, more);
}
const std::string droplet =
    crystal(14, 12, 12, ", keep: {sphere: {center: [0.6, 0.5, 0.45], radius: 21, fractional: true}}");
const std::string slab = crystal(10, 9, 16, ", keep: {slab: {axis: z, lower: 0.1, upper: 0.35, fractional: true}}");
const std::string corner = crystal(12, 12, 12, ", keep: {sphere: {center: [0, 0, 0], radius: 19, fractional: true}}");

/// Position, velocity and force of each atom, by tag.
using ByTag = std::map<std::int64_t, std::array<double, 9>>;
ByTag rows_of(MdRun& run) {
  const Particles& p = run.state().particles;
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
  const auto v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.v);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.f);
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.tag);
  ByTag rows;
  for (int i = 0; i < p.nlocal; ++i)
    rows[tag(i)] = {x(i, 0), x(i, 1), x(i, 2), v(i, 0), v(i, 1), v(i, 2), f(i, 0), f(i, 1), f(i, 2)};
  return rows;
}

/// Largest difference of columns [from, from + 3) of the atoms that `here` has. Lists are rebuilt, and atoms brought
/// back into the cell, at other steps where planes move: positions differ by whole cells then.
double difference(const ByTag& here, const ByTag& all, int from, const Box& box) {
  double worst = 0.0;
  for (const auto& [tag, row] : here)
    for (int k = 0; k < 3; ++k) {
      const auto column = static_cast<std::size_t>(from + k);
      double d = row[column] - all.at(tag)[column];
      if (from == 0) d -= box.h[k][k] * std::round(d / box.h[k][k]);
      worst = std::max(worst, std::abs(d));
    }
  return worst;
}

/// "balance: the busiest rank has N times ..."
double imbalance_said(MdRun& run) {
  for (const auto& line : run.physics().report())
    if (line.starts_with("balance: the busiest rank has ")) return std::stod(line.substr(30));
  return 0.0;
}

std::string line_of(MdRun& run) {
  for (const auto& line : run.physics().report())
    if (line.starts_with("balance: ")) return line;
  return {};
}

/// The atoms are placed and pushed once more after `steps`, and planes may move each 20.
void compare_with_one_rank(const std::string& deck, double at_most) {
  Comm comm;
  MdRun alone(deck, 1, MPI_COMM_SELF);
  for (const std::string by : {"pairs", "atoms", "time"}) {
    INFO(by);
    MdRun run(deck + "balance: {criterion: " + by + ", every: 20, threshold: 1.02}\n");
    const auto here = rows_of(run), there = rows_of(alone);
    const double scale = 0.05;  // eV/Å, a usual force
    CHECK(comm.sum(static_cast<std::int64_t>(here.size())) == static_cast<std::int64_t>(there.size()));
    CHECK(difference(here, there, 0, run.state().particles.box) < 1e-12);
    CHECK(difference(here, there, 6, run.state().particles.box) < 1e-11 * scale);
    if (comm.size() > 1 && by == "pairs") CHECK(imbalance_said(run) <= at_most);
    run.advance(100);
    const auto& values = run.measure();
    MdRun once(deck, 1, MPI_COMM_SELF);
    once.advance(100);
    const auto& expected = once.measure();
    CHECK(std::abs(values[potential] / expected[potential] - 1.0) < 1e-10);
    CHECK(std::abs(values[pressure] - expected[pressure]) < 1e-6);
    const auto late = rows_of(run);
    CHECK(comm.sum(static_cast<std::int64_t>(late.size())) == static_cast<std::int64_t>(there.size()));
    CHECK(difference(late, rows_of(once), 0, run.state().particles.box) < 1e-9);
    if (comm.size() > 1 && by == "pairs") CHECK(imbalance_said(run) <= at_most);
  }
}

}  // namespace

TEST_CASE("a droplet has the forces of one rank, and ranks have equal work") { compare_with_one_rank(droplet, 1.2); }
TEST_CASE("a slab has the forces of one rank") { compare_with_one_rank(slab, 1.2); }
TEST_CASE("a droplet over the corner of the cell has the forces of one rank") { compare_with_one_rank(corner, 1.2); }

TEST_CASE("a droplet in equal bricks leaves ranks idle") {
  Comm comm;
  MdRun run(droplet + "balance: {criterion: volume}\n");
  if (comm.size() == 1) {
    CHECK(line_of(run).empty());
    return;
  }
  if (comm.size() >= 4) CHECK(imbalance_said(run) > 1.4);
  CHECK(line_of(run).ends_with("times the mean of the pairs; its part is a brick of equal volume"));
  MdRun balanced(droplet);
  CHECK(balanced.physics().summary().find(fmt::format(", {} ranks balanced by pairs", comm.size())) !=
        std::string::npos);
  CHECK(line_of(balanced) == fmt::format("balance: the busiest rank has {:.2f} times the mean of the pairs, {:.2f} "
                                         "times at first; the cell was repartitioned 1 time, last at step 0",
                                         imbalance_said(balanced), imbalance_said(run)));
}

TEST_CASE("equal work stays as it is, bit for bit") {
  Comm comm;
  const std::string deck = crystal(6, 6, 12);  // layers for 1, 2, 3, 4 and 8 ranks
  MdRun bricks(deck + "balance: {criterion: volume}\n"), balanced(deck + "balance: {every: 7}\n"), plain(deck);
  for (auto* run : {&bricks, &balanced, &plain}) run->advance(60);
  CHECK(rows_of(balanced) == rows_of(bricks));
  CHECK(rows_of(plain) == rows_of(bricks));
  if (comm.size() > 1) CHECK(imbalance_said(bricks) < 1.1);
}

TEST_CASE("a droplet goes on from a checkpoint bit for bit") {
  Comm comm;
  const SharedScratch scratch(comm);
  const std::string deck = droplet + "balance: {every: 30, threshold: 1.0}\n";
  MdRun whole(deck);
  whole.advance(40);
  const auto path = scratch.file("restart.h5");
  whole.write_checkpoint(path);
  whole.advance(50);
  MdRun halved(deck, path);
  halved.advance(50);
  CHECK(rows_of(halved) == rows_of(whole));
  MdRun bricks(droplet + "balance: {criterion: volume}\n", path);  // other parts, the same atoms
  bricks.advance(50);
  double far = 0.0;
  std::int64_t held = static_cast<std::int64_t>(rows_of(bricks).size());
  CHECK(comm.sum(held) == comm.sum(static_cast<std::int64_t>(rows_of(whole).size())));
  const double energy = whole.measure()[potential];
  far = std::abs(bricks.measure()[potential] / energy - 1.0);
  CHECK(far < 1e-10);
}

TEST_CASE("pressure that changes the cell keeps the planes") {
  Comm comm;
  const std::string deck = slab + "integrator: {type: npt, temperature: 90, pressure: 0, pressure_damping: 0.5}\n";
  MdRun run(deck + "balance: {every: 10, threshold: 1.0}\n"), alone(deck, 1, MPI_COMM_SELF);
  run.advance(40);
  alone.advance(40);
  CHECK(std::abs(run.measure()[volume] / alone.measure()[volume] - 1.0) < 1e-9);
  CHECK(difference(rows_of(run), rows_of(alone), 0, run.state().particles.box) < 1e-7);
}
