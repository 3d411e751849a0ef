#include "plugins/graph/tasks/molecule_energies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::graph {

using train::Dataset;
using Baseline = EnergyFit::Kind;

void MoleculeEnergies::Params::describe(deck::Describe<Params>& d) {
  d("training", &Params::training, "training set of the baselines: the molecules that the models were trained on");
  d("test", &Params::test, "test set of molecules");
  d("models", &Params::models,
    "model files that train stages wrote; for several, their ensemble mean is evaluated, too")
      .def({})
      .example("[\"{run}/train/model.h5\"]");
  d("baselines", &Params::baselines,
    "fits without a network: linear in the counts of atoms, of atoms and bonds, and kernel ridge regression on Coulomb "
    "matrices and on bags of bonds; default: all that suit the molecules (bonds only where the data list them, kernels "
    "only without periodic cells)")
      .formerly("rivals")
      .options({{"atoms", Baseline::atoms},
                {"bonds", Baseline::bonds},
                {"coulomb", Baseline::coulomb},
                {"bag_of_bonds", Baseline::bag_of_bonds}});
  d("batch", &Params::batch, "molecules that a model evaluates at a time").at_least(1).def(64);
  d.check([](const Params& p) -> std::string {
    return p.models.empty() && p.baselines && p.baselines->empty()
               ? "there is nothing to evaluate: name models, baselines or both"
               : "";
  });
}

namespace {

/// Values that identify a molecule: atomic numbers and positions.
std::vector<double> content_of(const MoleculeView& molecule) {
  std::vector<double> out(molecule.species.begin(), molecule.species.end());
  out.insert(out.end(), molecule.position.begin(), molecule.position.end());
  return out;
}

}  // namespace

/// The molecules of a run, and the test set as read by the models.
struct MoleculeEnergies::Judged {
  /// All samples of a data set of molecules.
  struct Held {
    std::vector<train::SamplePtr> samples;
    std::vector<MoleculeView> views;
    std::string unit;

    Held(Dataset& data, Context& context) {
      data.open(context);
      for (const auto& field : data.fields())
        if (field.name == "energy") unit = field.unit;
      std::vector<std::int64_t> ids(data.size());
      std::iota(ids.begin(), ids.end(), 0);
      samples = data.read(ids);
      for (const auto& sample : samples) views.push_back(molecule_of(*sample));
    }
  };

  std::unique_ptr<Dataset> training_set, test_set;
  Held training, test;
  Judged(const Params& p, Context& context)
      : training_set(context.registry->make<Dataset>(p.training, context)),
        test_set(context.registry->make<Dataset>(p.test, context)), training(*training_set, context),
        test(*test_set, context) {
    if (training.unit != test.unit)
      throw KeyError("molecule_energies.unit", "test",
                     fmt::format("the energies for training are in {}, those for the test in {}; convert one of them",
                                 training.unit, test.unit));
    const auto again = molecules_in_both();
    if (again == std::ssize(test.views))
      throw KeyError("molecule_energies.test.same", "test",
                     "all molecules of 'test' are also in 'training', so that their errors are too small; give other "
                     "molecules: split: test of the same fold");
    if (again > 0)
      context.log.warn(
          fmt::format("{} of {} molecules of 'test' are also in 'training', so that their errors are too small; remove "
                      "them from one of both",
                      again, test.views.size()));
  }

  /// Number of test molecules that are also in the training set.
  std::int64_t molecules_in_both() const {
    std::set<std::vector<double>> known;
    for (const auto& molecule : training.views) known.insert(content_of(molecule));
    return std::count_if(test.views.begin(), test.views.end(),
                         [&](const MoleculeView& molecule) { return known.contains(content_of(molecule)); });
  }
};

/// Loads a model that predicts energies of these molecules.
static train::LoadedModel loaded(const std::string& path, train::Dataset& data, Context& context) {
  auto model = train::load_artifact(path, context);
  const auto outputs = model.network->outputs();
  if (outputs.size() != 1 || outputs[0].name != "energy" || !outputs[0].shape.empty())
    throw KeyError("molecule_energies.models.type", "",
                   fmt::format("'{}' is a '{}', which gives no energies of molecules; name a model of the type "
                               "message_passing",
                               path, model.info.type));
  train::require_fields(model, path, data);
  return model;
}

void MoleculeEnergies::examine(Check& check) {
  for (const char* name : {"scores.csv", "energies.h5"}) check.will_write({name, {Origin::stage, "molecule_energies"}});
  check.require_written_by("models", params_.models, {{Origin::network}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<Dataset>(params_.training, context);
  context.registry->make<Dataset>(params_.test, context);
  context.log.info(fmt::format("molecule_energies: {} models, {} baselines", params_.models.size(),
                               params_.baselines ? std::to_string(params_.baselines->size()) : "all suitable"));
  for (const auto* data : {&params_.training, &params_.test})
    if (const auto path = check.waits(data->node))
      return check.not_looked_at(fmt::format("the molecules: '{}' is still to be written", *path));
  const Judged judged(params_, check.context());
  baselines(judged, nullptr);
  for (std::size_t k = 0; k < params_.models.size(); ++k) {
    const auto& path = params_.models[k];
    if (check.waits(path)) continue;
    deck::about_key("molecule_energies.models.file", deck::child_path("models", k),
                    [&] { loaded(path, *judged.test_set, check.context()); });
  }
}

std::vector<Baseline> MoleculeEnergies::baselines(const Judged& judged, Log* log) const {
  const auto suits = [&](Baseline kind) { EnergyFit::require(judged.training.views, kind); };
  if (params_.baselines) {
    for (const auto kind : *params_.baselines)
      deck::about_key("molecule_energies.baselines", "baselines", [&] { suits(kind); });
    return *params_.baselines;
  }
  std::vector<Baseline> out;
  for (const auto kind : {Baseline::atoms, Baseline::bonds, Baseline::coulomb, Baseline::bag_of_bonds}) try {
      suits(kind);
      out.push_back(kind);
    } catch (const InputError& error) {
      if (log) log->info(fmt::format("without the baseline '{}': {}", name_of(kind), error.what()));
    }
  return out;
}

std::vector<MoleculeEnergies::Row> MoleculeEnergies::baseline_rows(const Judged& judged, Log& log) {
  std::vector<Row> out;
  for (const auto baseline : baselines(judged, &log)) {
    EnergyFit fit;
    fit.fit(judged.training.views, baseline, true);
    Row row{name_of(baseline), fit.note(judged.test.unit), {}};
    for (const auto& molecule : judged.test.views) row.energy.push_back(fit(molecule));
    out.push_back(std::move(row));
    for (auto& work : fit.citations()) citations_.push_back(std::move(work));
  }
  return out;
}

/// Output `energy` of a model for all samples, which are distributed over ranks.
static std::vector<double> energies_of(train::LoadedModel& model, std::span<const train::SamplePtr> samples,
                                       std::int64_t batch, Context& context) {
  std::vector<double> out(samples.size(), 0.0);
  io::on_every_rank(context.comm, [&] {
    for (std::int64_t k = context.comm.rank(); k * batch < std::ssize(samples); k += context.comm.size()) {
      const auto first = k * batch, count = std::min(batch, std::ssize(samples) - first);
      const TensorRef to = io::tensor_of(&out[first], {count});
      model.network->infer(samples.subspan(first, static_cast<std::size_t>(count)), model.weights.views(),
                           std::span(&to, 1));
    }
  });
  context.comm.sum(std::span(out));
  return out;
}

std::vector<MoleculeEnergies::Row> MoleculeEnergies::model_rows(const Judged& judged, Context& context) {
  std::vector<Row> out;
  Row mean{"mean", fmt::format("of {} models", params_.models.size()),
           std::vector<double>(judged.test.samples.size(), 0.0)};
  for (const auto& path : params_.models) {
    auto model = loaded(path, *judged.test_set, context);
    for (const auto& citation : model.network->citations()) citations_.push_back(citation);
    Row row{params_.models.size() == 1 ? "model" : fmt::format("model_{}", out.size() + 1), path,
            energies_of(model, judged.test.samples, params_.batch, context)};
    for (std::size_t m = 0; m < row.energy.size(); ++m)
      mean.energy[m] += row.energy[m] / static_cast<double>(params_.models.size());
    out.push_back(std::move(row));
  }
  if (out.size() > 1) out.push_back(std::move(mean));
  return out;
}

void MoleculeEnergies::score(Row& row, const Judged& judged) const {
  const auto n = static_cast<double>(row.energy.size());
  for (std::size_t m = 0; m < row.energy.size(); ++m) {
    const double error = row.energy[m] - judged.test.views[m].energy;
    row.mae += std::abs(error) / n;
    row.rmse += error * error / n;
    row.largest = std::max(row.largest, std::abs(error));
  }
  row.rmse = std::sqrt(row.rmse);
}

void MoleculeEnergies::write(const Judged& judged, Context& context) const {
  namespace fs = std::filesystem;
  std::string table = fmt::format("method,mae [{0}],rmse [{0}],largest [{0}]\n", unit_);
  for (const auto& row : rows_) table += fmt::format("{},{},{},{}\n", row.name, row.mae, row.rmse, row.largest);
  io::on_root(context.comm, [&] {
    io::write_file_atomically((fs::path(context.run_directory) / "scores.csv").string(), table);
    io::write_h5_atomically((fs::path(context.run_directory) / "energies.h5").string(), [&](io::File& out) {
      io::follow_cf(out);
      std::vector<double> truth;
      std::vector<std::int64_t> number;
      for (const auto& sample : judged.test.samples) number.push_back(sample->id);
      for (const auto& view : judged.test.views) truth.push_back(view.energy);
      io::labelled(out.write("molecule", number), "", "index of the molecule in the test set");
      const auto add = [&](const std::string& name, const std::vector<double>& values, const std::string& meaning) {
        io::labelled(out.write(name, values), unit_, meaning);
        out.attach_scales(name, {"molecule"});
      };
      add("truth", truth, "energies of the data");
      for (const auto& row : rows_) add(row.name, row.energy, row.note);
      io::write_provenance(out, io::provenance_of(context));
    });
  });
}

Task::Outcome MoleculeEnergies::run(Context& context) {
  const Judged judged(params_, context);
  unit_ = judged.test.unit;
  citations_.clear();
  rows_ = baseline_rows(judged, context.log);
  for (auto& row : model_rows(judged, context)) rows_.push_back(std::move(row));
  context.log.info(fmt::format("{} molecules for training, {} for the test; errors in {}:",
                               judged.training.views.size(), judged.test.views.size(), unit_));
  context.log.info(fmt::format("  {:<14}{:>12}{:>12}{:>12}", "", "mean abs.", "rms", "largest"));
  for (auto& row : rows_) {
    score(row, judged);
    context.log.info(
        fmt::format("  {:<14}{:>12.4g}{:>12.4g}{:>12.4g}  {}", row.name, row.mae, row.rmse, row.largest, row.note));
  }
  write(judged, context);
  work_ = {std::ssize(judged.test.views), "molecule"};
  return Outcome::done;
}

std::vector<Result> MoleculeEnergies::results() const {
  std::vector<Result> out;
  for (const auto& row : rows_) {
    const auto key = key_of("mae_" + row.name);
    out.push_back({key, key, row.mae, unit_});
  }
  return out;
}

}  // namespace cambium::graph
