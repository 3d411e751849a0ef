#include "core/train/trainer/evaluate.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/agree.hpp"
#include "core/io/csv.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/artifact/artifact.hpp"
#include "core/train/trainer/validation.hpp"

namespace cambium::train {

void Evaluate::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file that a train stage wrote").example("\"{run}/train/model.h5\"");
  d("dataset", &Params::dataset, "samples to judge it by");
  d("batch", &Params::batch, "samples evaluated at a time").at_least(1).def(8);
}

void Evaluate::check(Context& context) {
  context.registry->make<Dataset>(params_.dataset, context);
  context.log.info(fmt::format("model {} on data set {}", params_.model, params_.dataset.type));
}

/// A model knows nothing of numbers beyond those that it was trained on.
static void warn_of_ranges(const ArtifactInfo& info, Dataset& data, Log& log) {
  for (const auto& here : field_ranges(data, 256))
    for (const auto& seen : info.fields) {
      if (seen.info.name != here.info.name) continue;
      const double slack = 0.05 * (seen.highest - seen.lowest);
      if (here.lowest < seen.lowest - slack || here.highest > seen.highest + slack)
        log.warn(fmt::format("field '{}' spans [{:.4g}, {:.4g}], but training saw [{:.4g}, {:.4g}]: the model extrapolates",
                             here.info.name, here.lowest, here.highest, seen.lowest, seen.highest));
    }
}

Task::Outcome Evaluate::run(Context& context) {
  auto data = context.registry->make<Dataset>(params_.dataset, context);
  data->open(context);
  if (data->size() == 0) throw InputError("the data set is empty: there is nothing to evaluate");
  auto model = load_artifact(params_.model, context);
  require_fields(model.info, params_.model, *data);
  warn_of_ranges(model.info, *data, context.log);
  const auto metrics = model.network->metrics();
  const auto sums = Validation(*data, params_.batch).evaluate(*model.network, model.weights.views(), context.comm);
  std::vector<io::Column> columns;
  std::vector<std::vector<double>> values;
  context.log.info(fmt::format("{} on {} samples:", params_.model, data->size()));
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    values.push_back({reported(metrics[k], sums[k])});
    columns.push_back({metrics[k].name, metrics[k].unit, ""});
    context.log.info(fmt::format("  {:<24}{:>14.6g} {}", metrics[k].name, values.back()[0], metrics[k].unit));
  }
  io::on_root(context.comm, [&] {
    io::write_csv((std::filesystem::path(context.run_directory) / "evaluation.csv").string(), columns, values);
  });
  context.log.info(fmt::format("written in {}: evaluation.csv", context.run_directory));
  return Outcome::done;
}

}  // namespace cambium::train
