#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/memory.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/subset.hpp"
#include "core/train/run/trainer.hpp"

namespace cambium::train {

Trainer::Trainer(const Train::Params& params, Context& context, int member, Watch watch)
    : params_(params), context_(context),
      shared_seed_(params.seed ? static_cast<std::uint64_t>(*params.seed) : context.seed),
      seed_(shared_seed_ + static_cast<std::uint64_t>(member)), watch_(std::move(watch)),
      mllog_(context.log, params.mllog && !context.dry_run) {
  const auto& registry = *context.registry;
  network_ = registry.make<Network>(params.model, context);
  if (params.activations) network_->use_activations(*params.activations);
  whole_ = registry.make<Dataset>(params.dataset, context);
  if (params.validation) held_out_ = registry.make<Dataset>(*params.validation, context);
  loader_ = registry.make<Loader>(params.loader, context);
  optimizer_ = registry.make<Optimizer>(params.optimizer, context);
  rate_ = registry.make<LearningRate>(params.learning_rate, context);
  require_ranks(params.reduce, context.comm.size());
  // A deck may be checked on fewer ranks than it is for.
  if (params.parallel && !context.dry_run) partition_of(*params.parallel, context.comm.size());
}

void Trainer::report_plan() const {
  auto& log = context_.log;
  log.info(fmt::format("model {}, data set {}, optimizer {}, learning rate {}", params_.model.type,
                       params_.dataset.type, params_.optimizer.type, params_.learning_rate.type));
  log.info(fmt::format(
      "batch {} over {} rank{}, {}", params_.batch, context_.comm.size(), context_.comm.size() == 1 ? "" : "s",
      params_.steps ? fmt::format("{} steps", *params_.steps) : fmt::format("{:g} epochs", *params_.epochs)));
  if (params_.steps) {
    std::string line = "rate at step";
    for (int k = 0; k <= 4; ++k) {
      const auto step = static_cast<std::int64_t>(static_cast<double>(*params_.steps - 1) * k / 4.0);
      const double rate =
          params_.warm_up ? params_.warm_up->at(*rate_, step, *params_.steps) : rate_->at(step, *params_.steps);
      line += fmt::format("{} {}: {:.3g}", k ? "," : "", step, rate);
    }
    log.info(line);
  }
  log.info("one step: data, gradient, reduce, clip, optimizer, average; then validate, checkpoint, signals");
}

/// A metric over numbers of another unit would mislead without a word.
static void require_same_fields(const std::vector<FieldInfo>& training, const std::vector<FieldInfo>& validation) {
  for (const auto& field : training)
    for (const auto& other : validation)
      if (other.name == field.name && other.unit != field.unit)
        throw InputError(fmt::format(
            "the field '{}' is in {} in the training set, but in {} in the validation set; convert one of them",
            field.name, field.unit.empty() ? "no unit" : field.unit, other.unit.empty() ? "no unit" : other.unit));
}

/// Whole steps of so many passes; up to 9e15 a double counts them one by one.
static std::int64_t steps_of(double epochs, double per_epoch) {
  const double steps = std::ceil(epochs * per_epoch);
  if (!(steps <= 9e15))
    throw InputError(fmt::format(
        "epochs is {:g}, with {:g} steps in each: more steps than can be counted; give fewer epochs, or 'steps'",
        epochs, per_epoch));
  return static_cast<std::int64_t>(steps);
}

void Trainer::open_data() {
  whole_->open(context_);
  if (whole_->size() == 0) throw InputError("the data set is empty: there is nothing to train on");
  // Every rank holds the order of an epoch, and that of the share held out while it is drawn.
  const double order = sizeof(std::int64_t) +
                       (params_.hold_out > 0.0 ? sizeof(std::pair<double, std::int64_t>) + sizeof(std::int64_t) : 0);
  require_memory(order * static_cast<double>(whole_->size()), fmt::format("the order of {} samples", whole_->size()),
                 "train on fewer samples", context_);
  if (held_out_) held_out_->open(context_);
  if (params_.hold_out > 0.0) {
    auto [held, rest] = hold_out(shared_seed_, whole_->size(), params_.hold_out);
    if (held.empty())
      throw InputError(fmt::format("hold_out {:g} of {} samples is none; hold out more, or leave it away",
                                   params_.hold_out, whole_->size()));
    training_ = std::make_unique<Subset>(*whole_, std::move(rest));
    held_out_ = std::make_unique<Subset>(*whole_, std::move(held));
  } else {
    training_ = std::move(whole_);
  }
  if (held_out_) require_same_fields(training_->fields(), held_out_->fields());
  const std::int64_t samples = training_->size();
  if (params_.batch > samples)
    throw InputError(
        fmt::format("batch is {}, but the training set has {} samples; lower batch", params_.batch, samples));
  const double per_epoch = static_cast<double>((samples + params_.batch - 1) / params_.batch);
  steps_ = params_.steps ? *params_.steps : steps_of(*params_.epochs, per_epoch);
  if (held_out_ && held_out_->size() > 0)
    validation_ = std::make_unique<Validation>(*held_out_, params_.validate.batch);
}

BatchPlan Trainer::plan() const {
  BatchPlan plan;
  plan.seed = seed_;
  plan.samples = training_->size();
  plan.batch = params_.batch;
  plan.ordered = params_.reduce.mode == ReduceParams::Mode::ordered;
  plan.slices = plan.ordered ? params_.reduce.slices : params_.accumulate;
  plan.rank = context_.comm.rank();
  plan.ranks = context_.comm.size();
  if (sharded_ && plan.ordered) plan.turns = sharded_->turns();
  plan.steps = steps_;
  return plan;
}

CheckpointKey Trainer::checkpoint_key() const {
  const bool ordered = params_.reduce.mode == ReduceParams::Mode::ordered;
  return {params_.model.type,
          params_.optimizer.type,
          sharded_ ? sharded_->states() : optimizer_->states(network_->dtype()),
          ordered ? "ordered" : "fast",
          ordered ? params_.reduce.slices : 1,
          params_.batch,
          seed_};
}

/// Weights, gradients, the optimizer's states, an average and the best weights, where they are held.
void Trainer::require_room() const {
  double numbers = 0.0, states = 0.0;
  for (const auto& parameter : network_->parameters())
    numbers += std::accumulate(parameter.shape.begin(), parameter.shape.end(), 1.0, std::multiplies<>());
  for (const auto& state : optimizer_->states(network_->dtype())) states += static_cast<double>(size_of(state.dtype));
  const double copies = 2.0 + (params_.average ? 1.0 : 0.0);
  double bytes = numbers * (copies * static_cast<double>(size_of(network_->dtype())) + states);
  if (params_.parallel)
    bytes /= context_.comm.size();
  else if (params_.direct)
    bytes = numbers / 4.0;
  require_memory(bytes, fmt::format("training {:.4g} parameters", numbers),
                 "make the model smaller, or divide it among ranks of more nodes (parallel)", context_);
}

/// The network knows its sizes now.
void Trainer::make_buffers() {
  const DType dtype = network_->dtype();
  terms_ = network_->terms();
  metrics_ = network_->metrics();
  require_measure();
  require_room();
  if (params_.parallel) {
    make_sharded();
    return after_buffers();
  }
  mesh_ = std::make_unique<Mesh>(context_.comm);
  layout_ = std::make_unique<FlatLayout>(layout_of(params_.reduce, network_->parameters(), dtype));
  reducer_ = make_reducer(params_.reduce, *mesh_, *layout_, dtype);
  gradients_ = reducer_->make_buffer(*layout_, dtype);
  progress_.states = make_states(*optimizer_, *layout_, dtype);
  if (params_.direct)
    make_direct();
  else
    progress_.weights = FlatBuffer(*layout_, dtype);
  if (params_.average) progress_.average = FlatBuffer(*layout_, dtype);
  after_buffers();
}

void Trainer::after_buffers() {
  const DType dtype = network_->dtype();
  progress_.window.assign(terms_.size(), {});
  loader_->open(*training_, plan(), context_);
  auto& log = context_.log;
  log.info(fmt::format("model {}: {} parameters in {} arrays, float{}; {} message{} per step", params_.model.type,
                       layout().parameters(), layout().tensors().size(), dtype == DType::f64 ? 64 : 32,
                       layout().groups().size(), layout().groups().size() == 1 ? "" : "s"));
  log.info(fmt::format("{} samples to train on{}; {} steps of {} samples, {:.4g} epochs", training_->size(),
                       validation_ ? fmt::format(", {} to validate", held_out_->size()) : ", none to validate", steps_,
                       params_.batch, static_cast<double>(steps_) / static_cast<double>(plan().steps_per_epoch())));
  mllog_.event("global_batch_size", params_.batch);
  mllog_.event("train_samples", training_->size());
  mllog_.event("eval_samples", validation_ ? held_out_->size() : 0);
  mllog_.event("seed", seed_);
  mllog_.event("opt_name", params_.optimizer.type);
  mllog_.event("opt_base_learning_rate", rate_->at(0, steps_));
}

void Trainer::require_measure() const {
  const auto& measure = params_.validate.measure;
  if (measure.size() <= metrics_.size()) return;
  std::string names;
  for (const auto& metric : metrics_) names += (names.empty() ? "" : ", ") + metric.name;
  throw InputError(fmt::format("validate.measure has {} weights, but {} is judged by {} errors: {}", measure.size(),
                               params_.model.type, metrics_.size(), names));
}

void Trainer::start_fresh() {
  network_->fit_statistics(*training_, context_);
  make_buffers();
  if (params_.start_from.empty()) {
    start_weights([&](FlatBuffer& weights) { network_->initialise(weights.views(), seed_); });
  } else {
    const auto model = load_artifact(params_.start_from, context_);
    require_fields(model.info, params_.start_from, *training_);
    if (model.info.type != params_.model.type || model.layout->parameters() != layout().parameters() ||
        model.layout->tensors().size() != layout().tensors().size() || model.weights.dtype() != network_->dtype())
      throw InputError(fmt::format(
          "start_from: '{}' holds a {} with {} parameters, but the deck's {} has {}; use the same model and precision",
          params_.start_from, model.info.type, model.layout->parameters(), params_.model.type, layout().parameters()));
    // The new data's statistics would change what the weights mean: the model's own stay.
    network_->restore(model.info.state);
    start_weights([&](FlatBuffer& weights) {
      with_real(weights.dtype(), [&]<class T>() { unpack<T>(packed<T>(model.weights), weights); });
    });
    context_.log.info(fmt::format("weights and statistics from {}", params_.start_from));
  }
  if (params_.average) progress_.average.copy_from(progress_.weights);
  open_tables({});
  print_header();
}

void Trainer::resume(const std::string& path) {
  std::int64_t ranks = 0;
  restore_network(*network_, path, context_);
  make_buffers();
  io::on_every_rank(context_.comm, [&] {
    if (sharded_) return read_sharded(path, ranks);
    if (direct_) return read_direct(path, ranks);
    progress_.best = FlatBuffer(*layout_, network_->dtype());
    ranks = read_train_checkpoint(path, progress_, checkpoint_key());
  });
  open_tables(progress_.step, path);
  const bool same = ranks == context_.comm.size() || params_.reduce.mode == ReduceParams::Mode::ordered;
  context_.log.info(fmt::format(
      "resumed at step {} from {}{}", progress_.step, path,
      same ? ""
           : fmt::format(
                 " (written by {} ranks: sums are rounded differently from here on; reduce.mode ordered would not)",
                 ranks)));
  print_header();
}

void Trainer::open_tables(std::optional<std::int64_t> resumed_at, const std::string& checkpoint) {
  const auto mark = [&](const char* table) {
    return checkpoint.empty() ? std::nullopt : io::table_mark(io::File::open(checkpoint), table);
  };
  std::vector<io::Column> columns{{"epoch", "", "passes over the training set"},
                                  {"learning_rate", "", "of the last step"},
                                  {"loss", "", "weighted loss, mean since the last row"}};
  for (const auto& term : terms_) columns.push_back({term.name, term.unit, "training, mean since the last row"});
  if (params_.direct)
    columns.push_back({"flips", "", "share of direct weights that change in a step, mean since the last row"});
  training_table_ = std::make_unique<io::TableFile>(context_, "training", columns, resumed_at, mark("training"));
  if (!validation_) return;
  columns.clear();
  for (const auto& metric : metrics_) columns.push_back({metric.name, metric.unit, "on the validation set"});
  validation_table_ = std::make_unique<io::TableFile>(context_, "validation", columns, resumed_at, mark("validation"));
}

}  // namespace cambium::train
