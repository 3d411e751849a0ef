#include "core/train/run/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/run/node_memory.hpp"
#include "core/run/resume_point.hpp"
#include "core/run/summary/stage_files.hpp"
#include "core/train/kinds/running_statistics.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/run/train_checkpoint.hpp"
#include "core/train/weights/by_module.hpp"

namespace cambium::train {

/// Keys that a resumed training may change: duration, frequency of output, loading of samples and distribution over
/// ranks.
static constexpr std::string_view free_keys[] = {"steps",
                                                 "tensorboard",
                                                 "gradient_norms",
                                                 "loss_spikes",
                                                 "epochs",
                                                 "loader",
                                                 "gradient_accumulation_steps",
                                                 "parallel",
                                                 "tables.sharding",
                                                 "reduce.bucket_size",
                                                 "reduce.overlap",
                                                 "validate.every",
                                                 "validate.batch",
                                                 "validate.patience",
                                                 "checkpoint",
                                                 "log_every",
                                                 "divergence_factor",
                                                 "ensemble_size",
                                                 "mllog",
                                                 "submission",
                                                 "validate.target",
                                                 "validate.target_metric"};

Task::Outcome Trainer::run() {
  context_.timing.reset();
  milestones_.submission();
  mllog_.start("init_start");
  {
    const Region region("open the data", WorkKind::host);
    data_.open();
  }
  {
    const Region region("first weights", WorkKind::host);
    const auto checkpoint = newer_in_memory(
        resume_point(context_, free_keys, ", which start_from lets begin with the weights of this one"), context_);
    if (checkpoint)
      resume(*checkpoint);
    else
      start_fresh();
    data_.require_same_axes(step_.network().traits().fields);
    log_.header();
  }
  mllog_.stop("init_stop");
  context_.timing.reset();
  LoopCadence cadence(
      {progress_.step, data_.steps(), params_.checkpoint.every, "samples/s", static_cast<double>(data_.batch())},
      context_);
  auto outcome = Task::Outcome::done;
  try {
    outcome = loop(cadence);
  } catch (const NumericalError& error) {
    milestones_.run_stop(data_.epochs(progress_.step));
    keep_best_and_rethrow(error);
  }
  checkpoints_.wait();
  seconds_ = cadence.seconds();
  loop_steps_ = cadence.steps_at(progress_.step);
  milestones_.run_stop(data_.epochs(progress_.step));
  const Region region("write the model", WorkKind::host);
  write_files();
  return outcome;
}

/// Local slices of a batch, as views of its samples.
static Share share_of(const Batch& batch, const BatchPlan& plan) {
  Share share;
  for (const auto& samples : batch.slices) {
    share.numbers.push_back(plan.slice_number(std::ssize(share.slices)));
    share.slices.emplace_back(samples);
  }
  return share;
}

Task::Outcome Trainer::loop(LoopCadence& cadence) {
  const Region region("between sections", WorkKind::host);
  milestones_.run_start();
  while (progress_.step < data_.steps() && !ended()) {
    milestones_.epoch_start(data_.plan().epoch_of(progress_.step) + 1);
    advance();
    tell(cadence);
    if (validation_ && cadence.due(progress_.step, params_.validate.every)) validate();
    const auto timer = context_.timing.scope("signals");
    checkpoints_.look();
    if (checkpoints_.copies_after(progress_.step)) write_checkpoint(true);
    if (cadence.stops_after(progress_.step, [this] { write_checkpoint(false); })) return Task::Outcome::stopped_early;
  }
  take_losses();
  if (out_of_patience())
    context_.log.info(fmt::format("no improvement in {} validations: training ends at step {}",
                                  params_.validate.patience, progress_.step));
  return Task::Outcome::done;
}

/// One step: batch, gradient, reduction over ranks, clipping, update.
void Trainer::advance() {
  const auto timer = context_.timing.scope("data");  // includes time between the inner sections: slices, destruction
  if (step_.device()) return advance_on_device();
  const std::int64_t step = progress_.step;
  const Batch batch = data_.batch_of(step);
  const Share share = share_of(batch, data_.plan());
  const Loss loss = step_.gradient(share, step);
  look_at(step, share, loss, batch.samples);
  take(step, loss);
  step_.update(batch.samples, step);
  ++progress_.step;
}

/// Output that is only available before the weights are updated.
void Trainer::look_at(std::int64_t before, const Share& share, const Loss& loss, std::int64_t samples) {
  const std::int64_t step = before + 1;
  if (log_.wants_gradients() && (step % params_.log == 0 || step == data_.steps())) log_.gradients(step, samples);
  if (!spikes_) return;
  if (const auto median = spikes_->look(loss.value)) write_spike({step, *median}, share, loss);
}

void Trainer::write_spike(const LossSpike& spike, const Share& share, const Loss& loss) {
  const auto timer = context_.timing.scope("output");
  const auto state = fmt::format("spike.{}.h5", spike.step), batch = fmt::format("spike.{}.batch.h5", spike.step);
  const std::filesystem::path folder(context_.run_directory);
  const auto key = checkpoint_key();
  const auto tables = log_.tables();
  write_train_checkpoint((folder / state).string(), step_.weights().save(progress_.best_step >= 0),
                         checkpoint_parts(key, tables));
  write_spike_batch((folder / batch).string(), spike, share, loss, step_.network().terms(), data_.training().fields(),
                    context_);
  for (const auto& file : {state, batch}) spike_files_.push_back(file);
  context_.log.warn(
      fmt::format("step {}: the loss {:.4g} is {:.3g} times the median of the steps before; its batch is "
                  "in {}, the state before it in {}",
                  spike.step, loss.value, loss.value / spike.median, batch, state));
}

/// The same without the loss, which the device keeps. Resident samples are selected by index.
void Trainer::advance_on_device() {
  DeviceSteps& device = *step_.device();
  const std::int64_t step = progress_.step;
  Batch batch;
  DeviceShare share;
  if (device.resident()) {
    const Region region("make a batch", WorkKind::movement);
    const auto numbers = data_.loader().numbers(step);
    share.slices = device.slices(*numbers);
    batch.samples = numbers->samples;
  } else {
    batch = data_.batch_of(step);
    for (const auto& samples : batch.slices) share.slices.push_back({nullptr, std::ssize(samples), samples});
  }
  for (std::int64_t k = 0; k < std::ssize(share.slices); ++k) share.numbers.push_back(data_.plan().slice_number(k));
  step_.start_gradient(share, step);
  step_.update(batch.samples, step);
  ++progress_.step;
  if (device.full()) take_losses();
}

/// Processes the losses stored on the device, in step order, before the progress is used.
void Trainer::take_losses() {
  if (!step_.device()) return;
  const auto timer = context_.timing.scope("gradient");  // includes the wait for the gradients
  for (const auto& past : step_.device()->losses()) take(past.step, past.loss);
}

/// Adds to the window of the log; NumericalError if a term is NaN or the loss diverges.
void Trainer::take(std::int64_t step, const Loss& loss) {
  watch_terms(step, loss);
  progress_.loss_window += loss.value;
  ++progress_.window_steps;
  progress_.curve_loss += loss.value;
  ++progress_.curve_steps;
}

void Trainer::watch_terms(std::int64_t before, const Loss& loss) {
  constexpr std::int64_t first_steps = 10;
  const std::int64_t step = before + 1;
  const auto rate = step_.rate(before);
  const auto& terms = loss.terms;
  const auto name = [&](std::size_t k) { return step_.network().terms()[k].name; };
  for (std::size_t k = 0; k < terms.size(); ++k) {
    if (!std::isfinite(terms[k].sum))
      throw NumericalError(
          fmt::format("training diverged at step {}: the term '{}' of the loss is {}; the learning rate was {:.3g}, "
                      "try a tenth of it or a warm_up",
                      step, name(k), std::isnan(terms[k].sum) ? "not a number" : "infinite", rate));
    progress_.window[k].sum += terms[k].sum;
    progress_.window[k].count += terms[k].count;
  }
  if (step <= first_steps) {
    progress_.first_loss = std::max(progress_.first_loss, loss.value);
    return;
  }
  if (!(loss.value > params_.explode * progress_.first_loss)) return;
  std::size_t worst = 0;
  for (std::size_t k = 1; k < terms.size(); ++k)
    if (terms[k].sum * terms[worst].count > terms[worst].sum * terms[k].count) worst = k;
  throw NumericalError(fmt::format(
      "training diverged at step {}: the loss is {:.3g}, more than divergence_factor = {:g} times its first values "
      "({:.3g}), most of it in the term '{}'; the learning rate was {:.3g}, try a tenth of it or a warm_up",
      step, loss.value, params_.explode, progress_.first_loss, name(worst), rate));
}

/// Reports the completed step to observers and the log.
void Trainer::tell(LoopCadence& cadence) {
  const auto timer = context_.timing.scope("output");
  const std::int64_t step = progress_.step;
  if (step % data_.plan().steps_per_epoch() == 0) milestones_.epoch_stop();
  if (watch_.after_step) watch_.after_step();
  if (context_.stop) context_.stop->require_directory();
  if (cadence.due(step, params_.log)) {
    take_losses();
    log_.row(progress_, data_.epochs(step));
  }
  cadence.show_progress(step);
}

/// The weighted sum that selects the best model (lower is better).
static double measure_of(const std::vector<double>& weights, const std::vector<double>& errors,
                         const std::vector<bool>& higher) {
  double sum = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (weights[k] != 0.0) sum += weights[k] * (higher[k] ? -errors[k] : errors[k]);
  return sum;
}

/// validate.metric_weights without the metrics that lack labels; if none is left, the first metric with labels.
std::vector<double> Trainer::measure_with_labels(const std::vector<TermInfo>& metrics,
                                                 const std::vector<TermSum>& sums) {
  auto weights = params_.validate.measure;
  weights.resize(metrics.size(), 0.0);
  std::string missing, left;
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    if (weights[k] == 0.0) continue;
    auto& names = sums[k].count > 0.0 ? left : missing;
    names += (names.empty() ? "" : " and ") + metrics[k].name;
    if (sums[k].count == 0.0) weights[k] = 0.0;
  }
  if (missing.empty()) return weights;
  for (std::size_t k = 0; k < metrics.size() && left.empty(); ++k)
    if (sums[k].count > 0.0) weights[k] = 1.0, left = metrics[k].name;
  if (!left.empty() && !std::exchange(said_what_measures_, true))
    context_.log.warn(fmt::format(
        "the validation samples have no labels of {}, by which the best model is chosen: it is chosen by {} "
        "(validate.metric_weights)",
        missing, left));
  return weights;
}

void Trainer::validate() {
  take_losses();
  const auto timer = context_.timing.scope("validate");
  const nlohmann::json where = {{"step", progress_.step}, {"epoch_num", data_.epochs(progress_.step)}};
  mllog_.start("eval_start", where);
  std::vector<TermSum> sums, terms;
  if (ByModule* parts = step_.weights().by_module())
    parts->forward([&](const Pass& pass) {
      sums = validation_->evaluate_by_module(step_.network(), pass, context_.comm, &terms);
    });
  else
    step_.weights().whole([&](FlatBuffer& weights) {
      sums = validation_->evaluate(step_.network(), weights.views(), context_.comm, step_.tables(), &terms);
    });
  const auto metrics = step_.network().metrics();
  std::vector<double> errors;
  for (std::size_t k = 0; k < metrics.size(); ++k) errors.push_back(reported(metrics[k], sums[k]));
  const double measure = measure_of(measure_with_labels(metrics, sums), errors, higher_is_better(step_.network()));
  const bool better = measure < progress_.best_metric;
  log_.validation(progress_, data_.epochs(progress_.step), errors, {sums, terms}, better);
  milestones_.judge(errors, where, progress_.step);
  mllog_.stop("eval_stop", where);
  ++progress_.without_improvement;
  if (better) keep_best(measure, errors);
  if (step_.judge(progress_.step, measure))
    context_.log.info(fmt::format("validation does not improve: learning rate {:.3g} from step {} on",
                                  step_.rate(progress_.step), progress_.step));
  if (watch_.after_validation && !watch_.after_validation(progress_.step, data_.steps(), progress_.best_metric))
    ended_ = true;
}

void Trainer::keep_best(double measure, const std::vector<double>& errors) {
  progress_.without_improvement = 0;
  progress_.best_metric = measure;
  progress_.best_step = progress_.step;
  progress_.best_errors = errors;
  step_.weights().keep_best();
  if (step_.tables()) step_.tables()->keep_best();
  if (HasRunningStatistics* statistics = step_.network().traits().statistics) statistics->keep_best();
  if (params_.validate.keep_best) models_.write_best("best.h5", progress_.best_step);
}

bool Trainer::out_of_patience() const {
  return validation_ && params_.validate.patience > 0 && progress_.without_improvement >= params_.validate.patience;
}

CheckpointKey Trainer::checkpoint_key() const {
  auto key = step_.key(data_.batch());
  if (params_.permutation == BatchPlan::Permutation::computed) key.permutation = "computed";
  return key;
}

CheckpointParts Trainer::checkpoint_parts(const CheckpointKey& key, std::span<const io::TableFile* const> tables) {
  milestones_.save(progress_);
  progress_.kept = step_.kept();
  if (spikes_) progress_.kept["losses"] = spikes_->kept();
  return {progress_, key, step_.network(), context_, tables, step_.tables()};
}

void Trainer::write_checkpoint(bool in_memory) {
  take_losses();
  const auto timer = context_.timing.scope("output");
  io::on_root(context_.comm, [&] {
    if (context_.stop) context_.stop->require_directory(true);
  });
  const auto key = checkpoint_key();
  const auto tables = log_.tables();
  const auto parts = checkpoint_parts(key, tables);
  if (in_memory) return checkpoints_.copy_to_memory(step_.weights(), parts);
  const auto path = (std::filesystem::path(context_.run_directory) / checkpoint_name(progress_.step)).string();
  checkpoints_.write(path, step_.weights(), parts);
}

}  // namespace cambium::train
