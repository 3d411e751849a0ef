// Memory that the ranks of a node share, and exchanges through it.
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/parallel/shared_pieces.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("ranks of one node share memory, and nothing of it stays in the system") {
  const Comm comm;
  const auto memory = SharedMemory::make(comm, 100000);
  REQUIRE(memory);
  for (int k = 0; k < 100000; ++k) memory->of(comm.rank())[k] = static_cast<std::byte>(comm.rank() + k);
  comm.barrier();
  for (int rank = 0; rank < comm.size(); ++rank)
    for (int k = 0; k < 100000; k += 97) REQUIRE(memory->of(rank)[k] == static_cast<std::byte>(rank + k));
  REQUIRE_FALSE(SharedMemory::make(comm, std::int64_t(1) << 60));  // no such room: said on every rank
  comm.barrier();
  for (const auto& entry :
       std::filesystem::directory_iterator("/dev/shm", std::filesystem::directory_options::skip_permission_denied))
    REQUIRE_THAT(entry.path().filename().string(), !Catch::Matchers::StartsWith("cambium-" + std::to_string(getpid())));
}

/// Every rank late in its turn, and readers that dawdle: nobody's numbers are overwritten before they were read.
TEST_CASE("pieces of ranks arrive whole, exchange after exchange") {
  const Comm comm;
  constexpr int count = 1000;
  const auto pieces = SharedPieces::make(comm, count);
  REQUIRE(pieces);
  // Neighbours, as ghost rows do; or all the last rank alone, which waits for nobody's piece and must still not run
  // ahead.
  const bool last_alone = GENERATE(false, true);
  const int low = last_alone ? comm.size() - 1 : std::max(0, comm.rank() - 1);
  const int high = last_alone ? comm.size() : std::min(comm.size(), comm.rank() + 2);
  const auto value = [](int exchange, int rank, int k) { return 1e6 * exchange + 1e3 * rank + k; };
  const auto dawdle = [&](int when) {
    if (when % (comm.size() + 1) == comm.rank()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  };
  bool right = true;
  for (int exchange = 0; exchange < 300; ++exchange) {
    double* const mine = pieces->mine();
    for (int k = 0; k < count; ++k) mine[k] = value(exchange, comm.rank(), k);
    pieces->start();
    dawdle(exchange);
    for (int rank = low; rank < high; ++rank) {
      const double* const piece = pieces->of(rank);
      for (int k = 0; k < count; ++k) {
        right = right && piece[k] == value(exchange, rank, k);
        if (k == count / 2) dawdle(exchange + 1 + rank);
      }
    }
  }
  REQUIRE(right);
}
