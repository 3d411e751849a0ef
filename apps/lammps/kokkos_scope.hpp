#pragma once
#include <memory>

namespace cambium::lammps {

/// Sets threads and kernels of the BLAS unless the user did (core/base/platform.hpp). Call before MPI starts.
void set_platform(char** argv);

/// Kokkos between construction and destruction, for sources that must not see its headers.
class KokkosScope {
 public:
  explicit KokkosScope(char** argv);
  ~KokkosScope();

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

}  // namespace cambium::lammps
