#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/deck/resolve.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/run/trainer.hpp"

namespace cambium::train {

void Trainer::print_header() const {
  std::string names = fmt::format("{:>9}{:>10}{:>12}{:>13}", "step", "epoch", "rate", "loss"),
              units = std::string(44, ' ');
  for (const auto& term : terms_) {
    names += fmt::format("{:>15}", term.name);
    units += fmt::format("{:>15}", term.unit);
  }
  if (params_.direct) names += fmt::format("{:>13}", "flips");
  context_.log.info(names);
  if (units.find_first_not_of(' ') != std::string::npos) context_.log.info(units);
}

/// Means since the last row, on the screen and in the table.
void Trainer::print_row() {
  const auto timer = context_.timing.scope("output");
  const double epoch = static_cast<double>(progress_.step) / static_cast<double>(plan().steps_per_epoch());
  std::vector<double> row{
      epoch, rate_at(progress_.step - 1),
      progress_.loss_window / static_cast<double>(std::max<std::int64_t>(1, progress_.window_steps))};
  std::string line = fmt::format("{:>9}{:>10.4g}{:>12.3e}{:>13.5e}", progress_.step, row[0], row[1], row[2]);
  for (std::size_t k = 0; k < terms_.size(); ++k) {
    row.push_back(reported(terms_[k], progress_.window[k]));
    line += fmt::format("{:>15.5g}", row.back());
  }
  if (params_.direct) {
    row.push_back(share_changed(flips_window_) /
                  static_cast<double>(std::max<std::int64_t>(1, progress_.window_steps)));
    line += fmt::format("{:>13.3e}", row.back());
    flips_window_ = 0.0;
  }
  context_.log.info(line);
  training_table_->append(progress_.step, row);
  progress_.window.assign(terms_.size(), {});
  progress_.loss_window = 0.0;
  progress_.window_steps = 0;
}

void Trainer::write_model(const std::string& name, const FlatBuffer& weights, std::int64_t step) {
  if (ranges_.empty() && context_.comm.root()) ranges_ = field_ranges(*training_, 256);
  ArtifactInfo info;
  info.type = params_.model.type;
  const auto* entry = context_.registry->find(Network::kind, params_.model.type);
  info.config = deck::resolved(params_.model.node, entry->schema, *context_.registry);
  info.state = network_->state();
  info.fields = ranges_;
  const auto keys_of = [&](const deck::Choice<Dataset>& data) {
    return deck::resolved(data.node, context_.registry->find(Dataset::kind, data.type)->schema, *context_.registry);
  };
  info.training = keys_of(params_.dataset);
  if (params_.validation && (params_.validate.keep_best || params_.validate.patience > 0))
    info.chosen_by = keys_of(*params_.validation);
  info.card = {{"step", "", static_cast<double>(step)},
               {"training_samples", "", static_cast<double>(training_->size())},
               {"validation_samples", "", validation_ ? static_cast<double>(held_out_->size()) : 0.0}};
  for (std::size_t k = 0; k < last_metrics_.size(); ++k)
    info.card.push_back({"validation_" + metrics_[k].name, metrics_[k].unit, last_metrics_[k]});
  write_artifact((std::filesystem::path(context_.run_directory) / name).string(), info, weights, context_);
}

/// The final model: the best one where asked for and known, else the last.
std::vector<std::string> Trainer::export_models() {
  const bool best = params_.validate.keep_best && progress_.best_step >= 0;
  std::vector<std::string> files{"model.h5"};
  std::vector<std::string> more;
  const auto write = [&](FlatBuffer& weights) {
    write_model("model.h5", weights, best ? progress_.best_step : progress_.step);
    io::on_root(context_.comm,
                [&] { more = network_->export_model(context_.run_directory, weights.views(), context_); });
  };
  if (best)
    with_best(write);
  else
    with_trained(write);
  std::string joined;
  for (const auto& file : more) joined += file + "\n";
  context_.comm.broadcast(joined);
  for (std::size_t from = 0, to; (to = joined.find('\n', from)) != std::string::npos; from = to + 1)
    files.push_back(joined.substr(from, to - from));
  return files;
}

void Trainer::keep_best_and_rethrow(const NumericalError& error) {
  if (progress_.best_step < 0)
    throw NumericalError(std::string(error.what()) + "; no model was kept", error.elsewhere());
  export_models();
  throw NumericalError(fmt::format("{}; the best model, of step {}, is in {}/model.h5", error.what(),
                                   progress_.best_step, context_.run_directory),
                       error.elsewhere());
}

void Trainer::write_files() {
  files_ = {"training.csv"};
  if (validation_table_) files_.push_back("validation.csv");
  if (progress_.step == steps_ || ended())
    for (const auto& file : export_models()) files_.push_back(file);
  if (params_.validate.keep_best && progress_.best_step >= 0) files_.push_back("best.h5");
}

Task::Work Trainer::work() const {
  Task::Work out{params_.batch, "sample", loop_steps_, seconds_};
  out.items_per_step = true;
  return out;
}

/// What went over the wires, and how much of it was waited for.
void Trainer::add_communication(std::vector<std::string>& lines) {
  const auto add = [&](std::vector<std::string> more) { lines.insert(lines.end(), more.begin(), more.end()); };
  if (sharded_) add(sharded_->memory_report());
  if (direct_) add(direct_->memory_report());
  if (params_.direct)
    lines.push_back(fmt::format("direct weights: {:.3e} of them changed in the last step", share_changed(flips_last_)));
  const auto& rows = communication().traffic().rows();
  if (!rows.empty())
    lines.push_back(fmt::format("{:<18}{:>10}{:>10}{:>12}", "collective", "level", "calls", "MB/rank"));
  for (const auto& row : rows)
    lines.push_back(fmt::format("{:<18}{:>10}{:>10}{:>12.3f}", row.collective, row.level, row.calls,
                                1e-6 * static_cast<double>(row.bytes)));
  if (context_.comm.size() == 1) return;
  const double exposed = context_.comm.sum(communication().exposed_seconds()) / context_.comm.size();
  lines.push_back(fmt::format("exposed communication: {:.3f} s, {:.1f} % of the loop", exposed,
                              100.0 * exposed / std::max(seconds_, 1e-9)));
}

std::vector<std::string> Trainer::lines() {
  std::vector<std::string> out;
  add_communication(out);
  for (const auto& line : loader_->report(context_)) out.push_back(line);
  for (const auto& line : network_->report()) out.push_back(line);
  if (progress_.best_step >= 0)
    out.push_back(params_.validate.measure == std::vector<double>{1.0}
                      ? fmt::format("best validation: {} {:.6g}{}{} at step {}", metrics_[0].name,
                                    progress_.best_metric, metrics_[0].unit.empty() ? "" : " ", metrics_[0].unit,
                                    progress_.best_step)
                      : fmt::format("best validation: weighted sum {:.6g} at step {}", progress_.best_metric,
                                    progress_.best_step));
  return out;
}

std::vector<Citation> Trainer::citations() const {
  std::vector<Citation> out = network_->citations();
  const auto add = [&](std::vector<Citation> more) { out.insert(out.end(), more.begin(), more.end()); };
  add((training_ ? training_ : whole_)->citations());
  if (held_out_) add(held_out_->citations());
  add(optimizer_->citations());
  add(rate_->citations());
  return out;
}

}  // namespace cambium::train
