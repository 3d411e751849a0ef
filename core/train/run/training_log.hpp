#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/table_file.hpp"
#include "core/train/step/progress.hpp"
#include "core/train/step/training_step.hpp"

namespace cambium::train {

/// What a training under way says of itself: rows on the screen and in training.csv, errors in validation.csv.
class TrainingLog {
 public:
  /// Step and context outlive this.
  TrainingLog(TrainingStep& step, Context& context) : step_(step), context_(context) {}

  /// Collective, once the weights are made. `resumed_at`, `checkpoint`: the step at which a run goes on, and the file
  /// that says what the tables held then.
  void open(bool validates, std::optional<std::int64_t> resumed_at = {}, const std::string& checkpoint = {});
  /// Names and units of the columns on the screen.
  void header() const;
  /// Collective: means since the last row, of which a new window begins.
  void row(Progress& progress, double epoch);
  /// Collective: errors of a validation, one per metric.
  void validation(std::int64_t step, const std::vector<double>& errors, bool better);

  std::vector<const io::TableFile*> tables() const;
  std::vector<std::string> files() const;

 private:
  TrainingStep& step_;
  Context& context_;
  std::unique_ptr<io::TableFile> training_, validation_;
};

}  // namespace cambium::train
