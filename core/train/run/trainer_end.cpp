#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/train/run/slowest_rank.hpp"
#include "core/train/run/trainer.hpp"

namespace cambium::train {

/// Writes the final model: the best one if requested and available, else the last.
std::vector<std::string> Trainer::write_models() {
  const bool best = params_.validate.keep_best && progress_.best_step >= 0;
  return models_.write_final(best, best ? progress_.best_step : progress_.step);
}

void Trainer::keep_best_and_rethrow(const NumericalError& error) {
  if (progress_.best_step < 0)
    throw NumericalError(std::string(error.what()) + "; no model was stored", error.elsewhere());
  write_models();
  throw NumericalError(fmt::format("{}; the best model, of step {}, is in {}/model.h5", error.what(),
                                   progress_.best_step, context_.run_directory),
                       error.elsewhere());
}

void Trainer::write_files() {
  files_ = log_.files();
  files_.insert(files_.end(), spike_files_.begin(), spike_files_.end());
  finished_ = progress_.step == data_.steps() || ended();
  if (finished_)
    for (const auto& file : write_models()) files_.push_back(file);
  if (params_.validate.keep_best && progress_.best_step >= 0) files_.push_back("best.h5");
}

Task::Work Trainer::work() const {
  Task::Work out{data_.batch(), "sample", loop_steps_, seconds_};
  out.items_per_step = true;
  return out;
}

/// Adds communication volume and exposed time.
void Trainer::add_communication(std::vector<std::string>& lines) {
  for (auto& line : step_.weights().report()) lines.push_back(std::move(line));
  auto& communication = step_.weights().communication();
  auto rows = communication.traffic().rows();
  if (Tables* tables = step_.tables()) {
    for (auto& line : tables->report()) lines.push_back(std::move(line));
    for (const auto& row : tables->traffic().rows()) rows.push_back(row);
  }
  if (!rows.empty())
    lines.push_back(fmt::format("{:<18}{:>10}{:>10}{:>12}", "collective", "level", "calls", "MB/rank"));
  for (const auto& row : rows)
    lines.push_back(fmt::format("{:<18}{:>10}{:>10}{:>12.3f}", row.collective, row.level, row.calls,
                                1e-6 * static_cast<double>(row.bytes)));
}

/// Communication time not hidden by computation, mean over the ranks.
static void add_exposed(double exposed, double loop, std::vector<Result>& out) {
  const double share = 100.0 * exposed / std::max(loop, 1e-9);
  out.push_back({.key = "exposed_communication",
                 .label = "exposed communication",
                 .value = exposed,
                 .unit = "s",
                 .remark = fmt::format("{:.1f} % of the loop", share),
                 .digits = 4});
  out.push_back({.key = "exposed_communication_share",
                 .label = "exposed communication, fraction of the loop",
                 .value = share,
                 .unit = "%",
                 .digits = 0});
}

/// Result of the best validation.
static Result best_of(const Train::Params& params, Network& network, const Progress& progress, double epoch) {
  const auto when = fmt::format("at step {}, epoch {:.4g}", progress.best_step, epoch);
  if (params.validate.measure != std::vector<double>{1.0})
    return {"best_validation_weighted_sum", "best validation: weighted sum", progress.best_metric, "", {}, when};
  // The first metric with labels (measure_with_labels).
  std::size_t k = 0;
  while (k + 1 < progress.best_errors.size() && std::isnan(progress.best_errors[k])) ++k;
  const auto metric = network.metrics()[k];
  const double value = higher_is_better(network)[k] ? -progress.best_metric : progress.best_metric;
  return {key_of("best_validation_" + metric.name), "best validation: " + metric.name, value, metric.unit, {}, when};
}

std::vector<Result> Trainer::results() {
  std::vector<Result> out;
  if (context_.comm.size() > 1) {
    Tables* tables = step_.tables();
    const double own = step_.weights().communication().exposed_seconds() + (tables ? tables->exposed_seconds() : 0.0);
    add_exposed(context_.comm.sum(own) / context_.comm.size(), seconds_, out);
    append(out, slowest_rank(context_, seconds_));
  }
  append(out, data_.loader().results(context_));
  if (progress_.best_step < 0) return out;
  out.push_back(best_of(params_, step_.network(), progress_, data_.epochs(progress_.best_step)));
  out.push_back({.key = "best_step",
                 .label = "step of the best validation",
                 .value = static_cast<double>(progress_.best_step),
                 .digits = 0});
  out.push_back({.key = "best_epoch",
                 .label = "epoch of the best validation",
                 .value = data_.epochs(progress_.best_step),
                 .digits = 4});
  return out;
}

/// Describes the weights in model.h5.
std::string Trainer::kept_weights() const {
  const bool best = params_.validate.keep_best && progress_.best_step >= 0;
  const auto step = best ? progress_.best_step : progress_.step;
  std::string kind = "the weights";
  if (params_.average) kind = "the moving average of the weights (ema)";
  if (step_.optimizer().served_state()) kind = fmt::format("the averaged weights of {}", params_.optimizer.type);
  return fmt::format("model.h5: {} of step {}, epoch {:.4g}: {}", kind, step, data_.epochs(step),
                     best          ? "the best validation"
                     : validation_ ? "the last (validate.keep_best is false)"
                                   : "the last");
}

std::vector<std::string> Trainer::lines() {
  std::vector<std::string> out;
  if (finished_) out.push_back(kept_weights());
  add_communication(out);
  for (const auto& line : step_.network().report()) out.push_back(line);
  for (auto& line : milestones_.target_lines(data_)) out.push_back(std::move(line));
  return out;
}

std::vector<Citation> Trainer::citations() const {
  std::vector<Citation> out = step_.citations();
  for (const auto& work : data_.citations()) out.push_back(work);
  return out;
}

}  // namespace cambium::train
