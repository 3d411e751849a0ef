// A slower network than there is: messages take the time that is said, and computing hides it.
#include <cmath>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/emulated_network.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

struct Emulated {
  explicit Emulated(NetworkSpeed speed) { set_emulated_network({{.speed = speed}}); }
  explicit Emulated(std::vector<NetworkLevel> levels) { set_emulated_network(std::move(levels)); }
  ~Emulated() { set_emulated_network({}); }
};

/// Seconds of the quickest of three turns, the slowest rank's: what other programs take from this machine is not meant.
template <class Action>
double seconds_of(const Comm& comm, Action action) {
  double best = 1e30;
  for (int turn = 0; turn < 3; ++turn) {
    PMPI_Barrier(comm.handle());
    const double start = wall_seconds();
    action();
    double took = wall_seconds() - start;
    PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm.handle());
    best = std::min(best, took);
  }
  return best;
}

constexpr double latency = 0.05, bandwidth = 20e6;
constexpr int numbers = 250000;  // 2 MB: 100 ms

std::vector<double> sent(int rank) {
  std::vector<double> out(numbers);
  for (int k = 0; k < numbers; ++k) out[k] = rank + 0.5 * k;
  return out;
}

/// Both ranks of a pair send and receive, and compute meanwhile for so many seconds.
void exchange(const Comm& comm, double computing) {
  const int other = comm.rank() ^ 1;
  if (other >= comm.size()) return;
  const auto out = sent(comm.rank());
  std::vector<double> in(out.size());
  MPI_Request requests[2];
  MPI_Irecv(in.data(), numbers, MPI_DOUBLE, other, 5, comm.handle(), &requests[0]);
  MPI_Isend(out.data(), numbers, MPI_DOUBLE, other, 5, comm.handle(), &requests[1]);
  for (const double start = wall_seconds(); wall_seconds() - start < computing;) {
    int ready = 0;
    MPI_Testall(2, requests, &ready, MPI_STATUSES_IGNORE);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(in == sent(other));
}

}  // namespace

TEST_CASE("a ping-pong takes the stated time") {
  const Comm comm;
  const Emulated network({latency, bandwidth});
  auto data = sent(0);
  for (const int n : {0, numbers}) {
    const double took = seconds_of(comm, [&] {
      if (comm.rank() == 0) {
        MPI_Send(data.data(), n, MPI_DOUBLE, 1, 1, comm.handle());
        MPI_Recv(data.data(), n, MPI_DOUBLE, 1, 1, comm.handle(), MPI_STATUS_IGNORE);
      } else if (comm.rank() == 1) {
        MPI_Recv(data.data(), n, MPI_DOUBLE, 0, 1, comm.handle(), MPI_STATUS_IGNORE);
        MPI_Send(data.data(), n, MPI_DOUBLE, 0, 1, comm.handle());
      }
    });
    const double stated = 2.0 * (latency + 8.0 * n / bandwidth);
    INFO("bytes " << 8 * n << ", stated " << stated << " s, took " << took << " s");
    CHECK(took >= stated);
    CHECK(took < 1.2 * stated);
  }
}

TEST_CASE("an exchange that is overlapped is hidden") {
  const Comm comm;
  const Emulated network({latency, bandwidth});
  const double message = latency + 8.0 * numbers / bandwidth;
  CHECK(seconds_of(comm, [&] { exchange(comm, 0.0); }) < 1.2 * message);
  CHECK(seconds_of(comm, [&] { exchange(comm, 0.0); }) >= message);
  const double hidden = seconds_of(comm, [&] { exchange(comm, 1.5 * message); });
  CHECK(hidden >= 1.5 * message);
  CHECK(hidden < 1.2 * 1.5 * message);  // one after the other it would be 2.5
  const double half = seconds_of(comm, [&] { exchange(comm, 0.5 * message); });
  CHECK(half < 1.2 * message);
}

TEST_CASE("messages pass the link of a rank one after the other") {
  const Comm comm;
  const Emulated network({latency, bandwidth});
  constexpr int messages = 4;
  const double took = seconds_of(comm, [&] {
    std::vector<double> data(numbers / 2 * messages);
    MPI_Request requests[messages];
    for (int k = 0; k < messages && comm.rank() < 2; ++k) {
      double* part = data.data() + k * (numbers / 2);
      if (comm.rank() == 0)
        MPI_Irecv(part, numbers / 2, MPI_DOUBLE, 1, k, comm.handle(), &requests[k]);
      else
        MPI_Isend(part, numbers / 2, MPI_DOUBLE, 0, k, comm.handle(), &requests[k]);
    }
    if (comm.rank() < 2) MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  });
  const double stated = latency + messages * 4.0 * numbers / bandwidth;
  CHECK(took >= stated);
  CHECK(took < 1.2 * stated);
}

TEST_CASE("receives that are begun again take their time each time") {
  const Comm comm;
  const Emulated network({latency, bandwidth});
  const int other = comm.rank() ^ 1;
  if (other >= comm.size()) return;
  const auto out = sent(comm.rank());
  std::vector<double> in(out.size());
  MPI_Request requests[2];
  MPI_Recv_init(in.data(), numbers, MPI_DOUBLE, other, 5, comm.handle(), &requests[0]);
  MPI_Send_init(out.data(), numbers, MPI_DOUBLE, other, 5, comm.handle(), &requests[1]);
  const double message = latency + 8.0 * numbers / bandwidth;
  for (int turn = 0; turn < 2; ++turn) {
    const double start = wall_seconds();
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(wall_seconds() - start >= message);
  }
  CHECK(in == sent(other));
  for (auto& request : requests) MPI_Request_free(&request);
}

TEST_CASE("collectives take the time of their trees") {
  const Comm comm;
  const Emulated network({latency, bandwidth});
  const double rounds = std::ceil(std::log2(comm.size()));
  const auto takes = [&](double stated, auto action) {
    const double took = seconds_of(comm, action);
    INFO("stated " << stated << " s, took " << took << " s on " << comm.size() << " ranks");
    CHECK(took >= stated);
    CHECK(took < 1.2 * stated + 0.004);
  };
  takes(rounds * latency, [&] { comm.barrier(); });
  takes(rounds * (latency + 8.0 / bandwidth), [&] { comm.sum(1.0); });
  takes(rounds * latency + 8.0 * (comm.size() - 1) / bandwidth, [&] { comm.all_gather(1); });
  MPI_Request request;
  std::vector<double> data(numbers);
  const double ranks = comm.size(), all = 8.0 * numbers / bandwidth,
               reduced = std::min(rounds * (latency + all), 2.0 * rounds * latency + 2.0 * all * (ranks - 1.0) / ranks);
  takes(reduced, [&] {
    MPI_Iallreduce(MPI_IN_PLACE, data.data(), numbers, MPI_DOUBLE, MPI_SUM, comm.handle(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

TEST_CASE("messages within a block pass its links, those out of it the links outside") {
  const Comm comm;
  constexpr double slow = 0.3, quick = 0.05;
  const Emulated network({{.ranks = 2, .speed = {quick, 1e12}}, {.speed = {slow, 1e12}}});
  const auto message = [&](const Comm& within, int other) {
    double in = 0.0, out = 1.0;
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, other, 3, &in, 1, MPI_DOUBLE, other, 3, within.handle(), MPI_STATUS_IGNORE);
  };
  MPI_Comm reversed = MPI_COMM_NULL;  // its ranks are not those of the run
  PMPI_Comm_split(comm.handle(), comm.rank() / 2, -comm.rank(), &reversed);
  const Comm pair(reversed);
  PMPI_Comm_free(&reversed);
  const double inside = seconds_of(comm, [&] {
    if (pair.size() == 2) message(pair, 1 - pair.rank());
  });
  CHECK(inside >= quick);
  CHECK(inside < slow);
  const double joined = seconds_of(comm, [&] { MPI_Barrier(pair.handle()); });
  CHECK(joined >= quick);
  CHECK(joined < slow);
  if (comm.size() < 3) return;
  const double outside = seconds_of(comm, [&] {
    if (comm.rank() != 1) message(comm, 2 - comm.rank());
  });
  CHECK(outside >= slow);
  CHECK(seconds_of(comm, [&] { MPI_Barrier(comm.handle()); }) >= slow);
}

TEST_CASE("a network is a latency and a bandwidth, or several from inside to outside") {
  const auto speed = network_levels("5 us, 2 GB/s").at(0).speed;
  CHECK(speed.latency == Approx(5e-6));
  CHECK(speed.bandwidth == Approx(2e9));
  CHECK(network_levels("1e-6,1e9").at(0).speed.bandwidth == Approx(1e9));
  const auto levels = network_levels("2 ranks: 1 us, 50 GB/s; 8ranks: 3 us,10 GB/s; 20 us, 2 GB/s");
  REQUIRE(levels.size() == 3);
  CHECK(levels[1].ranks == 8);
  CHECK(levels[1].speed.latency == Approx(3e-6));
  CHECK(levels[2].ranks > 1000000);
  CHECK(levels[2].speed.bandwidth == Approx(2e9));
  for (const auto* text : {"", "5 us", "5 us, 2 s", "-1, 2", "1 us, 0", "fast, 1 GB/s", "4 ranks: 1 us, 1 GB/s",
                           "4 ranks: 1 us, 1 GB/s; 6 ranks: 2 us, 1 GB/s; 3 us, 1 GB/s", "1 us, 1 GB/s; 2 us, 1 GB/s",
                           "4 ranks: 1 us; 2 us, 1 GB/s", "some ranks: 1 us, 2 GB/s; 2 us, 1 GB/s"})
    CHECK_THROWS_WITH(
        network_levels(text),
        std::string("CAMBIUM_NETWORK is '") + text +
            "', expected a latency and a bandwidth, such as '5 us, 2 GB/s', or levels from inside to "
            "outside, such as '4 ranks: 1 us, 50 GB/s; 20 us, 2 GB/s', each a multiple of the one before; "
            "or unset it");
}
