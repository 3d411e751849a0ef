#pragma once
#include <compare>
#include <string>
#include <vector>

#include "plugins/deepmd/data/system.hpp"

namespace cambium::deepmd {

/// Names of the labels in an extended XYZ file, and what its numbers are multiplied by to be eV and Å. Where a name is
/// the default, REF_energy, REF_forces and the other names of MACE, GPUMD and dpdata are taken, too (io/structures).
struct ExtxyzLabels {
  std::string energy = "energy", force = "forces", virial = "virial", stress = "stress";
  double energy_factor = 1.0, length_factor = 1.0;
};

struct ExtxyzFrame {
  std::vector<std::string> species;  ///< in order of their first atom
  std::vector<int> types;
  LabelledFrame frame;
  std::vector<std::string> unread;     ///< keys and columns that hold something else
  std::vector<std::string> read_from;  ///< keys and columns of labels that are not called as `labels` says
  struct Rivals {
    std::string label, taken, other;  ///< key of the deck; keys or columns of the file with different numbers
    auto operator<=>(const Rivals&) const = default;
  };
  std::vector<Rivals> rivals;  ///< labels that the frame has plainly and as REF_, with other numbers
};

/// Every frame of a file. Without Lattice, or with pbc="F F F", nothing is periodic. Where pbc is F in one or two
/// directions, the cell is widened along them until no cut-off below 40 Å reaches from one image to the next. A stress
/// (nine numbers, or six in Voigt's order xx yy zz yz xz xy) becomes the virial -volume * stress, with the volume of
/// the file's cell. InputError with file:line for anything else, and for a number that is not finite.
std::vector<ExtxyzFrame> read_extxyz_frames(const std::string& path, const ExtxyzLabels& labels = {});

/// Which columns nobody reads, and a sentence for each label that is not called as the deck says, with the number of
/// frames where not all have it so.
std::vector<std::string> label_remarks(const std::string& path, const std::vector<ExtxyzFrame>& frames);

/// A sentence for each label that frames have plainly and as REF_ with other numbers: programs differ in which is
/// meant.
std::vector<std::string> label_doubts(const std::string& path, const std::vector<ExtxyzFrame>& frames);

}  // namespace cambium::deepmd
