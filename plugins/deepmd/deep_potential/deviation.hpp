#pragma once
#include <array>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"
#include "plugins/deepmd/deep_potential/deviation_columns.hpp"

namespace cambium::deepmd {

/// How far a committee of models disagrees; Zhang et al., Phys. Rev. Materials 3, 023804 (2019). Standard deviations
/// are those of the population (divided by the number of models).
struct ModelDeviation {
  double force_max = 0.0, force_min = 0.0, force_mean = 0.0;    ///< eV/Å, over atoms: |standard deviation of F_i|
  double virial_max = 0.0, virial_min = 0.0, virial_rms = 0.0;  ///< eV/atom, over the nine components
  View<double*> force;                                          ///< eV/Å, by owned row of this rank

  /// The numbers of a line of `deviation_columns`.
  std::array<double, deviation_columns.size()> columns() const {
    return {virial_max, virial_min, virial_rms, force_max, force_min, force_mean};
  }
};

/// Deviation of the forces of `nlocal` owned atoms and of the virials of the whole system's `nglobal` atoms, one entry
/// per model. Collective.
ModelDeviation model_deviation(const std::vector<View<double* [3]>>& forces, std::vector<std::array<double, 9>> virials,
                               int nlocal, std::int64_t nglobal, const Comm& comm);

}  // namespace cambium::deepmd
