#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "core/particles/structure.hpp"

namespace cambium::io {

/// A geometry file of DFTB+ (its manual, "Gen format"): number of atoms and kind, species, one line per atom (number,
/// index of the species, position in Å), then origin and lattice vectors (Å). Read on rank 0, distributed to all ranks.
/// Collective.
///
/// Kinds: C, a cluster; S, a periodic cell with Cartesian positions; F, the same with fractional ones. A cluster has no
/// cell and is put in an orthogonal one with 10 Å of vacuum on each side, which gives a remark. Text after # and blank
/// lines are skipped. Atoms are numbered in file order. Throws InputError with file:line for anything else, such as
/// helical structures (H).
Structure read_gen(const std::string& path, const Comm& comm);

}  // namespace cambium::io
