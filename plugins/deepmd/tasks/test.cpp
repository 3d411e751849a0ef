#include "plugins/deepmd/tasks/test.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "plugins/deepmd/tools/parity.hpp"

namespace cambium::deepmd {

void TestStage::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file, .dp, .yaml or .pb").example("water.dp");
  d("systems", &Params::systems, "systems of DeePMD-kit (folders, FILE.hdf5#/GROUP), extended XYZ files with labels")
      .example("[water/data_3]");
  d("labels", &Params::labels, "names and units of the labels in extended XYZ files");
  d("precision", &Params::precision, "float64, or mixed: networks in float32")
      .options({{"float64", EnginePrecision::float64}, {"mixed", EnginePrecision::mixed}})
      .def(EnginePrecision::float64);
}

TestStage::TestStage(const Params& params, Context&) : params_(params) {
  if (params.systems.empty())
    throw KeyError("test.systems.empty", "systems",
                   "no system to test the model on; name folders of deepmd/npy data or extended XYZ files");
}

void TestStage::examine(Check& check) {
  for (const char* name : {"errors.csv", "parity_*"}) check.will_write({name, {Origin::stage, "test"}});
  if (!check.stage().tried) return;
  check.context().log.info(fmt::format("test: {} on {} system(s)", params_.model, params_.systems.size()));
  const deck::Node& keys = check.stage().keys;
  check.require_written_by("model", params_.model, {{Origin::model_of, "deep_potential"}});
  check.reads(keys["systems"]);
  check.reads(keys["model"]);
  if (!check.small()) return check.not_looked_at("the systems: they are too large for a check");
  const bool waits = check.waits(params_.model);
  if (waits) check.not_looked_at(fmt::format("the model: '{}' is still to be written", params_.model));
  for (std::size_t k = 0; k < params_.systems.size(); ++k) {
    const auto& path = params_.systems[k];
    const std::string key = deck::child_path("systems", k);
    check.require_written_by(key, path, {{Origin::stage, "label"}});
    if (check.waits(path)) {
      check.not_looked_at(fmt::format("the system '{}': it is still to be written", path));
      continue;
    }
    const LabelledData data = deck::about_key(
        "test.systems.file", key, [&] { return load_labelled(path, params_.labels, check.context().comm); });
    if (waits) continue;
    const auto model =
        deck::about_key("test.model.file", "model", [&] { return DeepPotentialModel::load(params_.model); });
    deck::about_key("test.systems.species", key, [&] {
      for (std::size_t frame = 0; frame < data.frames(); ++frame) data.types(frame, model.type_map, params_.model);
    });
  }
}

Task::Outcome TestStage::run(Context& context) {
  const auto shown = [](double error) { return error < 0.0 ? std::string("-") : fmt::format("{:.5g}", error); };
  // A cell is empty where the data have no such labels.
  const auto cell = [](double error) { return error < 0.0 ? std::string() : fmt::format("{:.6g}", error); };
  work_ = {0, "frame"};
  std::string errors = "system,frames,energy_rmse (eV/atom),force_rmse (eV/angstrom),virial_rmse (eV/atom)\n";
  context.log.info(fmt::format("{:>6} {:>14} {:>14} {:>14}  system", "frames", "energy", "force", "virial"));
  context.log.info(
      fmt::format("{:>6} {:>14} {:>14} {:>14}  RMSE of {}", "", "eV/atom", "eV/Å", "eV/atom", params_.model));
  ToolOptions options;
  options.model = params_.model;
  options.precision = params_.precision;
  for (std::size_t s = 0; s < params_.systems.size(); ++s) {
    const std::string& path = params_.systems[s];
    const LabelledData data = load_labelled(path, params_.labels, context.comm);
    for (const auto& remark : data.remarks()) context.log.info(remark);
    const Parity p = parity_of(data, options, 0, context.comm);
    const double e = io::errors_of(p.energy).rmse, f = io::errors_of(p.force).rmse, v = io::errors_of(p.virial).rmse;
    context.log.info(fmt::format("{:>6} {:>14} {:>14} {:>14}  {}", p.frames, shown(e), shown(f), shown(v), path));
    if (!p.remark.empty()) context.log.warn(fmt::format("{}: {}", path, p.remark));
    work_.items += static_cast<std::int64_t>(p.frames);
    errors += fmt::format("{},{},{},{},{}\n", io::csv_cell(path), p.frames, cell(e), cell(f), cell(v));
    io::on_root(context.comm, [&] { p.write(context.run_directory, fmt::format("parity_{}", s)); });
  }
  io::on_root(context.comm, [&] { io::write_file_atomically(context.run_directory + "/errors.csv", errors); });
  return Outcome::done;
}

}  // namespace cambium::deepmd
