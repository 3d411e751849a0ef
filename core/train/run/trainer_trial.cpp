#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/timing.hpp"
#include "core/deck/about_key.hpp"
#include "core/plugin/check.hpp"
#include "core/train/data/subset.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/run/trainer.hpp"
#include "core/train/run/training_data.hpp"
#include "core/train/run/validation.hpp"
#include "core/train/tables/fetch_rows.hpp"

namespace cambium::train {

namespace {

constexpr std::int64_t most_samples = 2000;  ///< for statistics in a check

/// `count` ids, evenly spaced over a data set.
std::vector<std::int64_t> some_ids(const Dataset& data, std::int64_t count) {
  std::vector<std::int64_t> out(std::min(count, data.size()));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<std::int64_t>(static_cast<double>(k) * static_cast<double>(data.size()) /
                                       static_cast<double>(out.size()));
  return out;
}

/// Memory of weights, gradients and the optimizer's states.
double bytes_of(const Network& network, const Optimizer& optimizer) {
  double numbers = 0.0, each = 2.0 * static_cast<double>(size_of(network.dtype()));
  for (const auto& parameter : network.parameters())
    numbers += std::accumulate(parameter.shape.begin(), parameter.shape.end(), 1.0, std::multiplies<>());
  for (const auto& state : optimizer.states(network.dtype())) each += static_cast<double>(size_of(state.dtype));
  return numbers * each;
}

/// Time of a sample's gradient in s, from the second of two calls.
double seconds_per_sample(TrainingStep& step, const std::vector<SamplePtr>& samples, const Comm& comm) {
  Network& network = step.network();
  std::vector<TermSum> terms(network.terms().size());
  const auto weights_of_terms = network.term_weights(0, 1.0);
  double seconds = 0.0;
  if (step.tables()) {
    const std::span<const SamplePtr> slice[] = {samples};
    const std::int64_t number[] = {comm.rank()};
    fetch_rows(network, step.tables(), slice, number, comm);
    network.traits().tables->use_rows(&step.tables()->rows(0));
  }
  step.weights().whole([&](FlatBuffer& weights) {
    FlatBuffer gradients(step.weights().layout(), network.dtype());
    for (int k = 0; k < 2; ++k) {
      const double begun = wall_seconds();
      network.gradient(samples, weights.views(), weights_of_terms, gradients.views(), terms, [](int) {});
      seconds = wall_seconds() - begun;
    }
  });
  return seconds / static_cast<double>(samples.size());
}

/// The start of a training without output files.
struct Trial {
  Trial(const Train::Params& keys, Context& context)
      : params(keys), step(keys, seed_of(keys, context), context), data(keys, seed_of(keys, context), context) {
    if (keys.activations) step.network().use_activations(*keys.activations);
  }
  static std::uint64_t seed_of(const Train::Params& keys, const Context& context) {
    return keys.seed ? static_cast<std::uint64_t>(*keys.seed) : context.seed;
  }
  /// Any problem is reported as the InputError that the run itself would raise.
  void try_data(Check& check);
  void try_step(bool whole, Check& check);

  const Train::Params& params;
  TrainingStep step;
  TrainingData data;
  std::vector<std::string> fields;
};

void Trial::try_data(Check& check) {
  data.open();
  Dataset& training = data.training();
  const bool whole = training.size() <= most_samples;
  Subset few(training, some_ids(training, 64));
  deck::about_key("train.network.data", "dataset", "network",
                  [&] { step.network().fit_statistics(whole ? training : few, check.context()); });
  const auto traits = step.network().traits();
  const auto& spared = traits.spared_labels;
  for (const auto& field : training.fields())  // required for evaluation of the model
    if (std::find(spared.begin(), spared.end(), field.name) == spared.end() &&
        reads_in_training(traits.fields, field.name))
      fields.push_back(field.name);
  data.require_same_axes(step.network().traits().fields);
  require_measure(params, step.network().metrics());
  quality_of(step.network(), params.network.type, params.validate.quality);
  check.memory("weights, gradients and the optimizer's states", bytes_of(step.network(), step.optimizer()));
  if (params.parallel)
    check.not_looked_at("a step: its weights are sharded over ranks");
  else if (!check.small())
    check.not_looked_at("a step: the network is too large for a check");
  else
    try_step(whole, check);
}

void Trial::try_step(bool whole, Check& check) {
  step.prepare(data.steps());
  step.start();
  Dataset& training = data.training();
  const auto samples = training.read(some_ids(training, std::min<std::int64_t>(4, data.batch())));
  const double each = seconds_per_sample(step, samples, check.context().comm);
  if (Dataset* held_out = data.held_out(); held_out && whole) {
    Subset first(*held_out, some_ids(*held_out, 1));
    Validation looked(first, 1);
    step.weights().whole([&](FlatBuffer& weights) {
      looked.evaluate(step.network(), weights.views(), check.context().comm, step.tables());
    });
  }
  const double all = params.models * static_cast<double>(data.steps()) * static_cast<double>(data.batch());
  check.duration(each * all / check.context().comm.size(),
                 fmt::format("{:.3g} gradients of a sample, each as long as it took here, without validation", all));
}

}  // namespace

std::vector<std::string> examine_training(const Train::Params& params, const deck::Node& keys, Check& check) {
  Trial trial(params, check.context());
  check.require_written_by("start_from", params.start_from, {{Origin::network, params.network.type}});
  for (const char* name : {"network", "dataset", "validation"}) check.reads(keys[name]);
  if (const auto path = check.waits(keys))
    check.not_looked_at(fmt::format("the data and a step: '{}' is still to be written", *path));
  else if (!check.small())
    check.not_looked_at("the data: they are too large to be opened for a check");
  else
    check.look(keys, [&] { trial.try_data(check); });
  check.ask(&trial.step.network(), params.network.node);
  return trial.fields;
}

}  // namespace cambium::train
