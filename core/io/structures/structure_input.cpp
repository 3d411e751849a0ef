#include "core/io/structures/structure_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/structures/checkpoint_structure.hpp"
#include "core/io/structures/extxyz_reader.hpp"
#include "core/io/structures/gen_reader.hpp"
#include "core/io/structures/lammps_data_reader.hpp"
#include "core/io/structures/lammps_dump_reader.hpp"
#include "core/io/structures/lammps_units.hpp"
#include "core/io/structures/poscar_reader.hpp"
#include "core/particles/repeat.hpp"

namespace cambium {

void StructureInput::describe(deck::Describe<StructureInput>& d) {
  using F = Format;
  d("lattice", &StructureInput::lattice, "lattice of a crystal, built instead of reading a file");
  d("file", &StructureInput::file,
    "extended XYZ, data file or dump of LAMMPS, POSCAR of VASP, gen file of DFTB+, or a checkpoint of an earlier run")
      .def("");
  d("format", &StructureInput::format,
    "file format; by_name selects *xyz as extended XYZ, *.h5 as a checkpoint, *POSCAR*, *CONTCAR* and *.vasp as "
    "VASP's, *.gen as DFTB+'s, others as a dump of LAMMPS where they begin with ITEM:, else as LAMMPS data")
      .options({{"by_name", F::by_name},
                {"extxyz", F::extxyz},
                {"lammps_data", F::lammps_data},
                {"lammps_dump", F::lammps_dump},
                {"poscar", F::poscar},
                {"gen", F::gen},
                {"checkpoint", F::checkpoint}})
      .def(F::by_name);
  d("frame", &StructureInput::frame, "frame index of an extended XYZ file or a dump, from 0; -1 is the last").def(-1);
  d("species", &StructureInput::species,
    "names of the types 1, 2, ... of a LAMMPS data file or dump, or of the counts of a POSCAR without names; order of "
    "the types for other files")
      .def({});
  d("units", &StructureInput::units,
    "LAMMPS' style of units of a data file or dump, such as real; when empty that of its title (units = ...) or of its "
    "item UNITS, else metal")
      .def("");
  d("velocity_unit", &StructureInput::velocity_unit,
    "unit of the velocities of an extended XYZ file; when empty by the column: velo angstrom/ps, vel angstrom/fs")
      .def("");
  d("repeat", &StructureInput::repeat, "copies of a file's cell along a, b and c; ids of the first copy are the file's")
      .at_least(1)
      .def({1, 1, 1});
  d("keep", &StructureInput::keep,
    "region of the atoms that are kept and renumbered; others are removed and the cell is unchanged, for a droplet, "
    "slab or void in a crystal");
  d.check([](const StructureInput& s) -> std::string {
    if (!s.lattice || s.repeat == std::array{1, 1, 1}) return {};
    const auto& cells = s.lattice->cells;
    return fmt::format("'repeat' is for files; a lattice has 'cells': [{}, {}, {}] are as many", cells[0] * s.repeat[0],
                       cells[1] * s.repeat[1], cells[2] * s.repeat[2]);
  });
  d.check([](const StructureInput& s) -> std::string {
    if (!s.units.empty() && !io::lammps_units(s.units))
      return fmt::format("units: there is no style '{}' with units; known: metal, real, si, cgs, electron, micro, nano",
                         s.units);
    std::string problem;
    const auto unit = s.velocity_unit.empty() ? unit_of("angstrom/ps") : parse_unit(s.velocity_unit, &problem);
    if (!unit) return "velocity_unit: " + problem;
    if (!(unit->dimension == unit_of("angstrom/ps").dimension))
      return fmt::format("velocity_unit: '{}' is no unit of a velocity; give one such as angstrom/fs", s.velocity_unit);
    return {};
  });
  d.check([](const StructureInput& s) -> std::string {
    if (s.lattice.has_value() != s.file.empty()) return "give either 'lattice' or 'file'";
    return {};
  });
}

static Structure read_structure(const StructureInput& input, Context& context) {
  if (input.lattice) return make_lattice(*input.lattice, context.comm, context.seed);
  using F = StructureInput::Format;
  if (input.format == F::checkpoint || (input.format == F::by_name && input.file.ends_with(".h5")))
    return read_checkpoint_structure(input.file, context.comm);
  if (input.format == F::poscar || (input.format == F::by_name && io::is_poscar_name(input.file)))
    return io::read_poscar(input.file, input.species, context.comm, input.velocities);
  if (input.format == F::gen || (input.format == F::by_name && input.file.ends_with(".gen")))
    return io::read_gen(input.file, context.comm);
  const bool xyz =
      input.format == F::extxyz || (input.format == F::by_name && input.file.size() > 3 && input.file.ends_with("xyz"));
  if (xyz) return io::read_extxyz(input.file, input.frame, context.comm, input.velocity_unit, input.velocities);
  const bool looks = input.format == F::by_name && context.comm.root() && io::is_lammps_dump(input.file);
  if (input.format == F::lammps_dump || context.comm.max(looks ? 1 : 0) > 0)
    return io::read_lammps_dump(input.file, input.species, input.frame, context.comm, input.units);
  return io::read_lammps_data(input.file, input.species, context.comm, input.units);
}

static std::vector<std::string> symbols_of(const std::vector<Species>& species) {
  std::vector<std::string> symbols;
  for (const auto& s : species) symbols.push_back(s.symbol);
  return symbols;
}

/// Notes of the reader, and masses that contradict their species, unless the deck gives them.
static void say_doubts(const Structure& structure, const std::map<std::string, double>& masses, Context& context) {
  for (const auto& text : structure.warnings) context.log.warn(text);
  std::vector<Species> given = structure.species;
  for (auto& species : given)
    if (masses.contains(species.symbol)) species.mass = 0.0;
  for (const auto& text : doubtful_masses(given)) context.log.warn(text);
}

static Particles build(const StructureInput& input, const std::map<std::string, double>& masses, Context& context,
                       GivenAxes* axes, bool remarks) {
  const std::string source = input.lattice ? "structure.lattice" : "structure.file";
  Structure structure = deck::about_key("structure.file", source, [&] { return read_structure(input, context); });
  if (remarks)
    for (const auto& text : structure.remarks) context.log.info(text);
  if (!input.file.empty()) say_doubts(structure, masses, context);
  deck::about_key("structure.repeat", "structure.repeat", [&] { repeat(structure, input.repeat, context.comm); });
  if (axes) *axes = structure.axes;
  std::vector<Species> declared = structure.species;
  if (!input.species.empty() && !input.lattice) {
    declared.clear();
    for (const auto& symbol : input.species)  // several types of a LAMMPS data file may be of one species
      if (std::none_of(declared.begin(), declared.end(), [&](const Species& s) { return s.symbol == symbol; }))
        declared.push_back({symbol, 0.0});
    for (auto& species : declared)
      for (const auto& given : structure.species)
        if (given.symbol == species.symbol) species.mass = given.mass;
  }
  for (const auto& [symbol, mass] : masses) {
    if (!(mass > 0.0))
      throw KeyError("structure.masses.range", deck::child_path("masses", symbol),
                     fmt::format("masses: that of '{}' is {} g/mol; give one above 0", symbol, mass));
    bool known = false;
    for (auto& species : declared)
      if (species.symbol == symbol) species.mass = mass, known = true;
    if (!known)
      throw KeyError(
          "structure.masses.unknown", deck::child_path("masses", symbol),
          fmt::format("masses: the structure has no species '{}'{}", symbol, suggestion(symbol, symbols_of(declared))));
  }
  Particles particles =
      deck::about_key("", input.lattice ? source : "structure", [&] { return particles_of(structure, declared); });
  if (input.keep) keep_only(particles, *input.keep, "structure.keep", context.comm, structure.axes);
  return particles;
}

Particles build_structure(const StructureInput& input, const std::map<std::string, double>& masses, Context& context,
                          GivenAxes* axes) {
  return build(input, masses, context, axes, true);
}

std::optional<std::vector<Species>> species_of(const StructureInput& input, const std::map<std::string, double>& masses,
                                               Context& context) {
  namespace fs = std::filesystem;
  StructureInput small = input;
  small.repeat = {1, 1, 1};
  small.keep.reset();
  small.velocities = false;
  if (small.lattice) {
    for (int& cells : small.lattice->cells) cells = std::min(cells, 1);
  } else {
    const std::string run = fs::path(context.run_directory).parent_path().string() + "/";
    const bool there = input.file.rfind(run, 0) != 0 && fs::exists(input.file);
    if (context.comm.max(there ? 1 : 0) == 0) return std::nullopt;
  }
  return build(small, masses, context, nullptr, false).species;
}

}  // namespace cambium
