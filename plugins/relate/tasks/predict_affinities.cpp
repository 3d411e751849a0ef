#include "plugins/relate/tasks/predict_affinities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/relate/datasets/streams.hpp"
#include "plugins/relate/tasks/pair_baselines.hpp"
#include "plugins/relate/tasks/scores.hpp"

namespace cambium::relate {

namespace {

constexpr std::string_view shown_baseline = "means + both";

/// Training pairs held out to choose the ridge's keys: those of the validation fold, or a sixth.
std::vector<char> held_pairs(const PairTable& table, const std::vector<Role>& roles) {
  std::vector<char> out(table.compounds.size() * table.targets.size(), 0);
  const bool fold = std::find(roles.begin(), roles.end(), Role::validation) != roles.end();
  for (std::size_t k = 0; k < roles.size(); ++k) {
    if (roles[k] == Role::test) continue;
    const bool drawn = Random4(1, fold_stream, k, 98).uniform(0) < 1.0 / 6.0;
    if (fold ? roles[k] == Role::validation : drawn)
      out[table.entries[k].compound * table.targets.size() + table.entries[k].target] = 1;
  }
  return out;
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : name + " [" + unit + "]";
}

}  // namespace

void PredictAffinities::Params::describe(deck::Describe<Params>& d) {
  d("models", &Params::models,
    "model files of stages train; of several their ensemble mean is reported, too, and with a validation fold the "
    "combination with the best baseline, with the mixing weights of lowest error on it")
      .def({})
      .example("[\"{run}/train/model.h5\"]");
  d("dataset", &Params::dataset, "evaluation data set: pairs with split: test");
  d("hit_threshold", &Params::strong,
    "value above which a pair counts as a hit, for the area under the curve; the median of the pairs when absent")
      .formerly("strong");
  d("top", &Params::show, "pairs of highest prediction in the summary").formerly("show").at_least(0).def(10);
}

void PredictAffinities::examine(Check& check) {
  for (const char* name : {"scores.csv", "affinities.csv"})
    check.will_write({name, {Origin::stage, "predict_affinities"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(fmt::format("pairs by {} model file{}, and by baselines that cost little", params_.models.size(),
                               params_.models.size() == 1 ? "" : "s"));
  check.require_written_by("models", params_.models, {{Origin::network}});
}

std::vector<PredictAffinities::Row> PredictAffinities::baselines(const Pairs& pairs) const {
  const PairTable& table = pairs.table();
  const auto place = [&](std::size_t k) {
    return static_cast<std::size_t>(table.entries[k].compound * table.targets.size() + table.entries[k].target);
  };
  const auto matrices = matrices_of(table, pairs.roles());
  std::vector<Row> out;
  for (const auto& baseline : pair_baselines(matrices, held_pairs(table, pairs.roles()))) {
    out.push_back({baseline.method, {}, {}});
    for (const auto k : tested_) out.back().value.push_back(baseline.value[place(k)]);
    for (std::size_t k = 0; k < pairs.roles().size() && !baseline.without_held.empty(); ++k)
      if (pairs.roles()[k] == Role::validation) out.back().of_held.push_back(baseline.without_held[place(k)]);
  }
  return out;
}

/// Predictions of networks, their mean, and, with a validation fold, the combination of that mean and the baseline with
/// the lowest error there, with the weights of lowest error there.
void PredictAffinities::add_networks(const Pairs& pairs, train::Dataset& tests, Context& context,
                                     std::vector<Row>& rows) {
  std::vector<double> truth;
  for (std::size_t k = 0; k < pairs.roles().size(); ++k)
    if (pairs.roles()[k] == Role::validation) truth.push_back(pairs.table().entries[k].value);
  std::optional<Pairs> held;
  if (!truth.empty()) held = pairs.of_part(Role::validation);
  const Row baseline = best_of_held(rows, truth);
  std::vector<ModelPredictions> models, of_held;
  for (const auto& path : params_.models) {
    TrainedModel model(path, tests, context);
    models.push_back({model.method(), said_of_all(model, tests, context), model.citations()});
    if (held) of_held.push_back({model.method(), said_of_all(model, *held, context), {}});
    rows.push_back({models.back().method, models.back().value, {}});
    for (const auto& work : models.back().citations) citations_.push_back(work);
  }
  if (models.size() > 1) rows.push_back({fmt::format("mean of {} networks", models.size()), mean_of(models), {}});
  if (!held || models.empty()) return;
  const double share = share_of_first(truth, mean_of(of_held), baseline.of_held);
  Row together{fmt::format("network{} {:.2f}, {} {:.2f}", models.size() > 1 ? "s" : "", share,
                           baseline.method.substr(0, baseline.method.find(',')), 1.0 - share),
               rows.back().value,
               {}};
  for (std::size_t k = 0; k < together.value.size(); ++k)
    together.value[k] = share * together.value[k] + (1.0 - share) * baseline.value[k];
  rows.push_back(std::move(together));
}

/// The row with the lowest error on the held-out pairs, among those with predictions for them.
PredictAffinities::Row PredictAffinities::best_of_held(const std::vector<Row>& rows, std::span<const double> truth) {
  const Row* best = nullptr;
  for (const auto& row : rows)
    if (!row.of_held.empty() &&
        (!best || mean_squared_error(truth, row.of_held) < mean_squared_error(truth, best->of_held)))
      best = &row;
  return best ? *best : Row{};
}

void PredictAffinities::write_scores(const std::vector<Row>& rows, Context& context) {
  auto sorted = truth_;
  std::sort(sorted.begin(), sorted.end());
  const double median = 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
  const double strong = params_.strong.value_or(median);
  lines_.push_back(fmt::format("{:<48}{:>13}{:>10}{:>10}", fmt::format("{} pairs never seen", truth_.size()),
                               "concordance", "MSE", "AUC"));
  std::string text = "method,concordance,mse,auc\n";
  for (const auto& row : rows) {
    const double order = concordance(truth_, row.value), error = mean_squared_error(truth_, row.value),
                 area = area_under_curve(truth_, row.value, strong);
    lines_.push_back(fmt::format("{:<48}{:>13.4f}{:>10.4f}{:>10.4f}", row.method, order, error, area));
    const auto name = key_of(row.method);
    results_.push_back(in_table("concordance_" + name, "concordance: " + row.method, order));
    results_.push_back(in_table("mse_" + name, "mean squared error: " + row.method, error));
    results_.push_back(in_table("auc_" + name, "AUC: " + row.method, area));
    text += fmt::format("{},{},{},{}\n", io::csv_cell(row.method), number_text(order), number_text(error),
                        number_text(area));
  }
  lines_.push_back(fmt::format("AUC: a hit is a value above {:.4g}", strong));
  io::on_root(context.comm, [&] {
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "scores.csv").string(), text);
  });
}

void PredictAffinities::write_predictions(const Pairs& pairs, const Row& shown, const Row& neighbours,
                                          Context& context) {
  const PairTable& table = pairs.table();
  std::vector<std::int64_t> of_compound(table.compounds.id.size(), 0), of_target(table.targets.id.size(), 0);
  for (std::size_t k = 0; k < pairs.roles().size(); ++k) {
    if (pairs.roles()[k] == Role::test) continue;
    ++of_compound[table.entries[k].compound];
    ++of_target[table.entries[k].target];
  }
  std::vector<std::size_t> order(tested_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shown.value[a] > shown.value[b]; });
  std::string text =
      fmt::format("compound,target,{},{},{},known of compound,known of target\n", with_unit("predicted", table.unit),
                  with_unit("measured", table.unit), with_unit("by neighbours", table.unit));
  lines_.push_back(fmt::format("{:<48}{:>11}{:>11}{:>15}{:>8}", "highest by " + shown.method, "predicted", "measured",
                               "by neighbours", "known"));
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::size_t k = order[n];
    const auto& entry = table.entries[tested_[k]];
    const auto& compound = table.compounds.id[entry.compound];
    const auto& target = table.targets.id[entry.target];
    const auto known_c = of_compound[entry.compound];
    const auto known_t = of_target[entry.target];
    text +=
        fmt::format("{},{},{},{},{},{},{}\n", io::csv_cell(compound), io::csv_cell(target), number_text(shown.value[k]),
                    number_text(truth_[k]), number_text(neighbours.value[k]), known_c, known_t);
    if (static_cast<std::int64_t>(n) < params_.show)
      lines_.push_back(fmt::format("  {:<22}{:<24}{:>11.3f}{:>11.3f}{:>15.3f}{:>8}{:>8}", compound, target,
                                   shown.value[k], truth_[k], neighbours.value[k], known_c, known_t));
  }
  io::on_root(context.comm, [&] {
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "affinities.csv").string(), text);
  });
}

Task::Outcome PredictAffinities::run(Context& context) {
  results_.clear();
  lines_.clear();
  tested_.clear();
  truth_.clear();
  citations_.clear();
  const auto data = context.registry->make<train::Dataset>(params_.dataset, context);
  data->open(context);
  const auto* pairs = dynamic_cast<const Pairs*>(data.get());
  if (!pairs)
    throw KeyError("predict_affinities.dataset.type", "dataset",
                   "predict_affinities evaluates pairs of entities; give a dataset of type pairs");
  for (std::size_t k = 0; k < pairs->roles().size(); ++k)
    if (pairs->roles()[k] == Role::test) tested_.push_back(k), truth_.push_back(pairs->table().entries[k].value);
  if (std::ssize(tested_) != data->size())
    throw KeyError("predict_affinities.dataset.part", "dataset",
                   "predict_affinities evaluates test pairs; give the dataset split: test");
  auto rows = baselines(*pairs);
  const auto neighbours =
      *std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.method == shown_baseline; });
  add_networks(*pairs, *data, context, rows);
  citations_.push_back(
      {"pahikkala2015",
       "@article{pahikkala2015,\n  author = {Pahikkala, Tapio and Airola, Antti and Pietil{\\\"a}, Sami and Shakyawar, "
       "Sushil and Szwajda, Agnieszka and Tang, Jing and Aittokallio, Tero},\n  title = {Toward more realistic "
       "drug-target interaction predictions},\n  journal = {Briefings in Bioinformatics},\n  volume = {16},\n  pages = "
       "{325--337},\n  year = {2015}\n}\n"});
  write_scores(rows, context);
  write_predictions(*pairs, params_.models.empty() ? neighbours : rows.back(), neighbours, context);
  work_ = {std::ssize(tested_), "pair"};
  return Outcome::done;
}

}  // namespace cambium::relate
