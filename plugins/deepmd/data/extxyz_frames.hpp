#pragma once
#include <compare>
#include <string>
#include <vector>

#include "plugins/deepmd/data/system.hpp"

namespace cambium::deepmd {

/// Names of the labels in an extended XYZ file, and the factors that convert its units to eV and Å. For a default name,
/// REF_energy, REF_forces and the other names of MACE, GPUMD and dpdata are accepted, too (io/structures).
struct ExtxyzLabels {
  std::string energy = "energy", force = "forces", virial = "virial", stress = "stress";
  double energy_factor = 1.0, length_factor = 1.0;
};

struct ExtxyzFrame {
  std::vector<std::string> species;  ///< in order of their first atom
  std::vector<int> types;
  LabelledFrame frame;
  std::vector<std::string> unread;     ///< keys and columns that hold something else
  std::vector<std::string> read_from;  ///< keys and columns of labels whose names differ from those in `labels`
  struct Rivals {
    std::string label, taken, other;  ///< key of the deck; keys or columns of the file with different values
    auto operator<=>(const Rivals&) const = default;
  };
  std::vector<Rivals> rivals;  ///< labels that the frame has both plain and as REF_, with different values
};

/// Reads every frame of a file. Without Lattice, or with pbc="F F F", nothing is periodic. If pbc is F in one or two
/// directions, the cell is widened along them until no cut-off below 40 Å reaches from one image to the next. A stress
/// (nine values, or six in Voigt order xx yy zz yz xz xy) becomes the virial -volume * stress, with the volume of the
/// file's cell. InputError with file:line for anything else, and for a value that is not finite.
std::vector<ExtxyzFrame> read_extxyz_frames(const std::string& path, const ExtxyzLabels& labels = {});

/// Lists the columns that are not read, and a message for each label whose name differs from the deck's, with the
/// number of frames if not all of them have it.
std::vector<std::string> label_remarks(const std::string& path, const std::vector<ExtxyzFrame>& frames);

/// Returns a message for each label that frames have both plain and as REF_ with different values: programs differ in
/// which one is meant.
std::vector<std::string> label_doubts(const std::string& path, const std::vector<ExtxyzFrame>& frames);

}  // namespace cambium::deepmd
