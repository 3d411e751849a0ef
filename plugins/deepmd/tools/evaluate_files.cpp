#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/structures/extxyz.hpp"
#include "core/io/structures/extxyz_reader.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/engine/evaluate.hpp"
#include "plugins/deepmd/tools/engine_of.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

namespace {

constexpr double bar_per_ev_per_cubic_angstrom = 1602176.634;

std::string result_line(const std::string& label, const Evaluation& e, const std::optional<Box>& box) {
  double largest = 0.0;
  for (const auto& f : e.force) largest = std::max(largest, std::hypot(f[0], f[1], f[2]));
  std::string text = fmt::format("{}: energy {:.10g} eV ({:.8g} eV/atom), largest force {:.6g} eV/Å", label, e.energy,
                                 e.energy / static_cast<double>(e.force.size()), largest);
  if (box) {
    const double trace = e.virial[0] + e.virial[4] + e.virial[8];
    text += fmt::format(", virial pressure {:.6g} bar", trace / 3.0 / box->volume() * bar_per_ev_per_cubic_angstrom);
  }
  return text + "\n";
}

std::vector<int> types_by_symbol(const Structure& structure, const DeepPotentialModel& model) {
  std::vector<int> out;
  for (int type : structure.type) {
    const std::string& symbol = structure.species[static_cast<std::size_t>(type)].symbol;
    const auto found = std::find(model.type_map.begin(), model.type_map.end(), symbol);
    if (found == model.type_map.end())
      throw InputError(fmt::format("species '{}' is not known to the model {}; it knows: {}", symbol, model.source,
                                   fmt::join(model.type_map, ", ")));
    out.push_back(static_cast<int>(found - model.type_map.begin()));
  }
  return out;
}

void write_forces(const std::string& path, const Structure& structure, const Evaluation& e) {
  io::Frame frame;
  frame.set_cell(structure.box, structure.axes);
  frame.species = structure.species;
  frame.id = structure.tag;
  frame.type = structure.type;
  for (std::size_t i = 0; i < structure.x.size(); ++i) {
    const auto x = structure.axes.vector(structure.x[i].data()), f = structure.axes.vector(e.force[i].data());
    frame.position.insert(frame.position.end(), x.begin(), x.end());
    frame.force.insert(frame.force.end(), f.begin(), f.end());
    frame.image.insert(frame.image.end(), {0, 0, 0});
  }
  frame.energy = e.energy;
  frame.virial = structure.axes.tensor(e.virial);
  io::write_file_atomically(path, io::extxyz_text(frame));
}

std::string evaluate_structure(const EvalOptions& options, const Comm& comm) {
  const Structure structure = io::read_extxyz(options.structure, options.frame, comm);
  auto engine = engine_of(options);
  const Evaluation e = evaluate(*engine, structure.x, types_by_symbol(structure, engine->model()), structure.box);
  if (!options.output.empty()) write_forces(options.output, structure, e);
  return result_line(options.structure, e, structure.box);
}

std::string evaluate_system(const EvalOptions& options) {
  if (!options.output.empty())
    throw InputError("--output writes forces of an extended XYZ file; the structure is a deepmd/npy system");
  const DataSystem system = DataSystem::load(options.structure);
  auto engine = engine_of(options, system);
  const std::vector<int> types = model_types(system, engine->model().type_map, options.model);
  std::string text;
  for (std::size_t k = 0; k < system.frames(); ++k) {
    const LabelledFrame& frame = system.frame(k);
    text +=
        result_line(fmt::format("{} frame {}", options.structure, k), evaluate_frame(*engine, frame, types), frame.box);
  }
  return text;
}

}  // namespace

std::string evaluate_files(const EvalOptions& options, const Comm& comm) {
  if (comm.size() > 1) throw InputError("the model tools run on one rank; start them without mpirun");
  return std::filesystem::is_directory(options.structure) ? evaluate_system(options)
                                                          : evaluate_structure(options, comm);
}

}  // namespace cambium::deepmd
