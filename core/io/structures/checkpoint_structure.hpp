#pragma once
#include <string>

#include "core/particles/structure.hpp"

namespace cambium {

/// Reads the atoms of a checkpoint of `md` (restart.STEP.h5) as the start of another run: cell, species with their
/// masses, positions, velocities, cell crossings and tags. Read on rank 0, distributed to all ranks. Collective. Throws
/// InputError for a file that is not a particle checkpoint.
Structure read_checkpoint_structure(const std::string& path, const Comm& comm);

}  // namespace cambium
