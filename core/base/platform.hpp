#pragma once
#include <string>

namespace cambium {

/// Linear algebra that this process really uses.
struct BlasInfo {
  std::string library;  ///< "OpenBLAS 0.3.21" or "reference BLAS"
  std::string core;     ///< kernel set that OpenBLAS chose, e.g. "Cooperlake"
  int threads = 1;
  bool on_openmp = false;  ///< its threads are those of OpenMP, which kernels may use, too
  std::string warning;     ///< advice if it is not the best for this machine; else empty
};
BlasInfo blas_info();

/// Name of the kernel set that OpenBLAS should use on a CPU of this vendor with these flags (as in /proc/cpuinfo), if
/// it selected `core` by itself; empty if that is right. Releases before 0.3.22 take recent AMD CPUs with AVX-512 for a
/// Haswell and lose 40 % of their speed; on a CPU newer than the library OpenBLAS may select kernels without AVX.
std::string openblas_core_for(const std::string& vendor, const std::string& flags, const std::string& core);

/// Sets what the user left unset: one thread of BLAS and OpenMP per rank, and the OpenBLAS kernels for this CPU. An
/// OpenBLAS with OpenMP ignores OPENBLAS_NUM_THREADS; if OMP_NUM_THREADS is unset, that value then sets both. Settings
/// that a library reads only when it is loaded, before main, require a restart: the program executes itself again,
/// once. Call first thing in main.
void apply_platform_settings(char** argv);

/// Makes OpenBLAS allocate its thread buffers now. If memory is short, it retries the allocation forever, and a run
/// would hang at its first matrix product. InputError if a limit (ulimit -v) leaves too little. Does nothing for other
/// libraries.
void take_blas_memory();

/// Lets the GNU allocator keep up to 1 GiB of freed memory for reuse unless the user configured it: training steps that
/// free arrays of megabytes had the kernel clear every page again. Part of the settings above.
void keep_freed_memory();

/// CPU name from the operating system, with the family and model numbers that distinguish generations.
std::string processor_name();

/// Folder of the core library, which also holds the program's other libraries and plugins; empty if unknown.
std::string core_library_folder();

/// Name of this machine on its network.
std::string host_name();

}  // namespace cambium
