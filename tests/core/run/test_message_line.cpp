// Messages and bytes of a rank: every kind of call by hand, and the last page's line of them.
#include "core/run/summary/message_line.hpp"

#include <array>
#include <vector>

#include "core/parallel/emulated_network.hpp"
#include "core/parallel/shared_memory.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

template <class Action>
MessageTotals counted(Action action) {
  const MessageCount count;
  action();
  return count.totals();
}

void check(const MessageTotals& t, std::int64_t messages, std::int64_t collectives, double sent, double received) {
  CHECK(t.messages == messages);
  CHECK(t.collectives == collectives);
  CHECK(t.sent == sent);
  CHECK(t.received == received);
}

}  // namespace

TEST_CASE("a ring: what goes out and what comes in, begun once or again and again") {
  Comm comm;
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  std::array<double, 10> out{}, in{};
  check(counted([&] {
          MPI_Request requests[2];
          MPI_Irecv(in.data(), 10, MPI_DOUBLE, before, 1, comm.handle(), &requests[0]);
          MPI_Isend(out.data(), 10, MPI_DOUBLE, next, 1, comm.handle(), &requests[1]);
          MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }),
        1, 0, 80.0, 80.0);
  check(counted([&] {
          MPI_Sendrecv(out.data(), 3, MPI_DOUBLE, next, 2, in.data(), 4, MPI_DOUBLE, before, 2, comm.handle(),
                       MPI_STATUS_IGNORE);
        }),
        1, 0, 24.0, 32.0);
  MPI_Request again[2];
  MPI_Datatype pairs;
  MPI_Type_create_hvector(3, 2, 32, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Send_init(out.data(), 1, pairs, next, 3, comm.handle(), &again[0]);
  MPI_Recv_init(in.data(), 1, pairs, before, 3, comm.handle(), &again[1]);
  check(counted([&] {
          for (int turn = 0; turn < 5; ++turn) {
            MPI_Startall(2, again);
            MPI_Waitall(2, again, MPI_STATUSES_IGNORE);
          }
        }),
        5, 0, 240.0, 240.0);
  for (auto& request : again) MPI_Request_free(&request);
  MPI_Type_free(&pairs);
}

TEST_CASE("messages to oneself and to nobody are none") {
  Comm comm;
  double out = 1.0, in = 0.0;
  check(counted([&] {
          MPI_Sendrecv(&out, 1, MPI_DOUBLE, comm.rank(), 1, &in, 1, MPI_DOUBLE, comm.rank(), 1, comm.handle(),
                       MPI_STATUS_IGNORE);
          MPI_Sendrecv(&out, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, &in, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, comm.handle(),
                       MPI_STATUS_IGNORE);
        }),
        0, 0, 0.0, 0.0);
  Comm alone(MPI_COMM_SELF);
  check(counted([&] { alone.sum(1.0); }), 0, 0, 0.0, 0.0);
}

TEST_CASE("collectives: a rank's own share, and what the others give") {
  Comm comm;
  const int ranks = comm.size();
  check(counted([&] { comm.sum(1.0), comm.barrier(); }), 0, 2, 8.0, 8.0);
  check(counted([&] { comm.all_gather(3); }), 0, 1, 8.0, 8.0 * (ranks - 1));
  std::vector<double> numbers(6);
  check(counted([&] { comm.broadcast(numbers); }), 0, 1, comm.root() ? 48.0 : 0.0, comm.root() ? 0.0 : 48.0);
  std::vector<int> out(ranks), in(out);
  check(counted([&] { MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm.handle()); }), 0, 1,
        4.0 * (ranks - 1), 4.0 * (ranks - 1));
  std::vector<int> counts(out.size()), places(out.size());
  for (int k = 0; k < ranks; ++k) counts[k] = k + 1;
  for (int k = 1; k < ranks; ++k) places[k] = places[k - 1] + k;
  std::vector<double> all(ranks * (ranks + 1) / 2);
  const double mine = comm.rank() + 1.0;
  check(counted([&] {
          MPI_Allgatherv(numbers.data(), comm.rank() + 1, MPI_DOUBLE, all.data(), counts.data(), places.data(),
                         MPI_DOUBLE, comm.handle());
        }),
        0, 1, 8.0 * mine, 8.0 * (static_cast<double>(all.size()) - mine));
}

TEST_CASE("the line says figures of the busiest rank and of a step") {
  Comm comm;
  MessageTotals totals{10 + comm.rank(), 4, 1000.0, 2000.0 * (comm.rank() + 1)};
  const auto found = step_messages(totals, 2.0, comm);
  REQUIRE(found);
  CHECK(found->results()[2].value == 0.5);
  if (comm.size() == 2)
    CHECK(found->line() ==
          "messages: a rank sends at most 5.5 messages and 0.5 kB a step, receives 2 kB and takes part in 2 "
          "collectives");
  CHECK_FALSE(step_messages(totals, 0.0, comm));
}

TEST_CASE("on an emulated network no ranks share memory") {
  Comm comm;
  CHECK(SharedMemory::make(comm, 64) != nullptr);
  set_emulated_network({NetworkLevel{}});
  CHECK(SharedMemory::make(comm, 64) == nullptr);
  set_emulated_network({});
}
