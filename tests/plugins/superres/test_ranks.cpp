// The same flow on any number of ranks, and the same bits after a restart.
#include <algorithm>
#include <chrono>
#include <thread>

#include "core/io/checkpoint.hpp"
#include "plugins/superres/convection/halo.hpp"
#include "plugins/superres/convection/rank_tree.hpp"
#include "plugins/superres/convection/rows.hpp"
#include "tests/plugins/superres/convection_case.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

const char* small_deck(bool cavity) {
  return cavity ? "{rayleigh: 1e5, cells: [30, 21], end_time: 50, initial: {noise: 0.2}}"
                : "{rayleigh: 1e5, cells: [36, 22], width: 3, end_time: 50, initial: {noise: 0.2}}";
}

/// Enough rows that those next to other ranks are transformed, and sent, before the others.
const char* high_deck(bool cavity) {
  return cavity ? "{rayleigh: 1e5, cells: [20, 64], end_time: 50, initial: {noise: 0.2}}"
                : "{rayleigh: 1e5, cells: [24, 67], end_time: 50, initial: {noise: 0.2}}";
}

/// Largest difference between the owned rows and the same rows of a run on one rank, and the largest value.
template <class C>
std::pair<double, double> difference(C& divided, C& alone) {
  double worst = 0.0, most = 0.0;
  const Flow& a = divided.flow();
  const auto here = on_host(a.fields), there = on_host(alone.flow().fields);
  for (int f = 0; f < 4; ++f)
    for (int row = 1; row <= a.rows(); ++row)
      for (int i = margin; i < margin + a.nx(); ++i) {
        worst = std::max(worst, std::fabs(here(f, row, i) - there(f, row + a.slab.first, i)));
        most = std::max(most, std::fabs(here(f, row, i)));
      }
  return {divided.comm().max(worst), divided.comm().max(most)};
}

template <class C>
void compare(bool cavity, const char* deck) {
  C divided(deck, MPI_COMM_WORLD), alone(deck, MPI_COMM_SELF);
  for (int k = 0; k < 40; ++k) {
    divided.advance();
    alone.advance();
  }
  const auto [worst, most] = difference(divided, alone);
  INFO("cavity " << cavity << ", ranks " << divided.comm().size());
  CHECK(most > 0.1);
  CHECK(worst < 1e-12 * most);
  CHECK(divided.measure(nusselt_volume) == Approx(alone.measure(nusselt_volume)).epsilon(1e-12));
}

}  // namespace

TEST_CASE("ranks become one group by as many messages as the logarithm of their number") {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    std::vector<std::vector<Join>> joins;
    for (int rank = 0; rank < ranks; ++rank) joins.push_back(joins_of(rank, ranks));
    std::vector<std::pair<int, int>> group;  // that each rank knows
    for (int rank = 0; rank < ranks; ++rank) group.emplace_back(rank, rank + 1);
    const std::size_t levels = joins[0].size();
    REQUIRE((std::size_t{1} << levels) < 2 * static_cast<std::size_t>(ranks));
    for (std::size_t level = 0; level < levels; ++level) {
      auto next = group;
      std::vector<int> taken(ranks, 0);
      for (int rank = 0; rank < ranks; ++rank) {
        const auto& mine = joins[rank];
        REQUIRE(mine.size() == levels);
        const Join& join = mine[level];
        if (!join.there) continue;
        REQUIRE(join.to.size() <= 2);
        for (const int to : join.to) ++taken[to];
        const auto &own = group[rank], &other = group[join.from];
        const Join& sender = joins[join.from][level];
        REQUIRE(std::count(sender.to.begin(), sender.to.end(), rank) == 1);
        REQUIRE((join.lower ? own.second == other.first : other.second == own.first));
        next[rank] = {std::min(own.first, other.first), std::max(own.second, other.second)};
        REQUIRE(join.ends_low == (next[rank].first == 0));
        REQUIRE(join.ends_high == (next[rank].second == ranks));
        // What the sender takes along is what is expected here, and the row next to this group is always of it.
        REQUIRE(sender.first(true) == join.first(false));
        REQUIRE(sender.last(true) == join.last(false));
        REQUIRE((join.lower ? join.first(false) : join.last(false)));
      }
      for (int rank = 0; rank < ranks; ++rank) REQUIRE(taken[rank] == joins[rank][level].there);
      group = next;
    }
    for (const auto& all : group) REQUIRE(all == std::pair(0, ranks));
  }
}

TEST_CASE("any number of ranks gives the same flow") {
  for (const auto deck : {small_deck, high_deck}) {
    compare<Plates>(false, deck(false));
    compare<Square>(true, deck(true));
  }
}

TEST_CASE("memory that ranks share gives the bits of messages") {
  const Comm comm;
  const Grid grid = Grid::make(36, 22, 3.0, 1.0, 1.5, true);
  const auto stepped = [&](bool share_memory) {
    Slab slab = Slab::make(grid, comm.rank(), comm.size());
    slab.share_memory = share_memory;
    auto out = std::make_unique<Stepper>(comm, slab, Fluid{1e-2, 1e-2});
    InitialState noise;
    noise.noise = 0.2;
    set_initial_state(noise, out->flow(), 5);
    out->fill_ghosts();
    out->start();
    for (int k = 0; k < 10; ++k) out->step(0.01);
    return out;
  };
  const auto shared = stepped(true), sent = stepped(false);
  const Flow& a = shared->flow();
  const auto first = on_host(a.fields), second = on_host(sent->flow().fields);
  bool same = true;
  double most = 0.0;
  for (int f = 0; f < 4; ++f)
    for (int row = 0; row <= a.rows() + 1; ++row)
      for (int i = margin; i < margin + a.nx(); ++i) {
        same = same && first(f, row, i) == second(f, row, i);
        most = std::max(most, std::fabs(first(f, row, i)));
      }
  CHECK(same);
  CHECK(most > 0.1);
}

// Rows of 2 MB are not sent before someone receives them: what a Halo frees too early never arrives as it was.
TEST_CASE("ghosts arrive whole where the sender's halo is gone before anyone has asked for them") {
  const Comm comm;
  Slab slab = Slab::make(Grid::make(1 << 18, 8, 1.0, 1.0, 0.0, true), comm.rank(), comm.size());
  slab.share_memory = false;
  const int pitch = pitch_of(slab.grid.nx);
  const Fields fields("fields", 1, slab.rows + 2, pitch);
  const auto filled = Kokkos::create_mirror_view(fields);
  const auto value = [](int rank, int row, int i) { return 1e6 * (rank + 1) + 1e3 * row + i % 997; };
  for (int row = 1; row <= slab.rows; ++row)
    for (int i = 0; i < pitch; ++i) filled(0, row, i) = value(comm.rank(), row, i);
  Kokkos::deep_copy(fields, filled);
  auto halo = std::make_unique<Halo>(comm, slab);
  const bool late = comm.rank() % 2 == 1;
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  halo->start(fields, 0, 1);
  if (late) halo->finish(fields, 0, 1);
  halo.reset();
  if (late) {
    const int below = Slab::begin(8, comm.rank(), comm.size()) -
                      Slab::begin(8, comm.rank() - 1, comm.size());  // rows of the rank below
    int wrong = 0;
    const auto found = on_host(fields);
    for (int i = 0; i < pitch; ++i) {
      wrong += found(0, 0, i) != value(comm.rank() - 1, below, i);
      if (!slab.top()) wrong += found(0, slab.rows + 1, i) != value(comm.rank() + 1, 1, i);
    }
    CHECK(wrong == 0);
  }
  comm.barrier();
}

TEST_CASE("a restart gives the same bits") {
  Plates straight(small_deck(false), MPI_COMM_WORLD), resumed(small_deck(false), MPI_COMM_WORLD);
  const SharedScratch scratch(straight.comm());
  const std::string path = scratch.file("restart.h5");
  for (int k = 0; k < 17; ++k) straight.advance();
  io::write_checkpoint(path, straight.state(), straight.comm(), io::provenance_of(straight.context()),
                       [&](io::Group& root) {
                         auto group = root.create_group("physics");
                         straight.physics().save(group);
                       });
  {
    const io::Checkpoint checkpoint(path, resumed.comm());
    checkpoint.restore(resumed.state(), [](std::int64_t) {});
    resumed.physics().restore(resumed.state(), resumed.context(), checkpoint.file().group("physics"), true);
  }
  for (int k = 0; k < 17; ++k) {
    straight.advance();
    resumed.advance();
  }
  const Flow& a = straight.flow();
  const auto first = on_host(a.fields), second = on_host(resumed.flow().fields);
  bool same = straight.time() == resumed.time();
  for (int f = 0; f < 4; ++f)
    for (int row = 1; row <= a.rows(); ++row)
      for (int i = margin; i < margin + a.nx(); ++i) same = same && first(f, row, i) == second(f, row, i);
  CHECK(same);
  CHECK(straight.run().averages.weight() == resumed.run().averages.weight());
}
