// Rows between neighbours: the same whether MPI counts them in bytes or in rows.
#include "core/parallel/peer_exchange.hpp"

#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("rows arrive however they are counted") {
  Comm comm;
  const int n = comm.size(), me = comm.rank();
  for (std::int64_t counted : {std::int64_t{0}, std::int64_t{100}, std::int64_t{1} << 31}) {
    PeerExchange exchange(comm, counted);
    std::vector<PeerExchange::Peer> peers;
    int first = 0;
    for (int k = 0; k < n; ++k) {
      if (k == me) continue;
      auto& peer = peers.emplace_back();
      peer.rank = k;
      peer.near_first = first;
      peer.near_count = (me + 2 * k) % 5;
      first += peer.near_count;
    }
    exchange.connect(peers);
    for (int width : {1, 3, 9}) {
      View<double*> near("near", exchange.near_rows() * width), far("far", exchange.far_rows() * width),
          back("back", exchange.near_rows() * width);
      const auto rows = Kokkos::create_mirror_view(near);
      for (int i = 0; i < exchange.near_rows() * width; ++i) rows(i) = 1000.0 * me + i;
      Kokkos::deep_copy(near, rows);
      exchange.begin_out(near.data(), far.data(), width);
      for (int look = 0; look < width; ++look) exchange.progress();  // before and after everything has come
      exchange.finish();
      exchange.begin_back(far.data(), back.data(), width);
      exchange.finish();
      const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), back);
      int wrong = 0;
      for (int i = 0; i < exchange.near_rows() * width; ++i) wrong += got(i) != 1000.0 * me + i;
      CHECK(wrong == 0);
      const auto arrived = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), far);
      for (const auto& peer : exchange.peers()) {
        CHECK(peer.far_count == (peer.rank + 2 * me) % 5);
        if (peer.far_count) CHECK(std::floor(arrived(peer.far_first * width) / 1000.0) == peer.rank);
      }
    }
  }
}
