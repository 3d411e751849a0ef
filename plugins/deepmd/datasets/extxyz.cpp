#include "plugins/deepmd/datasets/extxyz.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/deepmd/data/extxyz_frames.hpp"

namespace cambium::deepmd {

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
        samples_.add(make_sample(size(), frame.species, frame.types, frame.frame));
      }
  });
}

}  // namespace cambium::deepmd
