#pragma once
#include <string>

#include "plugins/podlstm/pod/basis.hpp"
#include "plugins/podlstm/pod/field.hpp"

namespace cambium::podlstm {

/// Collective: writes a basis through rank 0, atomically. HDF5 with the conventions of NetCDF-4 and CF-1.10, including
/// dimension names, for xarray, netCDF4 and ncdump: mean, residual_rms (axes...), modes (mode, axes...), energy,
/// energy_share, energy_error (mode), coefficients (time, mode), if subtracted: trend, norm (axes...), climatology
/// (year_term, axes...); squared_norm (time), time, mode and the axes; attributes training_snapshots, total_energy,
/// weight, cells.
void write_pod_file(const std::string& path, const Field& field, const Basis& basis, const std::string& weights,
                    const Context& context);

}  // namespace cambium::podlstm
