// What a log says for those who compare trainings by the rules of MLPerf HPC.
#include <fmt/format.h>

#include "core/train/run/trainer.hpp"

namespace cambium::train {

void Trainer::log_submission() {
  if (params_.submission) params_.submission->log(mllog_);
}

/// Before a step: an epoch that begins with it, or goes on after a restart.
void Trainer::log_epoch_start() {
  if (epoch_ >= 0) return;
  epoch_ = data_.plan().epoch_of(progress_.step) + 1;
  mllog_.start("epoch_start", {{"epoch_num", epoch_}});
}

/// After a step that ended an epoch, or when training ends within one.
void Trainer::log_epoch_stop(bool in_any_case) {
  if (epoch_ < 0 || (!in_any_case && progress_.step % data_.plan().steps_per_epoch() != 0)) return;
  mllog_.stop("epoch_stop", {{"epoch_num", epoch_}});
  epoch_ = -1;
}

/// Of a validation: its first error, by which a target is judged.
void Trainer::judge(double error) {
  if (error < least_error_) least_error_ = error, least_error_step_ = progress_.step;
  if (params_.validate.target && error <= *params_.validate.target) reached_ = true;
}

void Trainer::log_run_stop() {
  log_epoch_stop(true);
  mllog_.stop("run_stop", {{"status", reached_ ? "success" : "aborted"}, {"epoch_num", data_.epochs(progress_.step)}});
}

std::vector<std::string> Trainer::target_lines() {
  if (!params_.validate.target) return {};
  const auto metric = step_.network().metrics()[0].name;
  if (reached_)
    return {fmt::format("target: {} of {:g} or less, reached at step {} ({:.4g} epochs)", metric,
                        *params_.validate.target, least_error_step_, data_.epochs(least_error_step_))};
  if (least_error_step_ < 0)
    return {fmt::format("target: {} of {:g} or less, not reached: there was no validation", metric,
                        *params_.validate.target)};
  return {fmt::format("target: {} of {:g} or less, not reached: {:.6g} at best, at step {}", metric,
                      *params_.validate.target, least_error_, least_error_step_)};
}

}  // namespace cambium::train
