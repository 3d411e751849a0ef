#pragma once
#include <functional>
#include <span>
#include <string>

#include "core/io/gather.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Collective: slot 0 of a solver (its host copy) as group/name/f, an array [conf cell][velocity cells...][mode] in
/// float64 over the global phase space, with the grid and the exponents of the modes as attributes. Rank 0 writes, and
/// holds no more than some MiB of other ranks at a time.
void write_distribution(io::Group& group, const std::string& name, const Solver& solver, const Comm& comm);

/// Cells of configuration space per slab of a stored array over phase space: complete rows of its last dimensions, so
/// that rank 0 holds about 64 MiB.
std::int64_t cells_of_a_slab(const PhaseGrid& grid, int modes);

/// Collective: the same with lossy (within an error bound) or lossless compression. Chunks hold one mode of a slab of
/// cells, so that a relative bound refers to the range of the mode there; the bytes do not depend on the ranks.
/// `slab(first cell, values [cell][velocity cells...][mode])` receives on rank 0 the values to be stored, before
/// encoding.
void write_distribution(io::Group& group, const std::string& name, const Solver& solver, const Comm& comm,
                        const io::Compression& compress,
                        const std::function<void(std::int64_t, std::span<const double>)>& slab);

/// Copies a block to its position in a row-major array of this shape.
void place_block(const io::Block& block, std::span<const std::int64_t> shape, double* whole);

/// Fills this rank's cells of slot 0 (host copy); any number of ranks may have written. InputError when the cells
/// differ.
void read_distribution(const io::Group& group, const std::string& name, Solver& solver);

/// Attributes lower, upper, cells (of all dimensions), cdim, vdim, and exponents [mode][dimension] in one row, as
/// netCDF reads no attribute of two dimensions; edges_vx, edges_vy, edges_vz of velocity dimensions whose cells have
/// different widths.
void describe_grid(io::Object& object, const PhaseGrid& grid, const BasisInfo& basis);

/// Faces of the `cells` cells along velocity dimension d in such attributes; empty where all have the same width.
/// InputError where they do not ascend.
std::vector<double> stored_edges(const io::Dataset& set, int d, int cells);

}  // namespace cambium::kinetic
