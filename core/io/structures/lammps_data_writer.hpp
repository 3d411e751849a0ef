#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"

namespace cambium::io {

/// Collective: the atoms as a LAMMPS data file (atom_style atomic, units metal) with masses and velocities, all digits.
void write_lammps_data(const std::string& path, const Particles& particles, const Comm& comm);

}  // namespace cambium::io
