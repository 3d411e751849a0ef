#include "plugins/relate/tasks/evaluate_clicks.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/relate/tasks/logistic.hpp"
#include "plugins/relate/tasks/scores.hpp"

namespace cambium::relate {

void EvaluateClicks::Params::describe(deck::Describe<Params>& d) {
  d("models", &Params::models, "model files of stages train; of several their mean is shown, too")
      .def({})
      .example("[\"{run}/train/model.h5\"]");
  d("training", &Params::training, "the records that logistic regression is fitted to, of a data set clicks");
  d("dataset", &Params::dataset, "evaluation data set of records");
}

void EvaluateClicks::examine(Check& check) {
  for (const char* name : {"scores.csv", "clicks.csv"}) check.will_write({name, {Origin::stage, "evaluate_clicks"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.training, context);
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(fmt::format("clicks by {} model file{}, and by logistic regression", params_.models.size(),
                               params_.models.size() == 1 ? "" : "s"));
  check.require_written_by("models", params_.models, {{Origin::network}});
}

void EvaluateClicks::write(const std::vector<Row>& rows, const RecordSet& records, Context& context) {
  const auto heading = learned_ == 0 ? fmt::format("{} records never seen", records.size())
                                     : fmt::format("{} records, {} of them in training", records.size(), learned_);
  lines_.push_back(fmt::format("{:<44}{:>10}{:>12}", heading, "AUC", "log loss"));
  std::string scores = "method,auc,log_loss\n";
  for (const auto& row : rows) {
    const double area = area_under_curve(records.answers, row.value, 0.5), loss = log_loss(records.answers, row.value);
    lines_.push_back(fmt::format("{:<44}{:>10.4f}{:>12.4f}", row.method, area, loss));
    const auto name = key_of(row.method);
    results_.push_back(in_table("auc_" + name, "AUC: " + row.method, area));
    results_.push_back(in_table("log_loss_" + name, "log loss: " + row.method, loss));
    scores += fmt::format("{},{},{}\n", row.method, number_text(area), number_text(loss));
  }
  std::string clicks = "record,clicked,probability\n";
  for (std::int64_t r = 0; r < records.size(); ++r)
    clicks += fmt::format("{},{:g},{}\n", records.place[r], records.answers[r], number_text(rows.back().value[r]));
  io::on_root(context.comm, [&] {
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "scores.csv").string(), scores);
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "clicks.csv").string(), clicks);
  });
}

/// All records of a data set.
static const RecordSet& records_of(train::Dataset& data) {
  const std::int64_t first[] = {0};
  return record_set_of(*data.read(first).front(), "evaluate_clicks");
}

/// Number of records that are also in `learned`: the same rows of one source. Different labels in a shared row are
/// those of another source of that name, such as synthetic clicks of another seed.
static std::int64_t records_in_both(const RecordSet& learned, const RecordSet& records) {
  if (learned.source != records.source) return 0;
  std::unordered_map<std::int64_t, double> label;
  for (std::int64_t r = 0; r < learned.size(); ++r) label.emplace(learned.place[r], learned.answers[r]);
  std::int64_t out = 0;
  for (std::int64_t r = 0; r < records.size(); ++r) {
    const auto found = label.find(records.place[r]);
    if (found == label.end()) continue;
    if (found->second != records.answers[r]) return 0;
    ++out;
  }
  return out;
}

Task::Outcome EvaluateClicks::run(Context& context) {
  results_.clear();
  lines_.clear();
  citations_.clear();
  const auto training = context.registry->make<train::Dataset>(params_.training, context);
  const auto data = context.registry->make<train::Dataset>(params_.dataset, context);
  training->open(context);
  data->open(context);
  const RecordSet &learned = records_of(*training), &records = records_of(*data);
  if (learned.columns.size() != records.columns.size() || learned.numbers.size() != records.numbers.size())
    throw InputError("training and dataset have different columns; give records of the same kind");
  require_labels(learned);
  require_labels(records);
  require_same_order(learned.columns, names_of_numbers(learned), records, "training");
  require_same_rows(learned.columns, records, "training");
  require_same_numbers(learned.logarithm, records, "training");
  learned_ = records_in_both(learned, records);
  if (learned_ > 0)
    context.log.warn(
        fmt::format("{}: {} of {} records are also those of training, so the errors are smaller than on "
                    "new records; evaluate others (range)",
                    records.source, learned_, records.size()));
  std::optional<RecordSet> known;
  if (needs_rows_by(learned.columns, records)) known = with_rows_by(learned.columns, records);
  for (std::size_t c = 0; c < learned.columns.size() && !known; ++c)
    if (learned.columns[c].rows != records.columns[c].rows)
      throw InputError(fmt::format("{}, column {}: its table has {} rows, but that of training {}; give both the same",
                                   records.source, records.columns[c].name, records.columns[c].rows,
                                   learned.columns[c].rows));
  const double clicked = std::accumulate(learned.answers.begin(), learned.answers.end(), 0.0);
  std::vector<Row> rows;
  rows.push_back(
      {"constant", std::vector<double>(records.answers.size(), clicked / static_cast<double>(learned.size()))});
  const LogisticRegression logistic(learned);
  rows.push_back({fmt::format("logistic regression (lambda {:g})", logistic.lambda()),
                  logistic.probabilities(known ? *known : records)});
  std::vector<ModelPredictions> models;
  for (const auto& path : params_.models) {
    models.push_back(predictions_of(path, *data, context));
    rows.push_back({models.back().method, models.back().value});
    for (const auto& work : models.back().citations) citations_.push_back(work);
  }
  if (models.size() > 1) rows.push_back({fmt::format("mean of {} networks", models.size()), mean_of(models)});
  write(rows, records, context);
  work_ = {records.size(), "record"};
  return Outcome::done;
}

}  // namespace cambium::relate
