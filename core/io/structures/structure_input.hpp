#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/groups.hpp"
#include "core/particles/lattice.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// The key `structure` of a deck: a crystal, or a file.
struct StructureInput {
  enum class Format { by_name, extxyz, lammps_data, lammps_dump, poscar, gen, checkpoint };
  std::optional<LatticeSpec> lattice;
  std::string file;
  Format format = Format::by_name;
  std::int64_t frame = -1;
  std::vector<std::string> species;
  std::string units, velocity_unit;
  std::array<int, 3> repeat = {1, 1, 1};
  std::optional<GroupSpec> keep;
  bool velocities = true;  ///< no key: false if the velocities of a file are ignored
  static void describe(deck::Describe<StructureInput>& d);
};

/// This rank's part of the atoms, before Domain::migrate() sends them to their owners. `masses` overrides those of the
/// file and the standard weights; an error names the owner's keys, `structure` and `masses`. `axes` receives those in
/// which the structure was given. Throws InputError for a mass of a species that does not occur.
Particles build_structure(const StructureInput& input, const std::map<std::string, double>& masses, Context& context,
                          GivenAxes* axes = nullptr);

/// Collective, for `cambium check`: the species and masses that build_structure() will give, from one cell of a crystal
/// or from the file; none if the file does not exist yet, or is in this run's own folder, where an earlier stage will
/// write it again.
std::optional<std::vector<Species>> species_of(const StructureInput& input, const std::map<std::string, double>& masses,
                                               Context& context);

}  // namespace cambium
