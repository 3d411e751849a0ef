#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/train/run/trainer.hpp"

namespace cambium::train {

/// The final model: the best one where asked for and known, else the last.
std::vector<std::string> Trainer::write_models() {
  const bool best = params_.validate.keep_best && progress_.best_step >= 0;
  return models_.write_final(best, best ? progress_.best_step : progress_.step);
}

void Trainer::keep_best_and_rethrow(const NumericalError& error) {
  if (progress_.best_step < 0)
    throw NumericalError(std::string(error.what()) + "; no model was kept", error.elsewhere());
  write_models();
  throw NumericalError(fmt::format("{}; the best model, of step {}, is in {}/model.h5", error.what(),
                                   progress_.best_step, context_.run_directory),
                       error.elsewhere());
}

void Trainer::write_files() {
  files_ = log_.files();
  if (progress_.step == data_.steps() || ended())
    for (const auto& file : write_models()) files_.push_back(file);
  if (params_.validate.keep_best && progress_.best_step >= 0) files_.push_back("best.h5");
}

Task::Work Trainer::work() const {
  Task::Work out{data_.batch(), "sample", loop_steps_, seconds_};
  out.items_per_step = true;
  return out;
}

/// What went over the wires, and how much of it was waited for.
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
  if (context_.comm.size() == 1) return;
  const double exposed =
      context_.comm.sum(communication.exposed_seconds() + (step_.tables() ? step_.tables()->exposed_seconds() : 0.0)) /
      context_.comm.size();
  lines.push_back(fmt::format("exposed communication: {:.3f} s, {:.1f} % of the loop", exposed,
                              100.0 * exposed / std::max(seconds_, 1e-9)));
}

/// Of the best validation.
static std::string best_text(const Train::Params& params, const Network& network, const Progress& progress) {
  if (params.validate.measure != std::vector<double>{1.0})
    return fmt::format("best validation: weighted sum {:.6g} at step {}", progress.best_metric, progress.best_step);
  // The first one that the samples have labels of (measure_with_labels).
  std::size_t k = 0;
  while (k + 1 < progress.best_errors.size() && std::isnan(progress.best_errors[k])) ++k;
  const auto metric = network.metrics()[k];
  return fmt::format("best validation: {} {:.6g}{}{} at step {}", metric.name,
                     higher_is_better(network)[k] ? -progress.best_metric : progress.best_metric,
                     metric.unit.empty() ? "" : " ", metric.unit, progress.best_step);
}

std::vector<std::string> Trainer::lines() {
  std::vector<std::string> out;
  add_communication(out);
  for (const auto& line : data_.loader().report(context_)) out.push_back(line);
  for (const auto& line : step_.network().report()) out.push_back(line);
  if (progress_.best_step >= 0) out.push_back(best_text(params_, step_.network(), progress_));
  for (auto& line : milestones_.target_lines(data_)) out.push_back(std::move(line));
  return out;
}

std::vector<Citation> Trainer::citations() const {
  std::vector<Citation> out = step_.citations();
  for (const auto& work : data_.citations()) out.push_back(work);
  return out;
}

}  // namespace cambium::train
