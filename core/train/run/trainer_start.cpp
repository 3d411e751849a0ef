#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/differences.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/run/exported_head.hpp"
#include "core/train/run/train_checkpoint.hpp"
#include "core/train/run/trainer.hpp"
#include "core/train/run/training_keys.hpp"
#include "core/train/weights/artifact_in_parts.hpp"
#include "core/train/weights/by_module.hpp"
#include "core/train/weights/pieces.hpp"
#include "core/train/weights/safetensors.hpp"

namespace cambium::train {

static std::uint64_t seed_of(const Train::Params& params, const Context& context) {
  return params.seed ? static_cast<std::uint64_t>(*params.seed) : context.seed;
}

Trainer::Trainer(const Train::Params& params, Context& context, int member, Watch watch)
    : params_(params), context_(context), shared_seed_(seed_of(params, context)),
      seed_(shared_seed_ + static_cast<std::uint64_t>(member)), step_(params, seed_, context),
      data_(params, shared_seed_, context), log_(step_, context, {params.tensorboard, params.gradient_norms}),
      models_(params, step_, data_, progress_, context), watch_(std::move(watch)),
      checkpoints_(params.checkpoint, context), mllog_(context.log, params.mllog && !context.dry_run),
      milestones_(params, mllog_, context) {
  if (step_.needs_validations() && !params.validation && params.hold_out == 0.0)
    throw KeyError("train.learning_rate.validation", "learning_rate",
                   fmt::format("learning_rate {} needs validations; give validation (a data set) or hold_out",
                               params.learning_rate.type));
  if (params.loss_spikes) spikes_.emplace(*params.loss_spikes);
  data_.take_member(member);
  if (params.activations) step_.network().use_activations(*params.activations);
}

void Trainer::report_plan() const {
  data_.check();
  auto& log = context_.log;
  log.info(fmt::format("network {}, data set {}, optimizer {}, learning rate {}", params_.network.type,
                       params_.dataset.type, params_.optimizer.type, params_.learning_rate.type));
  log.info(fmt::format(
      "batch {} over {} rank{}, {}", params_.batch ? fmt::format("{}", *params_.batch) : "of all samples",
      context_.comm.size(), context_.comm.size() == 1 ? "" : "s",
      params_.steps ? fmt::format("{} steps", *params_.steps) : fmt::format("{:g} epochs", *params_.epochs)));
  if (params_.steps) {
    std::string line = "rate at step";
    for (int k = 0; k <= 4; ++k) {
      const auto step = static_cast<std::int64_t>(static_cast<double>(*params_.steps - 1) * k / 4.0);
      line += fmt::format("{} {}: {:.3g}", k ? "," : "", step, step_.rate(step, *params_.steps));
    }
    log.info(line);
  }
  log.info("one step: data, gradient, reduce, clip, optimizer, average; then validate, checkpoint, signals");
}

void require_measure(const Train::Params& params, const std::vector<TermInfo>& metrics) {
  const auto& measure = params.validate.measure;
  if (measure.size() <= metrics.size()) return;
  std::string names;
  for (const auto& metric : metrics) names += (names.empty() ? "" : ", ") + metric.name;
  throw KeyError("train.validate.measure", "validate.metric_weights",
                 fmt::format("validate.metric_weights has {} weights, but {} is evaluated by {} errors: {}",
                             measure.size(), params.network.type, metrics.size(), names));
}

/// Requires one slice with samples per rank and step, since slices exchange data across all ranks.
static void require_joined(const std::string& network, const BatchPlan& plan) {
  if (plan.ordered)
    throw KeyError(
        "train.reduce.mode.joined", "reduce.mode",
        fmt::format("reduce.mode is ordered, but {} compares all samples of a step with each other; remove reduce.mode",
                    network));
  if (plan.slices != 1)
    throw KeyError(
        "train.accumulate.joined", "gradient_accumulation_steps",
        fmt::format(
            "gradient_accumulation_steps is {}, but {} compares all samples of a step with each other, which parts "
            "of it cannot; remove gradient_accumulation_steps",
            plan.slices, network));
  const auto last = plan.samples % plan.batch;
  if (plan.batch >= plan.ranks && (last == 0 || last >= plan.ranks)) return;
  throw KeyError(
      "train.batch.ranks", "batch",
      fmt::format(
          "a step of {} samples leaves some of {} ranks without one, but {} needs them all; take a batch that leaves "
          "none or at least {} of the {} samples over, or fewer ranks",
          plan.batch < plan.ranks ? plan.batch : last, plan.ranks, network, plan.ranks, plan.samples));
}

/// Batch gradients differ by sampling noise that exceeds the effect of curvature.
static void require_full_batch(const TrainingStep& step, const std::string& optimizer, std::int64_t batch,
                               std::int64_t samples) {
  if (step.optimizer().full_batch() && batch != samples)
    throw KeyError("train.batch.full", "batch",
                   fmt::format("{} compares the gradients of successive steps, which must be of the same samples, but "
                               "a step takes {} of {}; remove batch, so that each takes all",
                               optimizer, batch, samples));
}

/// Warns if the warm-up does not end, or if the average is still dominated by the initial weights.
static void warn_of_length(const Train::Params& params, std::int64_t steps, Log& log) {
  if (params.warm_up && params.warm_up->steps >= steps)
    log.warn(
        fmt::format("warm_up takes {} steps, but the training has {}: its learning rate only rises, and the schedule "
                    "after it never begins; shorten warm_up, or train longer",
                    params.warm_up->steps, steps));
  if (!params.average || params.average->from > 0 || !params.start_from.empty()) return;
  const double left = std::pow(params.average->decay, static_cast<double>(steps));
  if (left > 0.1)
    log.warn(
        fmt::format("ema: after {} steps {:.0f} % of it are still the weights that training began with, and it is "
                    "what is validated "
                    "and written; lower decay to {:.2g}, let averaging begin later (start_step), or train longer",
                    steps, 100.0 * left, std::pow(0.01, 1.0 / static_cast<double>(steps))));
}

/// Checks at the start, not at the first checkpoint, whether memory suffices for files with complete models.
static void require_room_to_gather(const Train::Params& params, Weights& weights) {
  InPieces* const pieces = weights.in_pieces();
  MemoryLedger* const ledger = pieces ? pieces->ledger() : nullptr;
  const bool gathers = params.checkpoint.transfer == TrainCheckpointKeys::Transfer::gather;
  if (!ledger || (!gathers && !params.loss_spikes)) return;
  std::int64_t bytes = 0;
  for (const auto& array : pieces->arrays(true)) bytes += weights.layout().size() * size_of(array.dtype);
  if (ledger->excess(bytes) == 0) return;
  const auto mb = [](std::int64_t n) { return 1e-6 * static_cast<double>(n); };
  throw KeyError(
      "train.checkpoint.transfer.room", gathers ? "checkpoint.transfer" : "loss_spikes",
      fmt::format("{} gathers the model on every rank, {:.3f} MB in addition to its part of {:.3f} MB, but "
                  "parallel.memory_limit is {:.3f} MB; {}, or raise memory_limit",
                  gathers ? "checkpoint.transfer: gather" : "loss_spikes", mb(bytes), mb(ledger->together()),
                  mb(ledger->limit()), gathers ? "use transfer: collective or per_rank" : "remove loss_spikes"));
}

/// Copies samples to the device with the weights, if every sample is used and the loader provides the order.
void Trainer::bring_samples() {
  DeviceSteps& device = *step_.device();
  const Region region("bring samples to the device", WorkKind::movement);
  const bool all_used = data_.epochs(data_.steps()) >= 1.0;
  if (all_used && data_.as_stored() && data_.loader().numbers(progress_.step)) device.bring_samples(data_.training());
  context_.log.info(fmt::format("weights, gradients and states are in the memory of the kernels; samples {}",
                                device.resident() ? "are, too" : "are copied to them in each step"));
}

/// Called when the network knows its sizes.
void Trainer::prepare() {
  require_measure(params_, step_.network().metrics());
  milestones_.set_quality(quality_of(step_.network(), params_.network.type, params_.validate.quality));
  const std::int64_t slices = std::int64_t{context_.comm.size()} * params_.accumulate;
  step_.prepare(data_.steps(), (data_.batch() + slices - 1) / slices);
  progress_.window.assign(step_.network().terms().size(), {});
  data_.start(seed_, step_.weights().turns());
  if (step_.network().traits().joins_ranks) require_joined(params_.network.type, data_.plan());
  require_room_to_gather(params_, step_.weights());
  require_full_batch(step_, params_.optimizer.type, data_.batch(), data_.training().size());
  if (step_.device() && spikes_)
    context_.log.warn("loss_spikes: the losses come when the weights on the device have moved on; none is written");
  if (step_.device()) bring_samples();
  auto* held_out = data_.held_out();
  if (held_out) validation_ = std::make_unique<Validation>(*held_out, params_.validate.batch);
  const auto& layout = step_.weights().layout();
  const auto groups = layout.groups().size();
  context_.log.info(fmt::format("network {}: {} parameters in {} arrays, float{}; {} message{} per step",
                                params_.network.type, layout.parameters(), layout.tensors().size(),
                                step_.network().dtype() == DType::f64 ? 64 : 32, groups, groups == 1 ? "" : "s"));
  const auto samples = data_.training().size();
  context_.log.info(fmt::format("{} samples to train on{}; {} steps of {} samples, {:.4g} epochs", samples,
                                held_out ? fmt::format(", {} to validate", held_out->size()) : ", none to validate",
                                data_.steps(), data_.batch(), data_.epochs(data_.steps())));
  warn_of_length(params_, data_.steps(), context_.log);
  mllog_.event("global_batch_size", data_.batch());
  mllog_.event("train_samples", samples);
  mllog_.event("eval_samples", held_out ? held_out->size() : 0);
  mllog_.event("seed", seed_);
  if (params_.mllog)
    log_training_keys({params_.optimizer, params_.learning_rate, params_.warm_up, params_.network.node,
                       step_.start_rate(), params_.accumulate, data_.steps(), data_.plan().steps_per_epoch()},
                      mllog_, *context_.registry);
}

void Trainer::start_fresh() {
  deck::about_key("train.network.data", "dataset", "network",
                  [&] { step_.network().fit_statistics(data_.training(), context_); });
  prepare();
  if (params_.start_from.empty())
    step_.start();
  else if (params_.start_from.ends_with(".safetensors"))
    start_from_tensors();
  else
    start_from_model();
  log_.open(validation_ != nullptr);
}

/// Describes the first array that differs between both networks; empty if all names and shapes are equal.
static std::string other_array(const FlatLayout& file, const FlatLayout& deck) {
  for (std::size_t k = 0; k < deck.tensors().size(); ++k) {
    const auto &there = file.tensors()[k].info, &here = deck.tensors()[k].info;
    if (there.name != here.name || there.shape != here.shape)
      return fmt::format("{} ({}) there, {} ({}) here", there.name, fmt::join(there.shape, ", "), here.name,
                         fmt::join(here.shape, ", "));
  }
  return {};
}

/// Differences in keys between the network of a model file and that of the deck: an activation changes the meaning of
/// weights.
static std::string other_keys(const std::string& file, const std::string& deck) {
  std::vector<std::string> out;
  for (const auto& d : deck::differences(deck::parse(file, "model"), deck::parse(deck, "deck")))
    if (d.from != "absent") out.push_back(fmt::format("{}: {} there, {} here", d.path, d.from, d.to));
  return join(out, "; ");
}

/// KeyError if the model is of another network than the deck's; a warning if its keys differ.
void Trainer::require_same_network(const LoadedModel& model, bool same_precision) {
  const auto& layout = step_.weights().layout();
  if (model.info.type != params_.network.type || model.layout->parameters() != layout.parameters() ||
      model.layout->tensors().size() != layout.tensors().size() ||
      (same_precision && model.network->dtype() != step_.network().dtype()))
    throw KeyError("train.start_from.size", "start_from",
                   fmt::format("start_from: '{}' holds a {} with {} parameters, but the deck's {} has {}; use the same "
                               "network and precision",
                               params_.start_from, model.info.type, model.layout->parameters(), params_.network.type,
                               layout.parameters()));
  if (const auto other = other_array(*model.layout, layout); !other.empty())
    throw KeyError("train.start_from.network", "start_from",
                   fmt::format("start_from: '{}' holds another network than the deck: {}; use the same network",
                               params_.start_from, other));
  if (const auto other = other_keys(model.info.config, step_.model_info().config); !other.empty())
    context_.log.warn(
        fmt::format("start_from: the network of '{}' has other keys than the deck's: {}; its weights mean the same "
                    "only where these do not change what the network computes",
                    params_.start_from, other));
}

/// Each rank reads at most one group of tensors at a time.
static void start_by_module(const std::string& file, ByModule& parts, const LoadedModel& model) {
  parts.start_on(model.info.grids,
                 [&](std::span<const TensorRef> views) { fill_from_file(file, *model.layout, views); });
}

void Trainer::start_from_model() {
  ByModule* const parts = step_.weights().by_module();
  const auto model = deck::about_key("train.start_from.file", "start_from", [&] {
    auto loaded = parts ? load_head(params_.start_from, context_) : load_artifact(params_.start_from, context_);
    require_fields(loaded, params_.start_from, data_.training());
    return loaded;
  });
  require_same_network(model, true);
  // New statistics would change the meaning of the weights: the model's own are kept.
  step_.network().restore(model.info.state);
  if (parts)
    start_by_module(params_.start_from, *parts, model);
  else
    step_.weights().start_on(model.info.grids, [&](FlatBuffer& whole) {
      with_real(whole.dtype(), [&]<class T>() { unpack<T>(packed<T>(model.weights), whole); });
    });
  const auto grids = step_.weights().grids();
  if (!grids.empty() && !model.info.grids.empty() && grids.front().limit != model.info.grids.front().limit)
    context_.log.info(fmt::format(
        "start_from: '{}' stores its matrices in {} bits and this training in {}: they are rounded to new grids",
        params_.start_from, model.info.grids.front().ternary() ? 2 : 8, grids.front().ternary() ? 2 : 8));
  if (Tables* tables = step_.tables())
    io::on_every_rank(context_.comm, [&] { tables->read(io::File::open(params_.start_from), Tables::For::model); });
  context_.log.info(fmt::format("weights and statistics from {}", params_.start_from));
}

/// Starts from a safetensors file. Statistics are those of the model that was exported; in a file of another program
/// there are none, and they remain those of the data.
void Trainer::start_from_tensors() {
  constexpr std::size_t shown = 8;
  const auto& type = params_.network.type;
  const auto& layout = step_.weights().layout();
  const auto about = [](auto&& f) { return deck::about_key("train.start_from.tensors", "start_from", f); };
  const auto file = about([&] { return SafetensorsFile(params_.start_from); });
  const auto model = about([&] {
    auto head = exported_head(file, context_);
    if (head) require_fields(*head, params_.start_from, data_.training());
    return head;
  });
  if (model) {
    require_same_network(*model, false);
    step_.network().restore(model->info.state);
  }
  about([&] {
    if (ByModule* parts = step_.weights().by_module())
      parts->start([&](std::span<const TensorRef> views) { from_torch(type, file, layout, views); });
    else
      step_.weights().start([&](FlatBuffer& whole) { from_torch(type, file, whole.layout(), whole.views()); });
  });
  if (const auto unused = unused_tensors(type, file, layout); !unused.empty())
    context_.log.warn(fmt::format("start_from: '{}' holds {} that the network does not have: {}{}", params_.start_from,
                                  unused.size() == 1 ? "a tensor" : fmt::format("{} tensors", unused.size()),
                                  fmt::join(std::span(unused).first(std::min(shown, unused.size())), ", "),
                                  unused.size() > shown ? ", ..." : ""));
  context_.log.info(model ? fmt::format("weights and statistics from {}", params_.start_from)
                          : fmt::format("weights from {}; it has no statistics: scales are those of this data set",
                                        params_.start_from));
}

void Trainer::resume(const std::string& path) {
  std::int64_t ranks = 0;
  restore_network(step_.network(), path, context_);
  prepare();
  io::on_every_rank(context_.comm, [&] {
    ranks = read_train_checkpoint(path, progress_, step_.weights(), checkpoint_key());
    if (Tables* tables = step_.tables())
      tables->read(io::File::open(path),
                   progress_.best_step >= 0 ? Tables::For::restart_with_best : Tables::For::restart);
  });
  step_.take(progress_.kept);
  if (spikes_) spikes_->take(progress_.kept["losses"]);
  milestones_.restore(progress_);
  log_.open(validation_ != nullptr, progress_.step, path);
  const bool same = ranks == context_.comm.size() || params_.reduce.mode == ReduceParams::Mode::ordered;
  context_.log.info(fmt::format(
      "resumed at step {} from {}{}", progress_.step, path,
      same ? ""
           : fmt::format(
                 " (written by {} ranks: sums are rounded differently from here on; reduce.mode ordered would not)",
                 ranks)));
}

}  // namespace cambium::train
