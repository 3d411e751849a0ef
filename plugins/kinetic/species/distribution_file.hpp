#pragma once
#include <string>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Collective: slot 0 of a solver (its host copy) as group/name/f, an array [conf cell][velocity cells...][mode] in
/// float64 over the whole phase space, with the grid and the exponents of the modes as attributes. Rank 0 writes,
/// and holds no more than some MiB of other ranks at a time.
void write_distribution(io::Group& group, const std::string& name, const Solver& solver, const Comm& comm);

/// Fills this rank's cells of slot 0 (host copy); any number of ranks may have written. InputError when the grid
/// differs.
void read_distribution(const io::Group& group, const std::string& name, Solver& solver);

/// Attributes lower, upper, cells (of all dimensions), cdim, vdim, and exponents [mode][dimension] in one row, as
/// netCDF reads no attribute of two dimensions.
void describe_grid(io::Object& object, const PhaseGrid& grid, const BasisInfo& basis);

}  // namespace cambium::kinetic
