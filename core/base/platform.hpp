#pragma once
#include <string>

namespace cambium {

/// Linear algebra that this process really uses.
struct BlasInfo {
  std::string library;  ///< "OpenBLAS 0.3.21" or "reference BLAS"
  std::string core;     ///< kernel set that OpenBLAS chose, e.g. "Cooperlake"
  int threads = 1;
  bool on_openmp = false;  ///< its threads are those of OpenMP, which kernels may use, too
  std::string warning;     ///< what to do when it is not the best for this machine; empty when all is well
};
BlasInfo blas_info();

/// The kernel set that OpenBLAS should be told to use on a processor of this vendor with these flags (words of
/// /proc/cpuinfo), where it took `core` by itself; empty where that is right. Releases before 0.3.22 take recent AMD
/// processors with AVX-512 for a Haswell and lose 40 % of their speed; on a processor that is younger than the library
/// it may take kernels without AVX.
std::string openblas_core_for(const std::string& vendor, const std::string& flags, const std::string& core);

/// Sets what the user left open: one thread of the BLAS and of OpenMP for each rank, and the kernels that OpenBLAS
/// should take here. Of an OpenBLAS on OpenMP, which does not read it, OPENBLAS_NUM_THREADS sets both where
/// OMP_NUM_THREADS is not set. What a library reads when it is loaded, before main, and cannot be told later needs a
/// second start: this program is then started again, once. Call first thing in main.
void apply_platform_settings(char** argv);

/// Has OpenBLAS take the memory of its threads now. It asks the system again and again, without an end, where there is
/// none, and a run would hang at its first product of matrices. InputError where a limit (ulimit -v) leaves too little.
/// Nothing is done for other libraries.
void take_blas_memory();

/// Lets the GNU allocator keep what is freed, up to 1 GiB, for the next array, where the user said nothing of it: steps
/// of networks that free arrays of megabytes had every page cleared by the system anew. Part of the settings above.
void keep_freed_memory();

/// Name of the processor as the operating system gives it, with the family and model numbers that tell generations
/// apart.
std::string processor_name();

/// Folder of the library of core, where the program's other libraries and plugins lie, too; empty when it is unknown.
std::string core_library_folder();

/// Name of this machine on its network.
std::string host_name();

}  // namespace cambium
