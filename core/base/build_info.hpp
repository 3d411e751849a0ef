#pragma once

namespace cambium {

/// Build configuration of the library in use, for the banner, the provenance of every file and the ABI tag of plugins.
struct BuildInfo {
  const char* version;          ///< "0.1.0"
  const char* git_hash;         ///< twelve digits, "-dirty" added when files differed from it; "unknown" without git
  const char* compiler;         ///< "GNU 12.2.0"
  const char* flags;            ///< compiler options of the build type and of this library
  const char* build_type;       ///< "Release"
  const char* instruction_set;  ///< target of the compiler: "AVX-512", "AVX2", "AVX", "SSE2", "NEON", "baseline"
  const char* kokkos;           ///< version of Kokkos found by CMake
  const char* kokkos_devices;   ///< its back ends, "SERIAL" or "OPENMP, CUDA, SERIAL"
  const char* hdf5;             ///< version of HDF5 found by CMake
  bool hdf5_parallel;           ///< HDF5 was built with MPI
  const char* blas;             ///< file name of the BLAS library linked
  bool sanitized;               ///< built with address and undefined-behaviour sanitizers
  bool kokkos_shared;           ///< Kokkos is a shared library, so plugins can be loaded at run time
};

/// The one description of this build.
const BuildInfo& build_info();

}  // namespace cambium
