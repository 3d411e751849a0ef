#include "core/train/run/predict.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"
#include "core/deck/about_key.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/run/extrapolation.hpp"
#include "core/train/run/other_conditions.hpp"

namespace cambium::train {

void Predict::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file that a train stage wrote").example("\"{run}/train/model.h5\"");
  d("dataset", &Params::dataset,
    "samples to predict; labels are not needed. Values that the model does not read, such as identifiers, are copied "
    "next to the predictions");
  d("batch", &Params::batch, "samples predicted at a time").at_least(1).def(64);
  d("table", &Params::table,
    "write predicted.csv in addition to predicted.h5; default: if a sample has at most 64 predicted values");
  d("memory_limit", &Params::limit,
    "memory of a rank for weights: they are read from the file module by module for every batch, of networks that name "
    "their modules; default: all in memory")
      .unit("B")
      .positive();
  d("allow_other_parameters", &Params::allow_other_parameters,
    "apply a model also to data of other systems than those of its training (Rayleigh and Prandtl number, plates), "
    "with "
    "a warning")
      .def(false);
}

std::unique_ptr<Dataset> Predict::opened(Context& context) const {
  auto data = context.registry->make<Dataset>(params_.dataset, context);
  deck::about_key("predict.dataset", "dataset", [&] { data->open(context); });
  if (data->size() == 0)
    throw KeyError("predict.dataset.empty", "dataset", "the data set is empty: there is nothing to predict");
  return data;
}

std::optional<std::int64_t> Predict::limit() const {
  return params_.limit ? std::optional(static_cast<std::int64_t>(*params_.limit)) : std::nullopt;
}

bool Predict::writes_table(std::span<const FieldInfo> outputs) const {
  return params_.table.value_or(numbers_of(outputs) <= most_columns);
}

void Predict::examine(Check& check) {
  check.will_write({"predicted.h5", {Origin::stage, "predict"}});
  if (params_.table.value_or(false)) check.will_write({"predicted.csv", {Origin::stage, "predict"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<Dataset>(params_.dataset, context);
  context.log.info(fmt::format("model {} on data set {}", params_.model, params_.dataset.type));
  check.require_written_by("model", params_.model, {{Origin::network}});
  check.reads(check.stage().keys["model"]);
  check.reads(params_.dataset.node);
  if (const auto path = check.waits(params_.dataset.node))
    return check.not_looked_at(fmt::format("the data: '{}' is still to be written", *path));
  if (!check.small()) return check.not_looked_at("model and data: they are too large for a check");
  const auto data = opened(context);
  if (check.waits(params_.model))
    return check.not_looked_at(fmt::format("the model: '{}' is still to be written", params_.model));
  const auto model =
      deck::about_key("predict.model", "model", [&] { return AppliedModel(params_.model, context, limit()); });
  require_conditions(model.loaded(), params_.model, *data, params_.allow_other_parameters, context.log);
  const auto outputs = deck::about_key("predict.model", "model", [&] { return model.outputs_of(data->fields()); });
  if (!params_.table && writes_table(outputs)) check.will_write({"predicted.csv", {Origin::stage, "predict"}});
}

Task::Outcome Predict::run(Context& context) {
  const Region region("between kernels", WorkKind::host);
  const auto data = opened(context);
  AppliedModel model(params_.model, context, limit());
  require_conditions(model.loaded(), params_.model, *data, params_.allow_other_parameters, context.log);
  const auto outputs = deck::about_key("predict.fields", "dataset", [&] { return model.outputs_of(data->fields()); });
  warn_of_ranges(model.loaded().info, *data, context.log);
  const std::filesystem::path folder = context.run_directory;
  PredictionPaths paths{(folder / "predicted.h5").string(), ""};
  files_ = {"predicted.h5"};
  if (writes_table(outputs)) {
    paths.csv = (folder / "predicted.csv").string();
    files_.push_back("predicted.csv");
  }
  summary_ = apply_model(model, *data, params_.batch, paths, context);
  std::string held;
  if (const auto largest = model.largest_module())
    held = fmt::format(", module by module ({:.3f} MB at most)", 1e-6 * static_cast<double>(*largest));
  context.log.info(fmt::format("{} on {} samples{}:", params_.model, data->size(), held));
  for (const auto& line : summary_.lines()) context.log.info(line);
  citations_ = model.loaded().network->citations();
  for (const auto& citation : data->citations()) citations_.push_back(citation);
  return Outcome::done;
}

}  // namespace cambium::train
