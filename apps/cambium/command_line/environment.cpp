#include "apps/cambium/command_line/environment.hpp"

#include <array>

namespace cambium {

std::span<const EnvironmentVariable> environment_variables() {
  static constexpr std::array variables = {
      EnvironmentVariable{"CAMBIUM_PLUGIN_PATH", "folders, separated by colons, in which plugins are searched for"},
      EnvironmentVariable{"CAMBIUM_PYTHON",
                          "the Python that draws pictures and pages; it needs numpy, h5py, matplotlib"},
      EnvironmentVariable{"CAMBIUM_DATA", "folder of real data, for benches and tests that need it"},
      EnvironmentVariable{"CAMBIUM_RESTARTED",
                          "set by the program itself when it has started again with other settings "
                          "of the BLAS; set it to keep yours"},
      EnvironmentVariable{"OMP_NUM_THREADS",
                          "threads of Kokkos' OpenMP and of most BLAS libraries; 1 per rank is right "
                          "unless ranks are fewer than cores"},
      EnvironmentVariable{"OPENBLAS_NUM_THREADS", "threads of OpenBLAS alone"},
      EnvironmentVariable{"OPENBLAS_CORETYPE", "the kernels OpenBLAS takes; chosen by the program where it is not set"},
      EnvironmentVariable{"XDG_CACHE_HOME",
                          "where cambium profile stores the measured peaks of the machine; ~/.cache without it"},
      EnvironmentVariable{
          "CAMBIUM_NETWORK",
          "'5 us, 2 GB/s': emulated network: every message takes the time of this latency and bandwidth"},
      EnvironmentVariable{"HDF5_PLUGIN_PATH", "where HDF5 finds filters, for files that other programs compressed"},
      EnvironmentVariable{"HDF5_VDS_PREFIX", "folder in which parts of virtual data sets are searched for"},
      EnvironmentVariable{"HDF5_EXTFILE_PREFIX", "folder in which files of external storage are searched for"},
      EnvironmentVariable{"HDF5_USE_FILE_LOCKING", "FALSE by the program itself where it is not set"},
      EnvironmentVariable{"CAMBIUM_HDF5_PROBE", "the program that opens HDF5 files of others first; 'none' for none"},
  };
  return variables;
}

}  // namespace cambium
