#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/datasets/frame.hpp"

namespace cambium::deepmd {

/// Atomic configurations as samples of a data set: "species" (symbols separated by blanks), "type" (their index, by
/// atom), "coord" (atoms x 3, Å), and where present "box" (3 x 3, rows, Å), "energy" (1, eV), "force" (atoms x 3,
/// eV/Å), "virial" (3 x 3, eV), "fparam" and "aparam" (frame parameters; atoms x atomic parameters), and "axes" (3 x
/// 3), the rotation from the axes of the data into those of Box, if they differ. Values are float64, types int32.
train::SamplePtr make_sample(std::int64_t id, const std::vector<std::string>& species, std::span<const int> types,
                             const LabelledFrame& frame);
std::vector<train::FieldInfo> sample_fields();

/// Atoms of a sample, with the types of `type_map`; InputError for a species that is not in it.
struct SampleAtoms {
  std::vector<std::array<double, 3>> positions;  ///< Å
  std::vector<int> types;
  std::optional<Box> box;              ///< none: nothing is periodic
  std::vector<double> fparam, aparam;  ///< aparam atom by atom
};
SampleAtoms atoms_of(const train::Sample& sample, const std::vector<std::string>& type_map);

/// Symbols of a sample, and its frame with the types of `type_map`; InputError for a species that is not in it.
std::vector<std::string> species_of(const train::Sample& sample);
TrainingFrame frame_of(const train::Sample& sample, const std::vector<std::string>& type_map, double rcut);
/// Hash of a sample's content, by which frames are cached.
std::uint64_t fingerprint(const train::Sample& sample);

}  // namespace cambium::deepmd
