#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/particles/structure.hpp"

namespace cambium::io {

/// True for a text file that begins like a LAMMPS dump ("ITEM:"). To be called by one rank; false if it cannot be
/// opened.
bool is_lammps_dump(const std::string& path);

/// A frame of a LAMMPS text dump (styles atom and custom), counted from 0, or from the end (-1 is the last). Read on
/// rank 0, distributed to all ranks. Collective.
///
/// Species are those of the column element or, if `species` is given, its names for the types 1, 2, ... Positions are
/// x, xs, xu or xsu (likewise y, z), in this order; image flags go with wrapped ones. Velocities and masses are read if
/// present, ids define the order and become 1 to N. Cells are orthogonal, triclinic (bounds with tilts) or general (abc
/// origin), periodic in all directions. Units are those of `units`, else those of the item UNITS, else metal.
/// InputError with file:line for anything else.
Structure read_lammps_dump(const std::string& path, std::span<const std::string> species, std::int64_t frame,
                           const Comm& comm, const std::string& units = "");

struct LammpsDumpFrame {
  Structure structure;
  std::vector<std::array<double, 3>> force;  ///< columns fx fy fz, eV/Å, turned as the positions; empty without them
};

/// Every frame, in order, read by the calling rank alone; otherwise as read_lammps_dump().
std::vector<LammpsDumpFrame> read_lammps_dump_frames(const std::string& path, std::span<const std::string> species,
                                                     const std::string& units = "");

}  // namespace cambium::io
