#pragma once
#include <array>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/plugin/committee.hpp"
#include "plugins/deepmd/engine/deviation_columns.hpp"

namespace cambium::deepmd {

/// Deviation between the models of a committee, including its values by atom.
struct ModelDeviation : Deviation {
  View<double*> force;  ///< eV/Å, by owned row of this rank

  /// Values of one line of `deviation_columns`.
  std::array<double, deviation_columns.size()> columns() const {
    return {virial_max, virial_min, virial_rms, force_max, force_min, force_mean};
  }
};

/// Deviation of the forces of `nlocal` owned atoms and of the virials of the global system of `nglobal` atoms, one
/// entry per model. Collective.
ModelDeviation model_deviation(const std::vector<View<double* [3]>>& forces, std::vector<std::array<double, 9>> virials,
                               int nlocal, std::int64_t nglobal, const Comm& comm);

}  // namespace cambium::deepmd
