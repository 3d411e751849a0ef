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

void Milestones::judge(double error, std::int64_t step) {
  if (error < least_error_) least_error_ = error, least_error_step_ = step;
  if (params_.validate.target && error <= *params_.validate.target) reached_ = true;
}

void Milestones::run_stop(double epochs) {
  epoch_stop();
  log_.stop("run_stop", {{"status", reached_ ? "success" : "aborted"}, {"epoch_num", epochs}});
  for (const auto& section : context_.timing.sections())  // of rank 0
    log_.event("phase_seconds", section.seconds - before_run_[section.name], {{"phase", section.name}});
}

std::vector<std::string> Milestones::target_lines(const std::string& metric, const TrainingData& data) const {
  if (!params_.validate.target) return {};
  if (reached_)
    return {fmt::format("target: {} of {:g} or less, reached at step {} ({:.4g} epochs)", metric,
                        *params_.validate.target, least_error_step_, data.epochs(least_error_step_))};
  if (least_error_step_ < 0)
    return {fmt::format("target: {} of {:g} or less, not reached: there was no validation", metric,
                        *params_.validate.target)};
  return {fmt::format("target: {} of {:g} or less, not reached: {:.6g} at best, at step {}", metric,
                      *params_.validate.target, least_error_, least_error_step_)};
}

}  // namespace cambium::train
