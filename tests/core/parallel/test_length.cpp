// Messages of more things than a count may say, with a small count in its place.
#include <numeric>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/length.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("a message has all of its things, however many a count may say") {
  const Comm comm;
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  for (const int longest : {1, 3, 7, 100})
    for (const int n : {0, 1, 6, 7, 8, 20, 21, 100}) {
      std::vector<double> sent(n + 2, 0.0), got(n + 2, -1.0);
      std::iota(sent.begin(), sent.end(), 1000.0 * comm.rank());
      MPI_Request requests[2];
      {
        const MessageLength in(n, MPI_DOUBLE, longest), out(n, MPI_DOUBLE, longest);
        CHECK(in.count() <= longest);
        int bytes = 0;
        MPI_Type_size(in.type(), &bytes);
        CHECK(bytes * in.count() == 8 * n);
        MPI_Irecv(got.data(), in.count(), in.type(), before, 5, comm.handle(), &requests[0]);
        MPI_Isend(sent.data(), out.count(), out.type(), next, 5, comm.handle(), &requests[1]);
      }  // types go before messages arrive
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      bool right = true;
      for (int k = 0; k < n + 2; ++k) right = right && got[k] == (k < n ? 1000.0 * before + k : -1.0);
      INFO(n << " things, " << longest << " at most");
      CHECK(right);
    }
}

TEST_CASE("ranks hand their pieces out in such lengths") {
  const Comm comm;
  const int n = 11;
  std::vector<double> all(n * comm.size(), -1.0);
  for (int k = 0; k < n; ++k) all[n * comm.rank() + k] = 100.0 * comm.rank() + k;
  const MessageLength length(n, MPI_DOUBLE, 4);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), length.count(), length.type(), comm.handle());
  bool right = true;
  for (int k = 0; k < n * comm.size(); ++k) right = right && all[k] == 100.0 * (k / n) + k % n;
  CHECK(right);
}
