#pragma once
#include <memory>

namespace cambium::lammps {

/// Starts the program once more where the BLAS needs other settings than it was given (core/base/platform.hpp). Call
/// before MPI_Init.
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
