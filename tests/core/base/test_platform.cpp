// What the program asks of the system before it begins.
#include <sys/resource.h>

#include <cstdlib>
#include <vector>

#include "core/base/platform.hpp"
#include "tests/catch.hpp"

using namespace cambium;

/// Pages that the system had to give while arrays of 64 MiB came and went.
static long faults_of_arrays() {
  const auto faults = [] {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt;
  };
  double sum = 0.0;
  const long before = faults();
  for (int k = 0; k < 10; ++k) {
    std::vector<char> large(std::size_t{64} << 20, static_cast<char>(k));
    sum += large[static_cast<std::size_t>(k) << 20];
  }
  CHECK(sum == 45.0);
  return faults() - before;
}

TEST_CASE("arrays that are freed leave their pages for the next, unless the user has set the allocator") {
  for (const char* name : {"MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"}) unsetenv(name);
  setenv("MALLOC_TRIM_THRESHOLD_", "1000", 1);
  keep_freed_memory();
  const long given_back = faults_of_arrays();
  unsetenv("MALLOC_TRIM_THRESHOLD_");
  keep_freed_memory();
  faults_of_arrays();
  const long kept = faults_of_arrays();
  INFO("page faults " << given_back << ", then " << kept);
#ifdef __GLIBC__
  CHECK(kept < given_back / 4);
#endif
}

TEST_CASE("OpenBLAS is told its kernels where it takes those of an older processor") {
  const std::string avx512 = "sse2 avx avx2 fma avx512f avx512dq avx512bw avx512vl", avx2 = "sse2 avx avx2 fma";
  CHECK(openblas_core_for("GenuineIntel", avx512, "SKYLAKEX").empty());
  CHECK(openblas_core_for("GenuineIntel", avx512, "PRESCOTT") == "SKYLAKEX");
  CHECK(openblas_core_for("GenuineIntel", avx2, "PRESCOTT") == "HASWELL");
  CHECK(openblas_core_for("GenuineIntel", "sse2 avx", "SANDYBRIDGE").empty());
  CHECK(openblas_core_for("GenuineIntel", avx512, "HASWELL").empty());  // somebody's choice, or that of an old release
  CHECK(openblas_core_for("AuthenticAMD", avx512 + " avx512_bf16", "HASWELL") == "COOPERLAKE");
  CHECK(openblas_core_for("AuthenticAMD", avx512 + " avx512_bf16", "ZEN").empty());
  CHECK(openblas_core_for("AuthenticAMD", avx2, "ZEN").empty());
  CHECK(openblas_core_for("AuthenticAMD", "sse2 avx avx2x fmax", "BULLDOZER").empty());  // a flag is a whole word
}
