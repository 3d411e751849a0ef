#include "plugins/deepmd/train/datasets.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/io/agree.hpp"
#include "plugins/deepmd/data/extxyz_frames.hpp"

namespace cambium::deepmd {

namespace {
std::vector<train::SamplePtr> pick(const std::vector<train::SamplePtr>& samples, std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const std::int64_t id : ids) out.push_back(samples.at(static_cast<std::size_t>(id)));
  return out;
}
}  // namespace

void DeepmdNpy::Params::describe(deck::Describe<Params>& d) {
  d("systems", &Params::systems,
    "folders with type.raw, type_map.raw and set.*/{coord, box, energy, force, virial}.npy; Å and eV")
      .example("[water/data_0, water/data_1]");
  d.check([](const Params& p) { return p.systems.empty() ? "systems names no folder" : ""; });
}

void DeepmdNpy::open(Context& context) {
  io::on_every_rank(context.comm, [&] {
    for (const std::string& folder : params_.systems) {
      const DataSystem system = DataSystem::load(folder);
      if (system.type_map().empty())
        throw InputError(
            fmt::format("{}/type_map.raw: does not exist; write the species' symbols into it, in the order of the "
                        "numbers in type.raw",
                        folder));
      const std::vector<int> types = model_types(system, system.type_map(), folder);
      for (std::size_t k = 0; k < system.frames(); ++k) {
        samples_.push_back(make_sample(size(), system.type_map(), types, system.frame(k)));
        bytes_ += samples_.back()->bytes;
      }
    }
  });
}

std::vector<train::SamplePtr> DeepmdNpy::read(std::span<const std::int64_t> ids) { return pick(samples_, ids); }

void ExtxyzSet::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files, "extended XYZ files; every frame is a sample").example("[train.xyz]");
  d("energy", &Params::energy, "key of the comment line that holds the energy").def("energy");
  d("force", &Params::force, "columns that hold the forces").def("forces");
  d("virial", &Params::virial, "key of the comment line that holds the virial, nine numbers").def("virial");
  d("stress", &Params::stress,
    "key that holds the stress as ASE writes it (virial = -volume * stress), used where there is no virial")
      .def("stress");
  d("energy_unit", &Params::energy_unit, "unit of the file's energies").def("eV");
  d("length_unit", &Params::length_unit, "unit of the file's lengths").def("angstrom");
  d.check([](const Params& p) -> std::string {
    if (p.files.empty()) return "files names no file";
    for (const auto& [unit, like] : {std::pair{p.energy_unit, "eV"}, {p.length_unit, "angstrom"}}) {
      std::string problem;
      if (!parse_unit(unit, &problem)) return problem;
      if (!(parse_unit(unit)->dimension == unit_of(like).dimension))
        return fmt::format("'{}' is not a unit like {}", unit, like);
    }
    return "";
  });
}

void ExtxyzSet::open(Context& context) {
  ExtxyzLabels labels;
  labels.energy = params_.energy, labels.force = params_.force, labels.virial = params_.virial,
  labels.stress = params_.stress;
  labels.energy_factor = conversion(params_.energy_unit, "eV");
  labels.length_factor = conversion(params_.length_unit, "angstrom");
  io::on_every_rank(context.comm, [&] {
    for (const std::string& file : params_.files)
      for (const ExtxyzFrame& frame : read_extxyz_frames(file, labels)) {
        samples_.push_back(make_sample(size(), frame.species, frame.types, frame.frame));
        bytes_ += samples_.back()->bytes;
      }
  });
}

std::vector<train::SamplePtr> ExtxyzSet::read(std::span<const std::int64_t> ids) { return pick(samples_, ids); }

}  // namespace cambium::deepmd
