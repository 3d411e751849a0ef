#include "core/train/run/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/resolve.hpp"
#include "core/io/csv.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/run/extrapolation.hpp"
#include "core/train/run/other_conditions.hpp"
#include "core/train/run/parity_tables.hpp"
#include "core/train/run/validation.hpp"
#include "core/train/weights/artifact_in_parts.hpp"

namespace cambium::train {

void Evaluate::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file that a train stage wrote").example("\"{run}/train/model.h5\"");
  d("dataset", &Params::dataset, "evaluation data set");
  d("batch", &Params::batch, "samples evaluated at a time").at_least(1).def(8);
  d("parity", &Params::parity,
    "also write labels next to predictions and their errors: parity_*.csv, parity.h5 and errors.csv (by component and "
    "range) of values; predictions.csv, classes.csv (precision, recall, F1, AUC) and confusion.csv of classes")
      .def(true);
  d("quantize", &Params::quantize,
    "quantised weights: the model is also evaluated with low-bit weights, and both are compared; default: none");
  d("memory_limit", &Params::limit,
    "memory of a rank for weights: they are read from the file module by module for every batch, of networks that name "
    "their modules, and there are no tables of parity; default: all in memory")
      .unit("B")
      .positive();
  d("allow_other_parameters", &Params::allow_other_parameters,
    "apply a model also to data of other systems than those of its training (Rayleigh and Prandtl number, plates), "
    "with "
    "a warning")
      .def(false);
  d.check([](const Params& p) -> std::string {
    return p.limit && p.quantize
               ? "give one of: memory_limit (weights stay in the file), quantize (all of them are quantised)"
               : "";
  });
}

/// Fields on which an earlier stage will train the model; InputError if these data lack one.
static void require_promised_fields(const std::string& model, const std::vector<std::string>& trained, Dataset& data) {
  std::vector<std::string> here;
  for (const auto& field : data.fields()) here.push_back(field.name);
  for (const auto& name : trained)
    if (std::find(here.begin(), here.end(), name) == here.end())
      throw KeyError("evaluate.dataset.field", "dataset",
                     fmt::format("the data set has no field '{}', which '{}' will be trained with; it has: {}", name,
                                 model, join(here)));
}

void Evaluate::examine(Check& check) {
  check.will_write({"evaluation.csv", {Origin::stage, "evaluate"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  const auto data = context.registry->make<Dataset>(params_.dataset, context);
  if (params_.quantize && params_.quantize->calibrate)
    context.registry->make<Dataset>(params_.quantize->calibrate->dataset, context);
  context.log.info(fmt::format("model {} on data set {}", params_.model, params_.dataset.type));
  check.require_written_by("model", params_.model, {{Origin::network}});
  const deck::Node& keys = check.stage().keys;
  check.reads(keys["model"]);
  check.reads(params_.dataset.node);
  if (const auto path = check.waits(params_.dataset.node))
    return check.not_looked_at(fmt::format("the data: '{}' is still to be written", *path));
  if (!check.small()) return check.not_looked_at("model and data: they are too large for a check");
  deck::about_key("evaluate.dataset", "dataset", [&] { data->open(context); });
  if (data->size() == 0)
    throw KeyError("evaluate.dataset.empty", "dataset", "the data set is empty: there is nothing to evaluate");
  if (check.waits(params_.model)) {
    if (const auto promise = check.written_before(params_.model))
      require_promised_fields(params_.model, promise->holds, *data);
    return check.not_looked_at(fmt::format("the model: '{}' is still to be written", params_.model));
  }
  const auto model = deck::about_key("evaluate.model", "model", [&] {
    auto out = params_.limit ? load_without_weights(params_.model, context) : load_artifact(params_.model, context);
    require_fields(out, params_.model, *data);
    return out;
  });
  require_conditions(model, params_.model, *data, params_.allow_other_parameters, context.log);
}

namespace {

/// Errors of one variant of the model, memory of its weights, and the time of a pass over the samples on the slowest
/// rank.
struct Row {
  std::vector<double> errors;
  std::vector<bool> labelled = {};  ///< for each error: some sample has labels for it
  double bits = 0.0, bytes = 0.0, seconds = 0.0;
};

/// The first row is the original model, the second one has quantised weights.
struct Table {
  std::vector<TermInfo> metrics;
  std::vector<Row> rows;
  void write(const std::string& path) const;
  /// Entries of the summary lines, with the column names of the file.
  std::vector<Result> results() const;
  std::vector<std::string> lines(const std::string& second) const;
};

Row row_of(std::span<const TermInfo> metrics, std::span<const TermSum> sums, double seconds) {
  Row out;
  out.seconds = seconds;
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    out.errors.push_back(reported(metrics[k], sums[k]));
    out.labelled.push_back(sums[k].count > 0.0);
  }
  return out;
}

Row row_of(std::span<const TermInfo> metrics, Validation& samples, LoadedModel& model, const Comm& comm) {
  const auto begin = std::chrono::steady_clock::now();
  const auto sums = samples.evaluate(*model.network, model.weights.views(), comm, model.tables.get());
  return row_of(metrics, sums,
                comm.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
}

void Table::write(const std::string& path) const {
  std::vector<io::Column> columns;
  std::vector<std::vector<double>> values;
  const auto add = [&](const std::string& name, const std::string& unit, const auto& of) {
    columns.push_back({name, unit, ""});
    values.emplace_back();
    for (const Row& row : rows) values.back().push_back(of(row));
  };
  for (std::size_t k = 0; k < metrics.size(); ++k)
    add(metrics[k].name, metrics[k].unit, [&](const Row& row) { return row.errors[k]; });
  if (rows.size() > 1) {
    add("bits_per_weight", "", [](const Row& row) { return row.bits; });
    add("weights", "B", [](const Row& row) { return row.bytes; });
    add("time", "s", [](const Row& row) { return row.seconds; });
  }
  io::write_csv(path, columns, values);
}

std::vector<Result> Table::results() const {
  std::vector<Result> out;
  const char* tails[] = {"", "_few_bits"};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t k = 0; k < metrics.size(); ++k) {
      if (!rows[r].labelled[k]) continue;
      out.push_back(
          in_table(key_of(metrics[k].name) + tails[r], metrics[k].name + (r ? ", low-bit" : ""), rows[r].errors[k]));
      out.back().unit = metrics[k].unit;
    }
  return out;
}

std::vector<std::string> Table::lines(const std::string& second) const {
  std::vector<std::string> out;
  const auto without = [](const TermInfo& metric) {
    return fmt::format("  {:<24}{:>14} (the samples have no labels of it)", metric.name, "-");
  };
  if (rows.size() == 1) {
    for (std::size_t k = 0; k < metrics.size(); ++k)
      out.push_back(!rows[0].labelled[k]
                        ? without(metrics[k])
                        : fmt::format("  {:<24}{:>14.6g} {}", metrics[k].name, rows[0].errors[k], metrics[k].unit));
    return out;
  }
  const auto line = [&](const std::string& name, const std::string& unit, double full, double few) {
    out.push_back(fmt::format("  {:<24}{:>14.6g}{:>14.6g}{:>10.4g} {}", name, full, few, few / full, unit));
  };
  out.push_back(fmt::format("  {:<24}{:>14}{:>14}{:>10}", "", "full", "low-bit", "ratio"));
  for (std::size_t k = 0; k < metrics.size(); ++k)
    if (rows[0].labelled[k])
      line(metrics[k].name, metrics[k].unit, rows[0].errors[k], rows[1].errors[k]);
    else
      out.push_back(without(metrics[k]));
  line("weights", "kB", 1e-3 * rows[0].bytes, 1e-3 * rows[1].bytes);
  line("time of a pass", "s", rows[0].seconds, rows[1].seconds);
  out.push_back(second);
  return out;
}

/// Samples for the calibration of quantised matrices, the same on every rank.
std::vector<SamplePtr> calibration_samples(const CalibrateParams& params, const std::string& path,
                                           const LoadedModel& model, Context& context) {
  auto data = context.registry->make<Dataset>(params.dataset, context);
  deck::about_key("evaluate.calibrate", "quantize.calibrate.dataset", [&] { data->open(context); });
  if (data->size() == 0)
    throw KeyError("evaluate.calibrate.empty", "quantize.calibrate.dataset",
                   "the data set of calibrate is empty; name samples of the kind that the model was trained on");
  require_fields(model, path, *data);
  std::vector<std::int64_t> ids;
  const std::int64_t count = std::min(params.samples, data->size());
  for (std::int64_t k = 0; k < count; ++k) ids.push_back(k * data->size() / count);
  return data->read(ids);
}

}  // namespace

std::string slower_with_few_bits(double full, double few, std::int64_t batch) {
  constexpr double noticed = 1.05;
  if (!(few > noticed * full)) return {};
  return fmt::format(
      "with low-bit weights a pass takes {:.3g} times as long as in full, in batches of {}: they save memory here, not "
      "time; take fewer bits or smaller batches, or leave 'quantize' out",
      few / full, batch);
}

/// Warns if the model was trained on or selected by these data.
static void warn_of_met(const Evaluate::Params& params, const ArtifactInfo& info, Context& context) {
  const auto* entry = context.registry->find(Dataset::kind, params.dataset.type);
  const auto keys = deck::resolved(params.dataset.node, entry->schema, *context.registry);
  if (const auto words = met_before(info, params.model, keys); !words.empty()) context.log.warn(words);
}

/// Evaluation with memory_limit.
void Evaluate::run_by_module(Dataset& data, Context& context) {
  const auto model = load_without_weights(params_.model, context);
  require_fields(model, params_.model, data);
  require_conditions(model, params_.model, data, params_.allow_other_parameters, context.log);
  warn_of_ranges(model.info, data, context.log);
  warn_of_met(params_, model.info, context);
  const StoredModules stored(params_.model, model, static_cast<std::int64_t>(*params_.limit));
  Validation samples(data, params_.batch);
  Table table{model.network->metrics(), {}};
  stored.forward([&](const Pass& pass) {
    table.rows.push_back(row_of(table.metrics, samples.evaluate_by_module(*model.network, pass, context.comm), 0.0));
  });
  context.log.info(fmt::format("{} on {} samples, module by module ({:.3f} MB at most):", params_.model, data.size(),
                               1e-6 * static_cast<double>(stored.largest())));
  results_ = table.results();
  for (const auto& line : table.lines({})) context.log.info(line);
  files_ = {"evaluation.csv"};
  io::on_root(context.comm,
              [&] { table.write((std::filesystem::path(context.run_directory) / "evaluation.csv").string()); });
  work_ = {data.size(), "sample"};
  citations_ = model.network->citations();
  for (const auto& citation : data.citations()) citations_.push_back(citation);
}

Task::Outcome Evaluate::run(Context& context) {
  const Region region("between kernels", WorkKind::host);
  auto data = context.registry->make<Dataset>(params_.dataset, context);
  deck::about_key("evaluate.dataset", "dataset", [&] { data->open(context); });
  if (data->size() == 0)
    throw KeyError("evaluate.dataset.empty", "dataset", "the data set is empty: there is nothing to evaluate");
  if (params_.limit) {
    run_by_module(*data, context);
    return Outcome::done;
  }
  auto model = load_artifact(params_.model, context);
  require_fields(model, params_.model, *data);
  require_conditions(model, params_.model, *data, params_.allow_other_parameters, context.log);
  warn_of_ranges(model.info, *data, context.log);
  warn_of_met(params_, model.info, context);
  Validation samples(*data, params_.batch);
  Table table{model.network->metrics(), {}};
  table.rows.push_back(row_of(table.metrics, samples, model, context.comm));
  files_ = {"evaluation.csv"};
  ErrorTables detail;
  if (params_.parity)
    detail = write_parity_tables(*model.network, model.weights.views(), *data, params_.batch, context.run_directory,
                                 context.comm);
  files_.insert(files_.end(), detail.files.begin(), detail.files.end());
  std::optional<CodedWeights> coded;
  std::string second, slower;
  if (params_.quantize) {
    table.rows[0] = row_of(table.metrics, samples, model, context.comm);  // again, with samples now in memory
    const auto& calibrate = params_.quantize->calibrate;
    std::vector<SamplePtr> seen;
    if (calibrate) seen = calibration_samples(*calibrate, params_.model, model, context);
    coded.emplace(*params_.quantize, *model.network, model.weights.views());
    if (calibrate) coded->calibrate(*model.network, model.weights.views(), seen);
    model.network->use_coded(*coded);
    table.rows.push_back(row_of(table.metrics, samples, model, context.comm));
    const double numbers = static_cast<double>(coded->numbers());
    table.rows[0].bits = 32.0;
    table.rows[0].bytes = static_cast<double>(coded->bytes_in_full());
    table.rows[1].bits = 8.0 * static_cast<double>(coded->bytes()) / numbers;
    table.rows[1].bytes = static_cast<double>(coded->bytes_of_all());
    slower = slower_with_few_bits(table.rows[0].seconds, table.rows[1].seconds, params_.batch);
    second = fmt::format("  {}: {} matrices with {} weights, {:.4g} bits each with scales{}; the rest stays in float32",
                         coded->name(), coded->matrices(), coded->numbers(), table.rows[1].bits,
                         calibrate ? fmt::format(", fitted to {} samples", seen.size()) : "");
  }
  context.log.info(fmt::format("{} on {} samples:", params_.model, data->size()));
  results_ = table.results();
  append(results_, std::move(detail.results));
  for (const auto& line : table.lines(second)) context.log.info(line);
  for (const auto& line : detail.lines) context.log.info(line);
  if (!slower.empty()) context.log.warn(slower);
  io::on_root(context.comm,
              [&] { table.write((std::filesystem::path(context.run_directory) / "evaluation.csv").string()); });
  work_ = {data->size(), "sample"};
  citations_ = model.network->citations();
  for (const auto& citation : data->citations()) citations_.push_back(citation);
  return Outcome::done;
}

}  // namespace cambium::train
