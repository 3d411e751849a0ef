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
    if (HeldOutLoss loss(step_.network()); loss.known()) loss_ = std::move(loss);
  }
  if (loss_)
    curve_ = std::make_unique<io::TableFile>(
        context_, "learning_curve",
        std::vector<io::Column>{{"epoch", "", "passes over the training set"},
                                {"training_loss", "", "weighted loss, mean over the steps since the last row"},
                                {"validation_loss", "", "the same loss on the validation set, at this step"}},
        resumed_at, mark("learning_curve"));
  if (extra_.gradient_norms) open_gradients(resumed_at, mark("gradient_norms"));
  if (extra_.tensorboard) events_.emplace(context_, resumed_at);
}

void TrainingLog::open_gradients(std::optional<std::int64_t> resumed_at, std::optional<io::TableMark> mark) {
  if (!step_.weights().keeps_gradients())
    return context_.log.warn("gradient_norms: the gradients are in the memory of a device; no norms are written");
  norms_.emplace(step_.weights().layout());
  std::vector<io::Column> columns;
  for (const auto& module : norms_->modules())
    columns.push_back({module, "", "norm of the gradient of this step, before bounds"});
  gradients_ = std::make_unique<io::TableFile>(context_, "gradient_norms", columns, resumed_at, mark);
}

void TrainingLog::gradients(std::int64_t step, std::int64_t samples) {
  const auto norms = norms_->of(step_.weights(), samples);
  gradients_->append(step, norms);
  if (!events_) return;
  std::vector<Scalar> scalars;
  for (std::size_t k = 0; k < norms.size(); ++k)
    scalars.emplace_back("gradient_norm/" + norms_->modules()[k], norms[k]);
  events_->add(step, scalars);
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
  if (events_) {
    std::vector<Scalar> scalars{{"learning_rate", row[1]}, {"loss/training", row[2]}};
    for (std::size_t k = 0; k < terms.size(); ++k) scalars.emplace_back("training/" + terms[k].name, row[3 + k]);
    events_->add(progress.step, scalars);
  }
  progress.window.assign(terms.size(), {});
  progress.loss_window = 0.0;
  progress.window_steps = 0;
}

void TrainingLog::validation(Progress& progress, double epoch, const std::vector<double>& errors, const Judged& sums,
                             bool better) {
  const auto step = progress.step;
  validation_->append(step, errors);
  std::string line = fmt::format("validation at step {}:", step);
  std::vector<Scalar> scalars;
  if (curve_) {
    const double training = progress.curve_loss / static_cast<double>(std::max<std::int64_t>(1, progress.curve_steps));
    const double loss = loss_->of(step_.term_weights(step - 1), sums.metrics, sums.terms);
    curve_->append(step, std::vector<double>{epoch, training, loss});
    line += fmt::format(" loss {:.5g} (training {:.5g}),", loss, training);
    scalars.emplace_back("loss/validation", loss);
  }
  progress.curve_loss = 0.0;
  progress.curve_steps = 0;
  const auto metrics = step_.network().metrics();
  for (std::size_t k = 0; k < metrics.size(); ++k)
    line += fmt::format("{} {} {:.5g}{}{}", k ? "," : "", metrics[k].name, errors[k],
                        metrics[k].unit.empty() ? "" : " ", metrics[k].unit);
  for (std::size_t k = 0; k < metrics.size(); ++k) scalars.emplace_back("validation/" + metrics[k].name, errors[k]);
  if (events_) events_->add(step, scalars);
  context_.log.info(line + (better ? " (best)" : ""));
}

std::vector<std::string> TrainingLog::files() const {
  std::vector<std::string> out{"training.csv"};
  if (validation_) out.push_back("validation.csv");
  if (curve_) out.push_back("learning_curve.csv");
  if (gradients_) out.push_back("gradient_norms.csv");
  if (events_) out.push_back(EventFile::name);
  return out;
}

std::vector<const io::TableFile*> TrainingLog::tables() const {
  std::vector<const io::TableFile*> out{training_.get()};
  if (validation_) out.push_back(validation_.get());
  for (const auto& table : {&curve_, &gradients_})
    if (*table) out.push_back(table->get());
  return out;
}

}  // namespace cambium::train
