// Every test executable: MPI and Kokkos around a Catch2 session. Only rank 0 reports, all ranks must agree. 0: passed,
// 1: failed, 77: nothing was asserted on any rank, because all that ran was skipped.
#include <mpi.h>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cstdio>

#include "core/parallel/kokkos.hpp"
#include "core/parallel/start_mpi.hpp"

#ifdef CATCH_VERSION_MAJOR
#define CAMBIUM_CATCH CATCH_VERSION_MAJOR
#else
#define CAMBIUM_CATCH 3
#endif

namespace {

#if CAMBIUM_CATCH < 3
using ListenerBase = Catch::TestEventListenerBase;
#else
using ListenerBase = Catch::EventListenerBase;
#endif

int asserted = -1;  ///< -1: no case was to run (a list of them was printed)

struct CountsAssertions : ListenerBase {
  using ListenerBase::ListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    asserted = stats.totals.assertions.total() > 0 ? 1 : 0;
  }
};
CATCH_REGISTER_LISTENER(CountsAssertions)

}  // namespace

int main(int argc, char** argv) {
  cambium::start_mpi(&argc, &argv);
  int failed = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    failed = Catch::Session().run(argc, argv) == 0 ? 0 : 1;  // Catch2 2 returns the number of failures, which may be 77
    for (int* flag : {&failed, &asserted}) MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  constexpr int skipped = 77;
  return failed == 0 && asserted == 0 ? skipped : failed;
}
