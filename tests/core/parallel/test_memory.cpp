#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <new>
#include <stdexcept>

#include "core/base/counts.hpp"
#include "core/base/platform.hpp"
#include "core/parallel/memory.hpp"
#include "core/particles/lattice.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

TEST_CASE("products of counts that do not fit are none") {
  CHECK(product_of({3, 4, 5}) == 60);
  CHECK(product_of({}) == 1);
  CHECK(product_of({4, 0, 5}) == 0);
  CHECK(product_of({std::int64_t{1} << 31, std::int64_t{1} << 31}) == std::int64_t{1} << 62);
  CHECK_FALSE(product_of({std::int64_t{1} << 32, std::int64_t{1} << 31}));
  CHECK_FALSE(product_of({3, -1}));
}

TEST_CASE("bytes are said with three digits") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(999.9) == "1 kB");
  CHECK(bytes_text(1.2345e10) == "12.3 GB");
  CHECK(bytes_text(8e18) == "8 EB");
  CHECK(bytes_text(8e24) == "8e+06 EB");
}

TEST_CASE("memory is asked for before it is taken") {
  const Comm comm;
  const double left = free_memory();
  REQUIRE(left > 1e6);
  CHECK(memory_problem(0.5 * left / comm.size(), "a", "b", comm).empty());
  const std::string text = memory_problem(1e18, "a million things", "give fewer", comm);
  CHECK(text.starts_with("a million things would take at least " + bytes_text(1e18 * comm.size()) +
                         " of memory on this node, which has "));
  CHECK(text.ends_with(" left; give fewer"));
  CHECK_THROWS_AS(require_memory(1e18, "a", "b", comm), InputError);
}

TEST_CASE("what libraries say of memory that could not be had becomes a message that says what was asked for") {
  const std::string end =
      "; what the deck sizes is too large for this machine, or for the limit of its shell or job (ulimit -v): make it "
      "smaller, or use more ranks on more nodes (`cambium check` and `cambium plan` print what a deck needs)";
  const auto said = [&](const std::exception& error, const std::string& asked) {
    const std::string text = memory_refusal(error);
    CHECK(text.starts_with("there is no memory for what was requested" + asked + ", where "));
    CHECK(text.ends_with(" are left" + end));
  };
  note_refused_bytes(0);
  said(std::bad_alloc(), "");
  note_refused_bytes(32'000'000'000);
  said(std::bad_alloc(), ": 32 GB in one array");
  said(std::bad_array_new_length(), ": an array of more elements than any memory holds");
  said(std::length_error("vector::_M_default_append"), ": an array of more elements than any memory holds");
  said(
      std::runtime_error("Kokkos failed to allocate memory for label \"position\".  Allocation using MemorySpace named "
                         "\"Host\" failed with the following error:  Allocation of size 8 G failed, likely due to "
                         "insufficient memory."),
      ": 8.59 GB in one array ('position')");
  said(std::runtime_error("[enforce fail at alloc_cpu.cpp:75] DefaultCPUAllocator: can't allocate memory: you tried to "
                          "allocate 17179869184 bytes. Error code 12"),
       ": 17.2 GB in one tensor");
  said(std::runtime_error("Storage size calculation overflowed with sizes=[100, 1]"),
       ": a tensor of more bytes than there are");
  CHECK(memory_refusal(std::runtime_error("no such thing")).empty());
  CHECK(memory_refusal(InputError("the box is too large")).empty());
}

TEST_CASE("the BLAS has its memory at the start of a run, or the run says that it has not") {
  const BlasInfo blas = blas_info();
  if (!blas.library.starts_with("OpenBLAS")) return;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit small{static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20),
                     before.rlim_max};
  setrlimit(RLIMIT_AS, &small);
  const std::string text = message(take_blas_memory);
  setrlimit(RLIMIT_AS, &before);
  CHECK(text == "the BLAS (" + blas.library + ") cannot have its memory: 128 MB of addresses for each of " +
                    std::to_string(blas.threads) +
                    " thread(s), and the limit of this shell or job allows less; raise it (ulimit -v), or take fewer "
                    "threads (OPENBLAS_NUM_THREADS)");
  CHECK(message(take_blas_memory) == "no error");
}

TEST_CASE("a limit of this process counts") {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit small{std::min<rlim_t>(before.rlim_max, rlim_t{64} << 30), before.rlim_max};
  setrlimit(RLIMIT_AS, &small);
  CHECK(free_memory() < 64.0 * (1u << 30));
  setrlimit(RLIMIT_AS, &before);
}

TEST_CASE("a check warns of what it does not take, a run refuses, and both refuse what no node has") {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  CHECK_THROWS_AS(require_memory(5e14, "a", "b", context), InputError);
  context.dry_run = true;
  CHECK_THROWS_AS(require_memory(1e18, "a", "b", context), InputError);
  require_memory(5e14, "a", "b", context);
  REQUIRE(log.warnings().size() == 1);
  CHECK(log.warnings()[0].text.starts_with("a would take at least "));
}

TEST_CASE("a lattice counts its atoms, and none is made that no memory holds") {
  const Comm comm;
  LatticeSpec spec;
  spec.a = 4.0;
  spec.species = {"Cu"};
  spec.cells = {3, 4, 5};
  CHECK(atoms_of(spec) == 240);
  spec.cells = {100000, 100000, 100000};
  CHECK(atoms_of(spec) == 4'000'000'000'000'000);
  CHECK(message([&] {
          make_lattice(spec, comm, 1);
        }).starts_with("4000000000000000 atoms would take at least 144 PB of memory on this node"));
  spec.cells = {2000000000, 2000000000, 2000000000};
  CHECK(
      message([&] { atoms_of(spec); }) ==
      "the lattice of [2000000000, 2000000000, 2000000000] cells has more atoms than can be counted; give fewer cells");
}
