#include "core/train/run/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/driver/page/stage_files.hpp"
#include "core/driver/resume_point.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"

namespace cambium::train {

/// What a resumed training may change: how long, how often is looked and written, how samples are brought and work is
/// divided.
static constexpr std::string_view free_keys[] = {
    "steps",          "epochs",         "loader",         "accumulate",        "parallel",   "reduce.group",
    "reduce.overlap", "validate.every", "validate.batch", "validate.patience", "checkpoint", "log",
    "explode",        "models",         "mllog"};

Task::Outcome Trainer::run() {
  context_.timing.reset();
  mllog_.start("init_start");
  open_data();
  const auto checkpoint =
      resume_point(context_, free_keys, ", which start_from lets begin with the weights of this one");
  if (checkpoint)
    resume(*checkpoint);
  else
    start_fresh();
  mllog_.stop("init_stop");
  context_.timing.reset();
  LoopCadence cadence(
      {progress_.step, steps_, params_.checkpoint.every, "samples/s", static_cast<double>(params_.batch)}, context_);
  auto outcome = Task::Outcome::done;
  try {
    outcome = loop(cadence);
  } catch (const NumericalError& error) {
    keep_best_and_rethrow(error);
  }
  seconds_ = cadence.seconds(), loop_steps_ = cadence.steps_at(progress_.step);
  mllog_.stop("run_stop", {{"status", outcome == Task::Outcome::done ? "success" : "aborted"}});
  write_files();
  return outcome;
}

Task::Outcome Trainer::loop(LoopCadence& cadence) {
  mllog_.start("run_start");
  while (progress_.step < steps_ && !ended()) {
    advance();
    if (watch_.after_step) watch_.after_step();
    const std::int64_t step = progress_.step;
    if (context_.stop) context_.stop->require_directory();
    if (cadence.due(step, params_.log)) print_row();
    if (validation_ && cadence.due(step, params_.validate.every)) validate();
    if (cadence.stops_after(step, [this] { write_checkpoint(); })) return Task::Outcome::stopped_early;
    cadence.show_progress(step);
  }
  if (out_of_patience())
    context_.log.info(fmt::format("no improvement in {} validations: training ends at step {}",
                                  params_.validate.patience, progress_.step));
  return Task::Outcome::done;
}

/// One step: batch, gradient, sum over ranks, bounds, update.
void Trainer::advance() {
  Batch batch;
  {
    const auto timer = context_.timing.scope("data");
    batch = loader_->batch(progress_.step);
  }
  const double rate = rate_at(progress_.step);
  const double loss = compute_gradient(batch, rate);
  const auto timer = context_.timing.scope("optimizer");
  const double factor = 1.0 / static_cast<double>(batch.samples);
  ++progress_.step;
  if (sharded_) {
    last_clip_norm_ = sharded_->step(*optimizer_, factor, params_.clip, rate, progress_.step);
    flips_last_ = static_cast<double>(sharded_->changed());
    flips_window_ += flips_last_;
  } else {
    scale(gradients_, factor);
    if (params_.clip) last_clip_norm_ = params_.clip->apply(gradients_);
    update(rate);
  }
  if (params_.average) params_.average->update(progress_.average, progress_.weights, progress_.step);
  progress_.loss_window += loss;
  ++progress_.window_steps;
}

void Trainer::update(double rate) {
  if (!direct_) return optimizer_->step({progress_.weights, gradients_, progress_.states, rate, progress_.step});
  direct_->step(*optimizer_, gradients_, progress_.states, rate, progress_.step);
  flips_last_ = static_cast<double>(direct_->changed());
  flips_window_ += flips_last_;
}

/// Leaves the sum of the gradients of the global batch in gradients_ and returns its mean loss.
double Trainer::compute_gradient(const Batch& batch, double rate) {
  const double start_rate = rate_->at(0, steps_);
  const auto weights_of_terms = network_->term_weights(progress_.step, start_rate > 0.0 ? rate / start_rate : 1.0);
  const std::size_t terms = terms_.size(), slices = batch.slices.size();
  const auto own = plan();
  std::vector<TermSum> table(slices * static_cast<std::size_t>(context_.comm.size()) * terms);
  std::vector<TermSum> sums;
  const auto compute = [&](int slice, std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
                           const ReadyCallback& ready) {
    const auto timer = context_.timing.scope("gradient");
    const auto& samples = batch.slices[static_cast<std::size_t>(slice)];
    if (samples.empty()) return false;
    const auto row = static_cast<std::size_t>(own.slice_number(slice));
    network_->gradient(samples, weights, weights_of_terms, gradients, std::span(table).subspan(row * terms, terms),
                       ready);
    return true;
  };
  {
    const auto outer = context_.timing.scope("reduce");
    communication().begin_step(seed_, progress_.step);
    if (sharded_) {
      sharded_->sum(static_cast<int>(slices), compute);
    } else {
      const auto own_weights = direct_ ? std::vector<TensorRef>{} : progress_.weights.views();
      const auto weights = direct_ ? direct_->views() : std::span<const TensorRef>(own_weights);
      reducer_->sum(gradients_, static_cast<int>(slices), [&](int slice, FlatBuffer& into, const ReadyCallback& ready) {
        if (!direct_) return void(compute(slice, weights, into.views(), ready));
        compute(slice, weights, into.views(),
                ReadyCallback(
                    ready, [&](int m) { direct_->open(m); }, [&](int m) { direct_->open(m); },
                    [&](int m) { direct_->close(m); }));
      });
    }
    communication().sum_small(numbers_of(table), *mesh_);
    sums = add_rows(table, terms);
  }
  const double loss = weighted_loss(weights_of_terms, sums);
  watch(loss, sums);
  return loss;
}

/// Adds to the window of the log; NumericalError when a term is no number or the loss has run away.
void Trainer::watch(double loss, const std::vector<TermSum>& terms) {
  constexpr std::int64_t first_steps = 10;
  const std::int64_t step = progress_.step + 1;
  const auto rate = rate_at(progress_.step);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    if (!std::isfinite(terms[k].sum))
      throw NumericalError(
          fmt::format("training diverged at step {}: the term '{}' of the loss is {}; the learning rate was {:.3g}, "
                      "try a tenth of it or a warm_up",
                      step, terms_[k].name, std::isnan(terms[k].sum) ? "not a number" : "infinite", rate));
    progress_.window[k].sum += terms[k].sum;
    progress_.window[k].count += terms[k].count;
  }
  if (step <= first_steps) {
    progress_.first_loss = std::max(progress_.first_loss, loss);
    return;
  }
  if (!(loss > params_.explode * progress_.first_loss)) return;
  std::size_t worst = 0;
  for (std::size_t k = 1; k < terms.size(); ++k)
    if (terms[k].sum * terms[worst].count > terms[worst].sum * terms[k].count) worst = k;
  throw NumericalError(
      fmt::format("training diverged at step {}: the loss is {:.3g}, more than explode = {:g} times its first values "
                  "({:.3g}), most of it in the term '{}'; the learning rate was {:.3g}, try a tenth of it or a warm_up",
                  step, loss, params_.explode, progress_.first_loss, terms_[worst].name, rate));
}

void Trainer::validate() {
  const auto timer = context_.timing.scope("validate");
  const nlohmann::json where = {{"step", progress_.step}};
  mllog_.start("eval_start", where);
  std::vector<TermSum> sums;
  with_trained([&](FlatBuffer& weights) { sums = validation_->evaluate(*network_, weights.views(), context_.comm); });
  std::vector<double> values;
  for (std::size_t k = 0; k < metrics_.size(); ++k) values.push_back(reported(metrics_[k], sums[k]));
  validation_table_->append(progress_.step, values);
  const double measure = measure_of(values);
  const bool better = measure < progress_.best_metric;
  std::string line = fmt::format("validation at step {}:", progress_.step);
  for (std::size_t k = 0; k < metrics_.size(); ++k)
    line += fmt::format("{} {} {:.5g}{}{}", k ? "," : "", metrics_[k].name, values[k],
                        metrics_[k].unit.empty() ? "" : " ", metrics_[k].unit);
  context_.log.info(line + (better ? " (best)" : ""));
  mllog_.event("eval_error", values.front(), where);
  mllog_.stop("eval_stop", where);
  ++progress_.without_improvement;
  if (better) keep_best(measure, values);
  if (watch_.after_validation && !watch_.after_validation(progress_.step, steps_, progress_.best_metric)) ended_ = true;
}

void Trainer::keep_best(double measure, const std::vector<double>& values) {
  progress_.without_improvement = 0;
  progress_.best_metric = measure;
  progress_.best_step = progress_.step;
  last_metrics_ = values;
  keep_best();
  if (params_.validate.keep_best)
    with_best([&](FlatBuffer& weights) { write_model("best.h5", weights, progress_.best_step); });
}

double Trainer::measure_of(const std::vector<double>& errors) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < params_.validate.measure.size(); ++k)
    if (params_.validate.measure[k] != 0.0) sum += params_.validate.measure[k] * errors[k];
  return sum;
}

bool Trainer::out_of_patience() const {
  return validation_ && params_.validate.patience > 0 && progress_.without_improvement >= params_.validate.patience;
}

double Trainer::rate_at(std::int64_t step) const {
  return params_.warm_up ? params_.warm_up->at(*rate_, step, steps_) : rate_->at(step, steps_);
}

void Trainer::write_checkpoint() {
  const auto timer = context_.timing.scope("output");
  io::on_root(context_.comm, [&] {
    if (context_.stop) context_.stop->require_directory(true);
  });
  const auto path = (std::filesystem::path(context_.run_directory) / checkpoint_name(progress_.step)).string();
  std::vector<Counted> counted;
  if (sharded_) fill_whole(progress_, counted);
  if (direct_) fill_direct();
  std::vector<const io::TableFile*> tables{training_table_.get()};
  if (validation_table_) tables.push_back(validation_table_.get());
  write_train_checkpoint(path, progress_, checkpoint_key(), network_->state(), context_, tables);
  if (sharded_) progress_.weights = {}, progress_.best = {}, progress_.states.clear(), progress_.grids.clear();
  if (direct_) drop_copies();
  if (context_.comm.root()) prune_checkpoints(context_.run_directory, params_.checkpoint.keep);
}

}  // namespace cambium::train
