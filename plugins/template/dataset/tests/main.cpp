// MPI and Kokkos around a Catch2 session.
#include <mpi.h>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "core/parallel/kokkos.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    failed = Catch::Session().run(argc, argv);
  }
  MPI_Finalize();
  return failed;
}
