#pragma once
#include <string>
#include <vector>

#include "plugins/deepmd/data/system.hpp"

namespace cambium::deepmd {

/// Names of the labels in an extended XYZ file, and what its numbers are multiplied by to be eV and Å.
struct ExtxyzLabels {
  std::string energy = "energy", force = "forces", virial = "virial", stress = "stress";
  double energy_factor = 1.0, length_factor = 1.0;
};

struct ExtxyzFrame {
  std::vector<std::string> species;  ///< in order of their first atom
  std::vector<int> types;
  LabelledFrame frame;
  std::vector<std::string> unread;  ///< keys and columns that hold something else
};

/// Every frame of a file. Without Lattice, or with pbc="F F F", nothing is periodic. A stress (nine numbers, or six in
/// Voigt's order xx yy zz yz xz xy) becomes the virial -volume * stress. InputError with file:line for anything else,
/// and for a number that is not finite.
std::vector<ExtxyzFrame> read_extxyz_frames(const std::string& path, const ExtxyzLabels& labels = {});

}  // namespace cambium::deepmd
