#include "core/train/run/milestones.hpp"

#include <fmt/format.h>

#include "core/train/run/training_data.hpp"

namespace cambium::train {

Milestones::Milestones(const Train::Params& params, MlLog& log, Context& context)
    : params_(params), log_(log), context_(context) {}

void Milestones::submission() {
  if (params_.submission) params_.submission->log(log_);
  log_.event("ranks", context_.comm.size());
}

void Milestones::run_start() {
  before_run_.clear();
  for (const auto& section : context_.timing.sections()) before_run_[section.name] = section.seconds;
  log_.start("run_start");
}

void Milestones::epoch_start(std::int64_t number) {
  if (epoch_ >= 0) return;
  epoch_ = number;
  log_.start("epoch_start", {{"epoch_num", epoch_}});
}

void Milestones::epoch_stop() {
  if (epoch_ < 0) return;
  log_.stop("epoch_stop", {{"epoch_num", epoch_}});
  epoch_ = -1;
}

void Milestones::judge(const std::vector<double>& figures, const nlohmann::json& where, std::int64_t step) {
  const double value = figures[quality_.number];
  log_.event(quality_.higher ? "eval_accuracy" : "eval_error", value, where);
  if (best_step_ < 0 || quality_.better(value, best_)) {
    best_ = value;
    best_step_ = step;
  }
  if (params_.validate.target && quality_.reached(value, *params_.validate.target)) reached_ = true;
}

void Milestones::save(Progress& progress) const {
  progress.target_figure = quality_.name;
  progress.target_best = best_;
  progress.target_step = best_step_;
}

void Milestones::restore(const Progress& progress) {
  if (progress.target_figure != quality_.name) return;
  best_ = progress.target_best;
  best_step_ = progress.target_step;
}

void Milestones::run_stop(double epochs) {
  epoch_stop();
  log_.stop("run_stop", {{"status", reached_ ? "success" : "aborted"}, {"epoch_num", epochs}});
  for (const auto& section : context_.timing.sections())  // on rank 0
    log_.event("phase_seconds", section.seconds - before_run_[section.name], {{"phase", section.name}});
}

std::vector<std::string> Milestones::target_lines(const TrainingData& data) const {
  if (!params_.validate.target) return {};
  const std::string target = fmt::format("target: {} of {:g} or {}", quality_.name, *params_.validate.target,
                                         quality_.higher ? "more" : "less");
  if (reached_)
    return {fmt::format("{}, reached at step {} ({:.4g} epochs)", target, best_step_, data.epochs(best_step_))};
  if (best_step_ < 0) return {target + ", not reached: there was no validation"};
  return {fmt::format("{}, not reached: {:.6g} at best, at step {}", target, best_, best_step_)};
}

}  // namespace cambium::train
