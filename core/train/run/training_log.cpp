#include "core/train/run/training_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/train/kinds/term_sums.hpp"

namespace cambium::train {

void TrainingLog::open(bool validates, std::optional<std::int64_t> resumed_at, const std::string& checkpoint) {
  const auto mark = [&](const char* table) {
    return checkpoint.empty() ? std::nullopt : io::table_mark(io::File::open(checkpoint), table);
  };
  std::vector<io::Column> columns{{"epoch", "", "passes over the training set"},
                                  {"learning_rate", "", "of the last step"},
                                  {"loss", "", "weighted loss, mean since the last row"}};
  for (const auto& term : step_.network().terms())
    columns.push_back({term.name, term.unit, "training, mean since the last row"});
  for (auto& column : step_.weights().columns()) columns.push_back(std::move(column));
  training_ = std::make_unique<io::TableFile>(context_, "training", columns, resumed_at, mark("training"));
  if (validates) {
    columns.clear();
    for (const auto& metric : step_.network().metrics())
      columns.push_back({metric.name, metric.unit, "on the validation set"});
    validation_ = std::make_unique<io::TableFile>(context_, "validation", columns, resumed_at, mark("validation"));
  }
}

void TrainingLog::header() const {
  std::string names = fmt::format("{:>9}{:>10}{:>12}{:>13}", "step", "epoch", "rate", "loss"),
              units = std::string(44, ' ');
  for (const auto& term : step_.network().terms()) {
    names += fmt::format("{:>15}", term.name);
    units += fmt::format("{:>15}", term.unit);
  }
  for (const auto& column : step_.weights().columns()) names += fmt::format("{:>13}", column.name);
  context_.log.info(names);
  if (units.find_first_not_of(' ') != std::string::npos) context_.log.info(units);
}

void TrainingLog::row(Progress& progress, double epoch) {
  const auto timer = context_.timing.scope("output");
  const auto steps = std::max<std::int64_t>(1, progress.window_steps);
  std::vector<double> row{epoch, step_.rate(progress.step - 1), progress.loss_window / static_cast<double>(steps)};
  std::string line = fmt::format("{:>9}{:>10.4g}{:>12.3e}{:>13.5e}", progress.step, row[0], row[1], row[2]);
  const auto terms = step_.network().terms();
  for (std::size_t k = 0; k < terms.size(); ++k) {
    row.push_back(reported(terms[k], progress.window[k]));
    line += fmt::format("{:>15.5g}", row.back());
  }
  for (const double figure : step_.weights().figures(steps)) {
    row.push_back(figure);
    line += fmt::format("{:>13.3e}", figure);
  }
  context_.log.info(line);
  training_->append(progress.step, row);
  progress.window.assign(terms.size(), {});
  progress.loss_window = 0.0;
  progress.window_steps = 0;
}

void TrainingLog::validation(std::int64_t step, const std::vector<double>& errors, bool better) {
  validation_->append(step, errors);
  std::string line = fmt::format("validation at step {}:", step);
  const auto metrics = step_.network().metrics();
  for (std::size_t k = 0; k < metrics.size(); ++k)
    line += fmt::format("{} {} {:.5g}{}{}", k ? "," : "", metrics[k].name, errors[k],
                        metrics[k].unit.empty() ? "" : " ", metrics[k].unit);
  context_.log.info(line + (better ? " (best)" : ""));
}

std::vector<std::string> TrainingLog::files() const {
  if (!validation_) return {"training.csv"};
  return {"training.csv", "validation.csv"};
}

std::vector<const io::TableFile*> TrainingLog::tables() const {
  std::vector<const io::TableFile*> out{training_.get()};
  if (validation_) out.push_back(validation_.get());
  return out;
}

}  // namespace cambium::train
