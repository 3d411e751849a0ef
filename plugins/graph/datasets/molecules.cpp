#include "plugins/graph/datasets/molecules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/base/units.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::graph {

namespace {

std::string problem_of(const Molecules::Params& p) {
  if (p.file.empty() == !p.made_up) return "give one of: file, synthetic";
  if (p.fold && *p.fold >= p.folds)
    return fmt::format("fold is {}, but they are counted from 0 to {}", *p.fold, p.folds - 1);
  if (!p.fold && p.part == Molecules::Part::test)
    return "split: test takes the molecules of a fold; give one (fold: 0), or leave split out for all molecules";
  if (!p.energy_unit) return "";
  std::string problem;
  const auto unit = parse_unit(*p.energy_unit, &problem);
  if (!unit) return "energy_unit: " + problem;
  if (!(unit->dimension == unit_of("eV").dimension))
    return fmt::format("energy_unit: {} is no unit of an energy; give one such as kcal/mol or eV", *p.energy_unit);
  return "";
}

}  // namespace

void Molecules::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file, "HDF5 file of molecules, or extended XYZ (.xyz, .extxyz)").def("").example("molecules.h5");
  d("group", &Params::group, "group of the HDF5 file that holds them").def("").example("gdb1k");
  d("synthetic", &Params::made_up, "synthetic clusters with a model energy, instead of a file").formerly("made_up");
  d("energy", &Params::energy, "key of the energy in the comments of an extended XYZ file").def("energy");
  d("force", &Params::force, "column of the forces in an extended XYZ file").def("forces");
  d("energy_unit", &Params::energy_unit,
    "energy unit of the file, if it states none; default: kcal/mol for HDF5, eV for extended XYZ")
      .example("eV");
  d("fold", &Params::fold, "test fold of the molecules; default: none, all molecules are used").at_least(0);
  d("split", &Params::part, "training: all but the fold; test: the fold")
      .formerly("part")
      .options({{"training", Part::training}, {"test", Part::test}})
      .def(Part::training);
  d("folds", &Params::folds, "number of folds, in the order of the file, if it defines none").range(2, 1000).def(5);
  d.check(problem_of);
}

MoleculeTable Molecules::table() const {
  if (params_.made_up) return make_molecules(*params_.made_up);
  MoleculeTable out;
  const bool xyz = params_.file.ends_with(".xyz") || params_.file.ends_with(".extxyz");
  out = xyz ? read_molecule_xyz(params_.file, params_.energy, params_.force)
            : read_molecule_h5(params_.file, params_.group);
  if (!out.energy_unit.empty() && params_.energy_unit && *params_.energy_unit != out.energy_unit)
    throw KeyError("molecules.energy_unit", "energy_unit",
                   fmt::format("'{}' states energies in {}, energy_unit in {}; remove energy_unit", params_.file,
                               out.energy_unit, *params_.energy_unit));
  if (out.energy_unit.empty()) out.energy_unit = params_.energy_unit.value_or(xyz ? "eV" : "kcal/mol");
  return out;
}

/// Mask of the molecules in this set.
std::vector<bool> Molecules::chosen(const MoleculeTable& table) const {
  const auto n = std::ssize(table.molecules);
  std::vector<bool> out(n, true);
  if (!params_.fold) return out;
  std::int64_t inside = 0;
  for (std::int64_t m = 0; m < n; ++m) {
    const std::int64_t fold = table.fold.empty() ? m * params_.folds / n : table.fold[m];
    inside += fold == *params_.fold;
    out[m] = (fold == *params_.fold) == (params_.part == Part::test);
  }
  if (inside == 0 || inside == n)
    throw KeyError("molecules.fold", "fold",
                   fmt::format("{}: fold {} holds {} of {} molecules, so that one part is empty; choose another fold",
                               source(), *params_.fold, inside, n));
  return out;
}

void Molecules::open(Context& context) {
  samples_.clear();
  io::on_every_rank(context.comm, [&] {
    auto all = table();
    for (const auto& remark : all.remarks) context.log.info(remark);
    fields_ = molecule_fields(all);
    const auto mine = chosen(all);
    for (std::size_t m = 0; m < mine.size(); ++m)
      if (mine[m]) samples_.push_back(molecule_sample(std::move(all.molecules[m]), all, std::ssize(samples_)));
  });
  std::int64_t atoms = 0, most = 0;
  for (const auto& sample : samples_) {
    const auto here = molecule_of(*sample).atoms();
    atoms += here;
    most = std::max(most, here);
  }
  context.log.info(fmt::format(
      "{} molecules with {} atoms, {} in the largest, of {}{}", size(), atoms, most, source(),
      params_.fold ? fmt::format(" ({} fold {})", params_.part == Part::test ? "inside" : "outside", *params_.fold)
                   : ""));
}

std::vector<train::SamplePtr> Molecules::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(samples_.at(id));
  return out;
}

}  // namespace cambium::graph
