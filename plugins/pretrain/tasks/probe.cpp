#include "plugins/pretrain/tasks/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/features/labels.hpp"

namespace cambium::pretrain {

void Probe::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file of a field_encoder; default: only methods without training are evaluated")
      .example("\"{run}/train/model.h5\"");
  d("training", &Params::training, "labelled training samples");
  d("test", &Params::test, "samples whose classes are guessed");
  d("by", &Params::by, "source of the class labels")
      .options({{"label", By::label}, {"simulation", By::simulation}})
      .def(By::label);
  d("neighbours", &Params::neighbours, "number of nearest neighbours that vote, with all labels").at_least(1).def(20);
  d("labels_per_class", &Params::few, "number of labels per class in few-shot evaluation; 0 omits it")
      .formerly("few")
      .at_least(0)
      .def(10);
  d("repeats", &Params::draws, "number of random repeats of the few-shot evaluation")
      .formerly("draws")
      .at_least(1)
      .def(10);
  d("ridge", &Params::ridge,
    "ridge parameter of the linear classifier, in units of the number of samples; default: chosen for each method by "
    "cross-validation on the training samples")
      .positive()
      .example("0.01");
  d("batch", &Params::batch, "samples encoded at a time").at_least(1).def(64);
}

void Probe::examine(Check& check) {
  check.will_write({"scores.csv", {Origin::stage, "probe"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.training, context);
  context.registry->make<train::Dataset>(params_.test, context);
  context.log.info(fmt::format("classes of data set {} from those of {}", params_.test.type, params_.training.type));
  if (params_.model) check.require_written_by("model", *params_.model, {{Origin::network}});
}

struct Probe::Row {
  double neighbours = 0.0, linear = 0.0;
  std::vector<double> few_nearest, few_linear;  ///< of each draw
};

namespace {

struct Spread {
  double mean = 0.0, deviation = 0.0;
};

Spread spread(const std::vector<double>& values) {
  Spread out;
  for (const double x : values) out.mean += x / static_cast<double>(values.size());
  for (const double x : values) out.deviation += (x - out.mean) * (x - out.mean) / static_cast<double>(values.size());
  out.deviation = std::sqrt(out.deviation);
  return out;
}

std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& rows) {
  std::vector<std::int64_t> out;
  for (const auto k : rows) out.push_back(values[k]);
  return out;
}

}  // namespace

/// Draws are distributed over ranks.
Probe::Row Probe::judged(const Method& method, const std::vector<std::int64_t>& known,
                         const std::vector<std::int64_t>& truth, Context& context) const {
  Row out;
  out.neighbours = share_right(nearest_classes(method.archive, known, method.queries, params_.neighbours), truth);
  out.linear = share_right(linear_classes(method.archive, known, method.queries, params_.ridge), truth);
  if (params_.few == 0) return out;
  out.few_nearest.assign(params_.draws, 0.0);
  out.few_linear = out.few_nearest;
  for (std::int64_t draw = 0; draw < params_.draws; ++draw) {
    const auto rows = few_of_each(known, params_.few, context.seed, draw);
    if (draw % context.comm.size() != context.comm.rank()) continue;
    const Matrix some = rows_of(method.archive, rows);
    const auto classes = chosen(known, rows);
    const auto at = static_cast<std::size_t>(draw);
    out.few_nearest[at] = share_right(nearest_classes(some, classes, method.queries, 1), truth);
    out.few_linear[at] = share_right(linear_classes(some, classes, method.queries, params_.ridge), truth);
  }
  context.comm.sum(out.few_nearest);
  context.comm.sum(out.few_linear);
  return out;
}

/// InputError for classes that are not integers from 0 on.
static void require_classes(const std::vector<std::int64_t>& training, const std::vector<std::int64_t>& test) {
  constexpr std::int64_t most_classes = 1'000'000;  // one score per class is stored
  for (const auto c : training) {
    if (c < 0)
      throw InputError("classes count from 0, but a training sample has a negative one; leave it out with 'range'");
    if (c >= most_classes)
      throw InputError(
          fmt::format("classes count from 0, but a training sample has the class {}; number them without gaps", c));
  }
  for (const auto c : test)
    if (c < 0)
      throw InputError(
          "a test sample has the class -1, which is none: no prediction is correct; leave it out with 'range'");
}

/// Number of entries with a class that does not occur in `known`.
static std::int64_t of_no_class(const std::vector<std::int64_t>& classes, const std::vector<std::int64_t>& known) {
  const std::set<std::int64_t> there(known.begin(), known.end());
  return std::ranges::count_if(classes, [&](std::int64_t c) { return !there.contains(c); });
}

/// Warns of test samples that are also in training, and of classes that are not.
static void warn_of_overlap(const Table& known, const Table& asked, const std::vector<std::int64_t>& classes,
                            const std::vector<std::int64_t>& truth, Log& log) {
  if (const auto again = rows_found_again(asked.field, known.field); again > 0)
    log.warn(fmt::format("{} of {} test samples are also in training, where their class is known; give others", again,
                         asked.rows()));
  if (const auto others = of_no_class(truth, classes); others > 0)
    log.warn(
        fmt::format("{} of {} test samples have a class that no training sample has, and count as wrong; number "
                    "both alike",
                    others, truth.size()));
}

Task::Outcome Probe::run(Context& context) {
  results_.clear();
  lines_.clear();
  citations_.clear();
  const auto training = context.registry->make<train::Dataset>(params_.training, context);
  const auto test = context.registry->make<train::Dataset>(params_.test, context);
  training->open(context);
  test->open(context);
  const Table known = read_table(*training), asked = read_table(*test);
  const bool labels = params_.by == By::label;
  const auto &classes = labels ? known.label : known.simulation, &truth = labels ? asked.label : asked.simulation;
  if (classes.empty() || truth.empty())
    throw KeyError("probe.by", "by",
                   fmt::format("by is {0}, but the samples have no {0}; set 'by' to what both data sets have",
                               labels ? "label" : "simulation"));
  require_classes(classes, truth);
  warn_of_overlap(known, asked, classes, truth, context.log);
  Matrix known_vectors, asked_vectors;
  if (params_.model) {
    LoadedEncoder encoder(*params_.model, context);
    known_vectors = encoder.vectors_of(*training, params_.batch).field;
    asked_vectors = encoder.vectors_of(*test, params_.batch).field;
    citations_ = encoder.citations();
  }
  const std::string few = params_.few > 0 ? fmt::format("{} labels a class", params_.few) : "";
  lines_.push_back(fmt::format("{:<18}{:>12}{:>10}{:>28}{:>20}", "accuracy", "neighbours", "linear",
                               few.empty() ? "" : "nearest, " + few, few.empty() ? "" : "linear"));
  std::string text = "method,neighbours,linear,few_nearest,few_nearest_deviation,few_linear,few_linear_deviation\n";
  for (const auto& method : methods_for(known, asked, known_vectors, asked_vectors)) {
    const Row row = judged(method, classes, truth, context);
    const auto nearest = spread(row.few_nearest), linear = spread(row.few_linear);
    std::string line = fmt::format("{:<18}{:>12.4f}{:>10.4f}", method.name, row.neighbours, row.linear);
    if (params_.few > 0)
      line += fmt::format("{:>18.4f} +- {:.4f}{:>10.4f} +- {:.4f}", nearest.mean, nearest.deviation, linear.mean,
                          linear.deviation);
    lines_.push_back(line);
    const auto add = [&](const std::string& what, double value) {
      const auto key = key_of(what + method.name);
      results_.push_back({key, key, value});
    };
    add("neighbours_", row.neighbours);
    if (params_.few > 0) add("few_nearest_", nearest.mean);
    if (params_.few > 0) add("few_linear_", linear.mean);
    text += fmt::format("{},{},{},{},{},{},{}\n", method.name, number_text(row.neighbours), number_text(row.linear),
                        number_text(nearest.mean), number_text(nearest.deviation), number_text(linear.mean),
                        number_text(linear.deviation));
  }
  const double most = share_right(most_frequent(classes, truth.size()), truth);
  lines_.push_back(fmt::format("{:<18}{:>12.4f}{:>10.4f}", "most frequent", most, most));
  io::on_root(context.comm, [&] {
    io::write_file_atomically((std::filesystem::path(context.run_directory) / "scores.csv").string(), text);
  });
  work_ = {asked.rows(), "sample"};
  return Outcome::done;
}

}  // namespace cambium::pretrain
